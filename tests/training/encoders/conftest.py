"""Judged pairs of words that the tiny encoder knows, and helpers to inspect a finished encoder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load_file

from training.data.labelled_pairs import LabelledPairs

SPLITS = ("train", "train", "train", "dev")
WHO, DOES = ("cat", "dog", "horse", "man"), ("sees", "eats", "runs", "sleeps")


def make_pairs(count=40, *, seed=0):
    """Return premises, each with an entailed, a contradicting and a neutral sentence."""
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
def quick_loop() -> dict[str, Any]:
    """Settings of a loop that takes seconds and repeats itself."""
    return {
        "batch_size": 8,
        "epochs": 2,
        "learning_rate": 1e-3,
        "threads": 1,
        "device": "cpu",
        "precision": "float32",
        "checkpoint_every": 3,
        "log_every": 2,
    }


@pytest.fixture(scope="session")
def judged():
    """120 pairs with one of three labels."""
    return LabelledPairs.from_table(make_pairs(), source={"file": "made up"})


@pytest.fixture(scope="session")
def assert_same_weights() -> Callable[[Path, Path], None]:
    """Return a function that fails if two encoders differ in any weight."""

    def compare(left: Path, right: Path) -> None:
        first, second = (
            {file.relative_to(folder) for file in folder.rglob("*.safetensors")} for folder in (left, right)
        )
        assert first == second
        assert first
        for file in first:
            mine, other = load_file(left / file), load_file(right / file)
            assert mine.keys() == other.keys()
            for name in mine:
                assert torch.equal(mine[name], other[name]), f"{file}: {name}"

    return compare


@pytest.fixture(scope="session")
def told() -> Callable[[Path], Any]:
    """Return a function that reads the training.json of an encoder."""
    return lambda folder: json.loads((folder / "training.json").read_text())
