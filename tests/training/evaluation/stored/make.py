"""Make the stored encoders and their data anew: `python tests/training/evaluation/stored/make.py`.

start      a BERT of one layer, 32 dimensions and random weights
s3bert     trained from it for seconds, as are the others
rgcn       its trees are chains, so that no parser is needed
pas        its frames are a verb with what stands before and after it, so that no tagger is needed
aspect     with labels held out
routes     of the kind aspect, with a route for each of two
"""

import json
import shutil
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import numpy as np
import polars as pl

STORED = Path(__file__).parent
TESTS = STORED.parents[1]
DOES = ("sees", "eats", "runs", "sleeps")
LOOP = {"batch_size": 8, "epochs": 2, "learning_rate": 1e-2, "threads": 1, "device": "cpu", "precision": "float32"}


frames_of = run_path(str(TESTS / "encoders" / "pas" / "conftest.py"))["frames_of"]


def tree_of(text):
    """Return a row of the table `dependencies`: each word depends on the one before it."""
    words = text.split()
    starts = [len(" ".join(words[:place])) + bool(place) for place in range(len(words))]
    heads = [max(0, place - 1) for place in range(len(words))]
    return {
        "tokens": words,
        "starts": starts,
        "heads": heads,
        "relations": ["ROOT", *["dep"] * (len(words) - 1)][: len(words)],
    }


def patched():
    """Return a patch that parses and tags without a parser or a tagger."""
    from contextlib import ExitStack

    from training.modules.spans import Spans
    from training.modules.trees import Trees

    stack = ExitStack()
    for of, parse in ((Trees, tree_of), (Spans, frames_of)):
        stack.enter_context(
            patch.object(of, "parse_texts", lambda self, texts, parse=parse: [parse(t) if t else None for t in texts])
        )
    return stack


