"""Labelled texts of words that the tiny encoder knows: each animal and each place is a label."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from training.data.labelled_texts import LabelledTexts
from training.encoders.aspect.settings import AspectSettings
from training.encoders.aspect.train import AspectJob
from training.jobs import Source

ANIMALS = ("cat", "dog", "horse")
PLACES = ("park", "house")
SPLITS = ("train", "train", "train", "dev", "test")


def make_texts(count=100, *, seed=0):
    """Return texts that mention an animal and a place, with these two as labels."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(count):
        animal, place = str(random.choice(ANIMALS)), str(random.choice(PLACES))
        words = [animal, place, *random.choice(["the", "a", "red", "small", "two", "in", "runs"], size=4)]
        text = " ".join(random.permutation([*words, *(["man"] * (number % 4))]))
        for aspect, label in (("animal", animal), ("place", place)):
            rows.append((text, "zoo", SPLITS[number % 5], aspect, label))
    schema = ["text", "corpus", "split", "aspect", "label"]
    return pl.DataFrame(rows, schema=schema, orient="row").unique(["text", "aspect"], maintain_order=True)


def texts_of(table):
    return LabelledTexts.from_table(table, source={"file": "made up"})


@pytest.fixture(scope="session")
def zoo():
    """The texts of the tests."""
    return texts_of(make_texts())


@pytest.fixture
def job(zoo, tiny_encoder, tmp_path, quick_loop):
    """Return a function that sets up a training that takes seconds."""
    zoo.export(tmp_path / "texts.parquet")

    def make(source: Path | None = None, run="run", loop=None, **given):
        settings = AspectSettings.model_validate(
            {"backbone": str(tiny_encoder), "aspects": ["animal"], "layers_tuned": 1, "loop": quick_loop | (loop or {})}
            | given
        )
        return AspectJob(
            source=Source(texts=source or tmp_path / "texts.parquet"), settings=settings, output=tmp_path / run
        )

    return make
