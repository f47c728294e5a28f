"""Judged pairs of the words that the tiny encoder knows, with trees that are drawn and parser that is not needed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from features.errors import ModelError
from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from training.data.labelled_pairs import LabelledPairs
from training.data.parses import Parses
from training.encoders.rgcn.settings import RgcnSettings
from training.encoders.rgcn.train import RgcnJob
from training.jobs import Source

SPLITS = ("train", "train", "train", "dev")
WHO, DOES = ("cat", "dog", "horse", "man"), ("sees", "eats", "runs", "sleeps")


def make_pairs(count=40, *, seed=0):
    """Return premises, each with a sentence that it entails, one that contradicts it and one that is neither."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        who, other = random.choice(WHO, size=2, replace=False)
        does, not_done = random.choice(DOES, size=2, replace=False)
        where = random.choice(["in the park", "in a small house", "in the red house"])
        premise = f"{random.choice(['the', 'two', 'three'])} {who} {does} {where}"
        judged = {
            "entailment": f"a {who} {does}",
            "contradiction": f"no {who} {does} but {not_done}",
            "neutral": f"the {other} {not_done}",
        }
        for label, text in judged.items():
            rows.append((f"{number} {label}", "nli", SPLITS[number % 4], label, premise, text))
    schema = ["pair_id", "corpus", "split", "label", "text_a", "text_b"]
    return pl.DataFrame(rows, schema=schema, orient="row")


@pytest.fixture(scope="session")
def parser():
    """The parser of the trees."""
    try:
        return load(DependencySettings())
    except ModelError:
        pytest.skip("needs en_core_web_md: facetflow models pull en_core_web_md")


@pytest.fixture(scope="session")
def judged():
    """120 pairs with one of three labels."""
    return LabelledPairs.from_table(make_pairs(), source={"file": "made up"})


@pytest.fixture(scope="session")
def parses(judged, parser):
    """Trees of their sentences, but of the first, which counts as rejected."""
    texts = list(judged.texts[1:])
    rows = [
        {"text": text, **{name: tree[name] for name in ("tokens", "starts", "heads", "relations")}}
        for text, tree in zip(texts, parser.parse(texts), strict=True)
    ]
    return Parses(pl.DataFrame(rows).sort("text"), parser.name, parser.max_words)


@pytest.fixture
def job(judged, parses, tiny_encoder, tmp_path):
    """Return a function that makes a training of seconds."""
    judged.export(tmp_path / "judged.parquet")
    parses.export(tmp_path / "parses.parquet")

    def make(run="run", loop=None, ratings=(), source: Source | None = None, **given):
        usual = {
            "batch_size": 8,
            "epochs": 2,
            "learning_rate": 1e-3,
            "threads": 1,
            "device": "cpu",
            "precision": "float32",
            "checkpoint_every": 3,
            "log_every": 2,
        }
        settings = RgcnSettings.model_validate(
            {"backbone": str(tiny_encoder), "layers_tuned": 1, "loop": usual | (loop or {})}
            | ({} if given.get("graph") is False else {"width": 16, "bases": 2})
            | given
        )
        files = Source(judged=tmp_path / "judged.parquet", parses=tmp_path / "parses.parquet")
        return RgcnJob(source=source or files, settings=settings, output=Path(tmp_path / run), ratings=ratings)

    return make
