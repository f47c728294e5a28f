"""An encoder of words with predictable similarities, as a plain folder, as a run, and with routes."""

import json

import pytest


def make_word_encoder(folder, words=("cat", "dog", "park", "house"), routes=None):
    """Write an encoder that knows only some words; with routes, each route has its own words."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, models, pre_tokenizers

    def embedding(seen):
        tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(("?", *seen))}, unk_token="?"))  # noqa: S106  # a word
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        weights = torch.eye(len(seen) + 1)
        weights[0] *= 0.01  # a text of unknown words must not be a zero vector
        return modules.StaticEmbedding(tokenizer, embedding_weights=weights)

    first = embedding(words)
    if routes:
        first = modules.Router({route: [embedding(seen)] for route, seen in routes.items()})
    SentenceTransformer(modules=[first], device="cpu").save_pretrained(str(folder), create_model_card=False)
    return folder


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory):
    return make_word_encoder(tmp_path_factory.mktemp("words") / "encoder")


@pytest.fixture(scope="session")
def routed_encoder(tmp_path_factory):
    routes = {"animal": ("cat", "dog"), "place": ("park", "house")}
    return make_word_encoder(tmp_path_factory.mktemp("routed") / "encoder", routes=routes)


@pytest.fixture
def runs(tmp_path, word_encoder, add_run):
    """Return a folder of runs of four encoders: for one aspect, for two together, with routes, and for none."""
    learnt = {
        "animals": (word_encoder, {"kind": "aspect", "aspects": ["animal"]}),
        "plain": (word_encoder, {"kind": "s3bert"}),
        "together": (word_encoder, {"kind": "aspect", "aspects": ["animal", "place"], "combine": "intersection"}),
    }
    for name, (source, settings) in learnt.items():
        add_run(tmp_path / "runs", name, source, settings)
    return tmp_path / "runs"


@pytest.fixture
def add_run():
    """Return a function that adds the finished run of an encoder."""

    def add(runs, name, source, settings):
        run = runs / name / "00001-abcdef" / "seed-0"
        (run / "encoder").mkdir(parents=True)
        for file in source.iterdir():
            (run / "encoder" / file.name).symlink_to(file)
        (run / "encoder" / "training.json").write_text(json.dumps({"settings": settings}))
        (run / "train.json").write_text("{}")

    return add
