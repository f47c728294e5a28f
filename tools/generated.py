"""A generated project that can be built, trained and evaluated in seconds: sentences, graphs, word vectors, an encoder.

Used by the tests, by `tools/random_kills.py` and by `benchmarks/orchestration.py`.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from features.store.store import Store

ADJECTIVES = ("small", "old", "red", "quiet", "happy", "wild")
NOUNS = ("cat", "dog", "girl", "boy", "bird", "horse", "child")
VERBS = ("sleep", "run", "sing", "wait", "jump")
NO_ROLES = "[srl]\nenabled = false"
ENCODER = """\
[[encoders]]
name = "s3bert"
kind = "s3bert"
backbone = "backbone"
facets = ["smatch", "wlk"]
facet_dimensions = 4
layers_tuned = 1
splits = ["train", "train"]
loop = { epochs = 2, checkpoint_every = 2, threads = 1 }
"""
"""An encoder that trains in seconds from the backbone that `write_backbone` writes."""
_PROJECT = """\
name = "{name}"
store = "{store}"
[[corpora]]
dataset = "pairs"
name = "mine"
files = {{ train = "pairs.tsv" }}
neighbours = {neighbours}
[amr]
backend = "penman"
graphs = ["graphs.amr"]
{amr}
[dependencies]
enabled = false
{srl}
[embeddings]
{embeddings}
[label_vectors]
backend = "glove"
file = "vectors.txt"
[ingest]
sentences_per_shard = {sentences_per_shard}
pairs_per_shard = {pairs_per_shard}
[cluster]
workers = {workers}
memory_limit = "4GiB"
{more}
"""


def write_project(
    folder: Path,
    pairs: int,
    *,
    name: str = "generated",
    store: str = "store",
    sentences_per_shard: int = 8,
    pairs_per_shard: int = 8,
    workers: int = 2,
    amr: str = "",
    srl: str = NO_ROLES,
    neighbours: int = 0,
    more: str = "",
) -> None:
    """Write the first pairs of an endless list, their graphs and word vectors, and a project file.

    Args:
        folder: of the project; created when missing.
        pairs: number of pairs.
        name: of the project.
        store: its folder or URL.
        sentences_per_shard: maximum number of sentences in a shard.
        pairs_per_shard: maximum number of pairs in a shard.
        workers: number of workers of the cluster.
        amr: further lines of the section `[amr]` in the project file.
        srl: the section `[srl]` in the project file.
        neighbours: of a sentence, by the backbone that `write_backbone` writes into the folder `backbone`.
        more: further sections of the project file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = list(itertools.product(ADJECTIVES, NOUNS, VERBS))
    lines, graphs = ["sentence_a\tsentence_b"], {}
    for position in range(pairs):
        number, (adjective, noun, verb) = 1 + position // len(words), words[position % len(words)]
        both = [_sentence(number, adjective, noun, v) for v in (verb, VERBS[(VERBS.index(verb) + 1) % len(VERBS)])]
        graphs.update(both)
        lines.append("\t".join(sentence for sentence, _ in both))
    _replace(folder / "pairs.tsv", "\n".join(lines) + "\n")
    _replace(folder / "graphs.amr", "\n".join(f"# ::snt {text}\n{graph}\n" for text, graph in graphs.items()))
    vocabulary = enumerate((*ADJECTIVES, *NOUNS, *VERBS))
    _replace(folder / "vectors.txt", "".join(f"{word} {i % 5 + 1} {i % 3} {-i % 7}\n" for i, word in vocabulary))
    text = _PROJECT.format(
        name=name,
        store=store,
        sentences_per_shard=sentences_per_shard,
        pairs_per_shard=pairs_per_shard,
        workers=workers,
        amr=amr,
        srl=srl,
        neighbours=neighbours,
        embeddings='model = "backbone"\nenabled = true' if neighbours else "enabled = false",
        more=more,
    )
    _replace(folder / "facetflow.toml", text)


def write_backbone(folder: Path, words: Sequence[str] = ()) -> None:
    """Write a BERT encoder of two layers with random weights, in the same files as a real one.

    Args:
        folder: of the encoder; created.
        words: word pieces besides the letters.
    """
    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,'!?-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters), *words]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))  # noqa: S106  # a word piece
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
    )
    (folder / "config.json").write_text(json.dumps(config.to_dict()), encoding="utf-8")
    torch.manual_seed(0)
    save_file(BertModel(config).state_dict(), folder / "model.safetensors")


def commit_rows(store: "Store", number: int = 0, **tables: Sequence[Mapping[str, object]]) -> None:
    """Commit a shard of each of some tables, as an ingest or a stage without any settings would.

    Args:
        store: to write to.
        number: of the shards.
        **tables: name → rows; columns that they lack are empty.
    """
    import polars as pl

    from features.schemas import StageOutput
    from features.stages.registry import TABLES
    from features.stages.stage import Recipe
    from features.store.fingerprints import fingerprint

    recipes = {name: Recipe(name) for name in tables}
    receipts = [
        store.write_shard(
            name,
            f"{name}-{number:05d}",
            fingerprint(recipes[name], [f"{number}"]),
            StageOutput(pl.DataFrame(rows, schema=TABLES[name])),
        )
        for name, rows in tables.items()
    ]
    store.commit(receipts, run_id=f"run-{number}", recipes=recipes)


def write_word_encoder(folder: Path, words: Sequence[str], routes: Mapping[str, Sequence[str]] | None = None) -> Path:
    """Write an encoder that knows only some words, each a dimension; with routes, each route has its own words.

    Args:
        folder: of the encoder; created.
        words: that it knows.
        routes: name → the words that it knows.

    Returns:
        The folder.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, models, pre_tokenizers

    def embedding(seen: Sequence[str]) -> modules.StaticEmbedding:
        tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(("?", *seen))}, unk_token="?"))  # noqa: S106  # a word
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        weights = torch.eye(len(seen) + 1)
        weights[0] *= 0.01  # a text of unknown words must not be a zero vector
        return modules.StaticEmbedding(tokenizer, embedding_weights=weights)

    first: torch.nn.Module = embedding(words)
    if routes:
        first = modules.Router({route: [embedding(seen)] for route, seen in routes.items()})
    SentenceTransformer(modules=[first], device="cpu").save_pretrained(str(folder), create_model_card=False)
    return folder


def _sentence(number: int, adjective: str, noun: str, verb: str) -> tuple[str, str]:
    graph = f"(v / {verb}-01 :ARG0 (n / {noun} :quant {number} :mod (a / {adjective})))"
    return f"{number} {adjective} {noun} can {verb} .", graph


def _replace(path: Path, text: str) -> None:
    """Write a file atomically: a scheduled build may be about to read it."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def pair_id(corpus: str, split: str, kind: str, first: str, second: str, occurrence: int) -> str:
    """Return the id of a pair, one by one and by its definition, to compare with those that are made by the million."""
    parts = "\x1f".join((corpus, split, kind, first, second, str(occurrence)))
    return hashlib.blake2b(parts.encode(), digest_size=10).hexdigest()