def make_data():
    from training.data.labelled_pairs import LabelledPairs
    from training.data.labelled_texts import LabelledTexts
    from training.data.measured_pairs import MeasuredPairs

    shared = run_path(str(TESTS / "conftest.py"))
    words, make_pairs = shared["WORDS"], shared["make_pairs"]
    make_texts = run_path(str(TESTS / "encoders" / "aspect" / "conftest.py"))["make_texts"]
    make_judged = run_path(str(TESTS / "encoders" / "conftest.py"))["make_pairs"]
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    made = shared["make_tiny_encoder"](STORED / "made", [*words, "but", "who"], max_position_embeddings=40, **sizes)
    made.rename(STORED / "start")
    shutil.rmtree(STORED / "made")
    data = STORED / "data"
    data.mkdir()
    MeasuredPairs.from_table(make_pairs(200, seed=3), source={}).export(data / "pairs.parquet")
    LabelledTexts.from_table(make_texts(150, seed=3), source={}).export(data / "texts.parquet")
    judged = make_judged(80, seed=3)
    number = pl.col("pair_id").str.split(" ").list.first().cast(pl.Int64)
    judged = judged.with_columns(split=pl.when(number % 8 == 1).then(pl.lit("test")).otherwise("split"))
    random, rows = np.random.default_rng(3), []
    for name, labels in (("tweets", ("1", "0")), ("questions", ("duplicate", "other"))):
        for number in range(90):
            text = list(map(str, random.choice(words, size=5)))
            same = number % 3 > 0
            other = random.permutation(text) if same and number % 5 else random.choice(words, size=5)
            split = ("train", "dev", "test")[number % 9 // 3]
            texts = " ".join(text), " ".join(map(str, other))
            rows.append((f"{name}{number}", name, split, labels[0 if same else 1], *texts))
    columns = ["pair_id", "corpus", "split", "label", "text_a", "text_b"]
    judged = pl.concat([judged.select(columns), pl.DataFrame(rows, schema=columns, orient="row")])
    LabelledPairs.from_table(judged, source={}).export(data / "judged.parquet")
    for name, count in (("sts", 40), ("sick", 30)):
        lines = ["sentence_a\tsentence_b\tscore"]
        for _ in range(count):
            first = [str(word) for word in random.choice(words, size=6)]
            kept = int(random.integers(0, 6))
            second = [*first[:kept], *map(str, random.choice(words, size=6 - kept))]
            lines.append(f"{' '.join(first)}\t{' '.join(second)}\t{kept + float(random.integers(0, 3)) / 2:g}")
        (data / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    for name in ("trec.train", "trec.test", "mr"):
        lines = ["text\tlabel"]
        for number in range(48):
            animal = ("cat", "dog", "horse")[number % (2 if name == "mr" else 3)]
            lines.append(f"the {animal} {random.choice(DOES)} {random.choice(words)}\t{animal}")
        (data / f"{name}.tsv").write_text("\n".join(lines) + "\n")


def make_encoders():
    from features.parsers.settings import SrlSettings
    from training.data.labelled_pairs import LabelledPairs
    from training.data.parses import Frames, Parses
    from training.encoders.aspect import train as aspect
    from training.encoders.aspect.settings import AspectSettings
    from training.encoders.pas import train as pas
    from training.encoders.pas.settings import PasSettings
    from training.encoders.rgcn import train as rgcn
    from training.encoders.rgcn.settings import RgcnSettings
    from training.encoders.s3bert import train as s3bert
    from training.encoders.s3bert.settings import S3bertSettings
    from training.jobs import Source, TrainingJob
    from training.modules.parse import weights_of

    data, runs, start = STORED / "data", STORED / "runs", str(STORED / "start")
    runs.mkdir()
    judged = LabelledPairs.from_file(data / "judged.parquet")
    trees = pl.DataFrame([{"text": text, **tree_of(text)} for text in judged.texts]).sort("text")
    Parses(trees, "spacy/en_core_web_md-3.8.0", 512).export(runs / "parses.parquet")
    frames = pl.DataFrame([{"text": text, **frames_of(text)} for text in judged.texts]).sort("text")
    weights = weights_of(SrlSettings())
    Frames(frames, "srl_bert/embedded", weights, "tagger", "float32", 512).export(runs / "frames.parquet")
    usual = {"backbone": start, "layers_tuned": 1}
    nli, tweets = runs / "nli.parquet", runs / "tweets.parquet"
    judged.select(corpora=("nli",)).export(nli)
    judged.select(corpora=("tweets",)).export(tweets)
    sources = {
        "s3bert": Source(pairs=data / "pairs.parquet"),
        "rgcn": Source(judged=nli, parses=runs / "parses.parquet"),
        "pas": Source(judged=tweets, frames=runs / "frames.parquet"),
        "aspect": Source(texts=data / "texts.parquet"),
        "routes": Source(texts=data / "texts.parquet"),
    }
    loop = {"loop": LOOP | {"epochs": 3}}
    of_aspects = aspect.train, AspectSettings
    jobs = {
        "s3bert": (s3bert.train, S3bertSettings, {"facet_dimensions": 2, "preset": "paper"}),
        "rgcn": (rgcn.train, RgcnSettings, {"width": 8, "bases": 2, "objective": "softmax"}),
        "pas": (pas.train, PasSettings, {"positive_label": "1"}),
        "aspect": (*of_aspects, {"aspects": ["animal"], "held_out_labels": 0.4}),
        "routes": (*of_aspects, {"aspects": ["animal", "place"], "combine": "routes"}),
    }
    for kind, (train, settings, given) in jobs.items():
        folder = runs / kind
        with patched():
            chosen = settings.model_validate(usual | loop | given)
            encoder = train(TrainingJob(source=sources[kind], settings=chosen, output=folder))
        (STORED / kind).mkdir()
        shutil.move(encoder, STORED / kind / "encoder")
        file = STORED / kind / "encoder" / "training.json"
        training = json.loads(file.read_text())
        training["settings"]["backbone"] = "start"
        file.write_text(json.dumps(training))
        (file.parent / "README.md").unlink(missing_ok=True)
    shutil.rmtree(runs)


if __name__ == "__main__":
    for folder in STORED.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)
    make_data()
    make_encoders()
