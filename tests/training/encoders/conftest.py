"""Judged pairs of the words that the tiny encoder knows."""

import numpy as np
import polars as pl
import pytest

from training.data.labelled_pairs import LabelledPairs

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
def judged():
    """120 pairs with one of three labels."""
    return LabelledPairs.from_table(make_pairs(), source={"file": "made up"})
