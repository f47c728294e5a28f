"""What a worker may write as a shard: rows of the table, each once, and all that went in; none is in a table yet."""

import pickle
from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.faults import RowsWrong
from features.schemas import StageOutput
from features.stages.registry import TABLES
from features.store.fingerprints import fingerprint


@pytest.mark.parametrize(
    "rows",
    [
        pl.DataFrame({"sentence_id": ["a"]}),
        pl.DataFrame({"sentence_id": ["a"], "txt": ["t"]}),
        pl.DataFrame({"sentence_id": ["a"], "text": [1]}),
        pl.DataFrame({"text": ["t"], "sentence_id": ["a"]}),
        pl.DataFrame({"sentence_id": ["a", "a"], "text": ["t", "u"]}),
        pl.DataFrame({"sentence_id": ["a", None], "text": ["t", "u"]}),
    ],
)
def test_wrong_rows_are_refused_by_name(store, recipes, rows):
    with refused(RowsWrong):
        store.write_shard("sentences", "s0", fingerprint(recipes["sentences"], []), StageOutput(rows))
    assert not list(Path(store.location).rglob("*.parquet"))


def test_wrong_rejects_are_refused_by_name(store, recipes, filled):
    output = StageOutput(filled("sentences", ["a"]).rows, pl.DataFrame({"entity_id": ["b"]}))

    with refused(RowsWrong):
        store.write_shard("sentences", "s0", fingerprint(recipes["sentences"], []), output)


def test_entity_that_is_made_and_rejected_is_refused(write):
    with refused(RowsWrong):
        write("amr", "s0", ["a", "b"], ["c", "b"])


def test_word_may_be_called_like_a_rejected_sentence(write):
    receipt = write("label_vectors", "s0", ["a"], ["a"])

    assert (receipt.rows, receipt.rejects) == (1, 1)


@pytest.mark.parametrize(("expected", "fine"), [(2, False), (3, True), (4, False), (None, True)])
def test_every_row_that_goes_in_comes_out(store, recipes, filled, expected, fine):
    output = filled("amr", ["a", "b"], ["c"])

    if fine:
        assert store.write_shard("amr", "s0", fingerprint(recipes["amr"], []), output, expected=expected).rejects == 1
    else:
        with refused(RowsWrong):
            store.write_shard("amr", "s0", fingerprint(recipes["amr"], []), output, expected=expected)


def test_same_content_is_the_same_file(store, write):
    first = write("amr", "s0", ["a"])
    second = write("amr", "s0", ["a"])

    assert first == second
    assert len(list(Path(store.location).rglob("*.parquet"))) == 1


def test_written_shard_is_in_no_table_until_it_is_committed(store, recipes, filled):
    receipt = store.write_shard(
        "sentences", "s0", fingerprint(recipes["sentences"], []), filled("sentences", ["a"], ["b"]), seconds=2
    )

    assert store.read("sentences").is_empty()
    assert store.rejected() == {}
    assert pickle.loads(pickle.dumps(receipt)) == receipt
    assert (receipt.seconds, receipt.rows, receipt.rejects) == (2, 1, 1)


def test_no_worker_commits(store, write):
    before = {file: file.read_bytes() for file in Path(store.location).rglob("_delta_log/*")}
    for table in TABLES.keys() - {"rejects"}:
        write(table, "s0", ["a"], ["b"])

    assert {file: file.read_bytes() for file in Path(store.location).rglob("_delta_log/*")} == before
