"""Judged pairs, an encoder that knows their words, and its scores."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
import torch

from training.data.labelled_pairs import LabelledPairs
from training.evaluation.models import Models
from training.evaluation.paraphrase.suite import ParaphraseSuite
from training.evaluation.suites import Subject
from training.jobs import EvaluationJob, Source
from training.modules.pair_classifier import PairClassifier

WORDS = ("cat", "dog", "horse", "man", "woman", "child", "park", "house")


def _pairs_of(corpus="tweets", counts=(("train", 12), ("dev", 12), ("test", 24)), labels=("1", "0"), first=0):
    """Return judged pairs: a paraphrase has the words of its first sentence, <b> included, in another order."""
    rows = []
    for split, count in counts:
        for number in range(count):
            one, two = WORDS[number % 8], WORDS[(number * 3 + first) % 8]
            same = number % 3 > 0
            other = f"{two} sees the <b>{one}" if same else f"no {WORDS[(number + 4) % 8]} runs {number}"
            row = (
                f"{corpus}{split}{number}",
                corpus,
                split,
                labels[0 if same else 1],
                f"the <b>{one} sees {two}",
                other,
            )
            rows.append(row)
    return rows


def _exported(path, *rows):
    columns = ["pair_id", "corpus", "split", "label", "text_a", "text_b"]
    table = pl.DataFrame([row for some in rows for row in some], schema=columns, orient="row")
    LabelledPairs.from_table(table, source={}).export(path)
    return Source(judged=path)


def _alike(texts, _task=None):
    """Embed a text by its words: texts with the same words have the same embedding."""
    return np.array([[float(word in text) + 0.01 for word in WORDS] for text in texts], np.float32)


def _classifier(parts=("|u-v|",), labels=("0", "1"), weight=-1.0, bias=2.0):
    """Return a classifier that by default is the surer of a paraphrase, the closer the embeddings are."""
    made = PairClassifier(len(WORDS), labels, parts)
    with torch.no_grad():
        made.linear.weight.zero_()
        made.linear.weight[labels.index("1"), : len(WORDS)] = weight
        made.linear.bias.copy_(torch.tensor([bias if label == "1" else 0.0 for label in labels]))
    return made


def _write_training(folder, **settings):
    training = {
        "settings": {"kind": "hyperbolic", "splits": ["train", "dev"], **settings},
        "corpora": {"tweets": {"train": 12, "dev": 12}},
        "best_step": 1,
    }
    (folder / "encoder" / "training.json").write_text(json.dumps(training))


def _scored(job, models=None, **changes):
    changed = EvaluationJob.model_validate(dict(job) | changes)
    suite = ParaphraseSuite.of(Subject(changed))
    return suite.score(models or Models(_alike, _alike))


def _by_name(result):
    return {each["name"]: each for each in result["rows"]}


@pytest.fixture(scope="session")
def pairs_of():
    """Return the function that makes judged pairs."""
    return _pairs_of


@pytest.fixture(scope="session")
def exported():
    """Return the function that writes judged pairs as a source."""
    return _exported


@pytest.fixture(scope="session")
def alike():
    """Return the function that embeds texts by their words."""
    return _alike


@pytest.fixture(scope="session")
def classifier():
    """Return the function that makes a classifier."""
    return _classifier


@pytest.fixture(scope="session")
def write_training():
    """Return the function that writes training.json."""
    return _write_training


@pytest.fixture(scope="session")
def scored():
    """Return the function that scores a job."""
    return _scored


@pytest.fixture(scope="session")
def by_name():
    """Return the function that finds sets by name."""
    return _by_name


@pytest.fixture
def job(tmp_path, tiny_encoder):
    """Return a job about an encoder without a classifier, of a kind of the future."""
    folder = tmp_path / "run"
    shutil.copytree(tiny_encoder, folder / "encoder")
    _write_training(folder)
    source = _exported(folder / "judged.parquet", _pairs_of(), _pairs_of("questions", labels=("duplicate", "other")))
    return EvaluationJob(
        source=source, encoder=folder / "encoder", output=folder, split="test", resamples=100, project="zoo"
    )


@pytest.fixture
def files(tmp_path):
    """Write the pairs of an evaluation set, as one file and as train, dev and test."""
    for split, count in (("train", 12), ("dev", 12), ("test", 24)):
        rows = _pairs_of("paws_qqp", ((split, count),))
        lines = "".join(f"{n}\t{row[4]}\t{row[5]}\t{row[3]}\n" for n, row in enumerate(rows))
        (tmp_path / f"{split}.tsv").write_text(f"id\tsentence1\tsentence2\tlabel\n{lines}")
    return tmp_path
