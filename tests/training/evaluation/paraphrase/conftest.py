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


def pairs_of(corpus="tweets", counts=(("train", 12), ("dev", 12), ("test", 24)), labels=("1", "0"), first=0):
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


def exported(path, *rows):
    """Write judged pairs, and return them as a source."""
    columns = ["pair_id", "corpus", "split", "label", "text_a", "text_b"]
    table = pl.DataFrame([row for some in rows for row in some], schema=columns, orient="row")
    LabelledPairs.from_table(table, source={}).export(path)
    return Source(judged=path)


def alike(texts, _task=None):
    """Embed a text by its words: texts with the same words have the same embedding."""
    return np.array([[float(word in text) + 0.01 for word in WORDS] for text in texts], np.float32)


def classifier(parts=("|u-v|",), labels=("0", "1"), weight=-1.0, bias=2.0):
    """Return a classifier that by default is the surer of a paraphrase, the closer the embeddings are."""
    made = PairClassifier(len(WORDS), labels, parts)
    with torch.no_grad():
        made.linear.weight.zero_()
        made.linear.weight[labels.index("1"), : len(WORDS)] = weight
        made.linear.bias.copy_(torch.tensor([bias if label == "1" else 0.0 for label in labels]))
    return made


def write_training(folder, **settings):
    """Write what the training of an encoder recorded."""
    training = {
        "settings": {"kind": "hyperbolic", "splits": ["train", "dev"], **settings},
        "corpora": {"tweets": {"train": 12, "dev": 12}},
        "best_step": 1,
    }
    (folder / "encoder" / "training.json").write_text(json.dumps(training))


def scored(job, models=None, **changes):
    """Return the scores of a job with some changes."""
    changed = EvaluationJob.model_validate(dict(job) | changes)
    suite = ParaphraseSuite.of(Subject(changed))
    return suite.score(models or Models(alike, alike))


def by_name(result):
    """Return the scores of each set by its name."""
    return {each["name"]: each for each in result["rows"]}


@pytest.fixture
def job(tmp_path, tiny_encoder):
    """Return a job about an encoder without a classifier, of a kind of the future."""
    folder = tmp_path / "run"
    shutil.copytree(tiny_encoder, folder / "encoder")
    write_training(folder)
    source = exported(folder / "judged.parquet", pairs_of(), pairs_of("questions", labels=("duplicate", "other")))
    return EvaluationJob(
        source=source, encoder=folder / "encoder", output=folder, split="test", resamples=100, project="zoo"
    )


@pytest.fixture
def files(tmp_path):
    """Write the pairs of an evaluation set, as one file and as train, dev and test."""
    for split, count in (("train", 9), ("dev", 12), ("test", 24)):
        rows = pairs_of("paws_qqp", ((split, count),))
        lines = "".join(f"{n}\t{row[4]}\t{row[5]}\t{row[3]}\n" for n, row in enumerate(rows))
        (tmp_path / f"{split}.tsv").write_text(f"id\tsentence1\tsentence2\tlabel\n{lines}")
    return tmp_path
