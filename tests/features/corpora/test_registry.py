"""The whole registry: records are complete and frozen."""

import re

import pytest
from pydantic import ValidationError
from sentences import refused

from features.core.faults import UnknownKey
from features.corpora.dataset import DATASETS, Dataset
from features.corpora.reading import PairRow, read_outcomes
from features.corpora.settings import CorpusSettings


@pytest.mark.parametrize("name", DATASETS)
def test_a_record_is_complete(name):
    record = DATASETS[name]

    assert record.name == name
    assert re.fullmatch("[a-z][a-z0-9_]*", name)
    assert record.about.endswith(".")
    assert record.splits
    assert record.licence
    assert record.source.startswith("https://") or record.kind == "own"
    assert record.paper
    if record.score_range:
        assert record.score_range[0] < record.score_range[1]
    assert set(record.label_scores) <= set(record.labels)
    assert not set(record.no_gold) & set(record.labels)
    assert set(record.split_names.values()) >= set(record.splits)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in record.sha256.values())


def test_an_unknown_key_in_a_record_is_an_error():
    facts = DATASETS["sick"].model_dump()
    with refused(UnknownKey):
        Dataset.model_validate({**facts, "licence_url": "https://example.org"})
    assert Dataset.model_validate(facts) == DATASETS["sick"]


def test_records_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        DATASETS["sick"].licence = "mine"


def test_the_example_comes_with_the_package(tmp_path):
    rows = list(read_outcomes(CorpusSettings(dataset="example"), tmp_path))

    assert all(isinstance(row, PairRow) for row in rows)
    record = DATASETS["example"]
    assert {row.split for row in rows} == set(record.splits)
    assert {row.label for row in rows if isinstance(row, PairRow)} == set(record.labels)
