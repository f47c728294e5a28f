"""Records of runs."""

import dataclasses
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import StoreDamaged
from features.store.runs import FailedShard, RunRecord, failed_shards, now

FAILED = FailedShard("amr", "sentences-00000", "a-b", "boom")


def test_record_comes_back_as_it_went_in(store):
    record = RunRecord(
        "run-1",
        "build_features",
        now(),
        "partly",
        now(),
        made={"amr": 3},
        rejected={"amr": 1},
        seconds={"amr": 1.5},
        wall={"plan": 0.1},
        outside=0.25,
        failed=(FAILED,),
        release=None,
        message="1 shard failed",
    )
    store.record_run(record)

    assert store.runs() == [record]


def test_record_is_replaced_while_its_run_goes_on(store):
    record = RunRecord("run-1", "build_features", now())
    store.record_run(record)
    store.record_run(dataclasses.replace(record, state="done"))

    assert [record.state for record in store.runs()] == ["done"]


def test_newest_run_comes_first_and_its_failure_counts(store):
    for number, error in ((2, "second"), (1, "first"), (3, "")):
        failed = (dataclasses.replace(FAILED, error=error),) if error else ()
        store.record_run(RunRecord(f"run-{number}", "build", f"2026-01-0{number}T00:00:00+00:00", failed=failed))

    assert [record.run_id for record in store.runs()] == ["run-3", "run-2", "run-1"]
    assert [shard.error for shard in failed_shards(store.runs())] == ["second"]


def test_a_clock_that_went_back_makes_no_new_run_old(store):
    for number, day in ((1, "31"), (2, "01")):
        store.record_run(RunRecord(f"run-{number}", "build", f"2026-01-{day}T00:00:00+00:00", number=number))
    assert [record.run_id for record in store.runs()] == ["run-2", "run-1"]


def test_store_without_runs(store):
    assert store.runs() == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"failed": [{"stage": "amr"}]}'])
def test_damaged_record_is_named(store, content):
    (Path(store.location) / "runs").mkdir()
    (Path(store.location) / "runs" / "run-1.json").write_text(content)

    with refused(StoreDamaged):
        store.runs()


def test_a_record_that_names_a_file_elsewhere_is_removed_itself(store):
    store.record_run(RunRecord("run-1", "build", now()))
    record, precious = Path(store.location) / "runs" / "run-1.json", Path(store.location).parent / "precious.json"
    record.write_text(record.read_text().replace('"run-1"', '"../../precious"'))
    precious.touch()
    for each in store.runs():
        store.remove_run(each.run_id)
    assert precious.exists()
    assert not record.exists()
