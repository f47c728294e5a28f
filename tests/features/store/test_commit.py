"""Receipts are committed once and whole, or refused."""

import dataclasses
import errno
import os
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable
from sentences import refused

from features.core import durable
from features.core.errors import StoreError
from features.core.faults import CommitRefused, StoreUnreachable, WrittenByAnother
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store


def mark(recipes, table, *inputs):
    return fingerprint(recipes[table], inputs)


def ids(store, table="sentences"):
    return store.read(table)[:, 0].to_list()


# -- committing ------------------------------------------------------------------------------------------------------


def test_commit_replaces_the_shards_of_its_receipts_only(store, write, commit):
    def receipt(shard, *rows):
        return write("sentences", shard, [*rows], inputs=rows)

    commit(receipt("s0", "a"), receipt("s1", "b"), receipt("s2", "c"))
    versions = commit(receipt("s0", "d", "e"), receipt("s2"))

    assert ids(store) == ["d", "e", "b"]
    assert versions == {"rejects": 0, "sentences": 2}


def test_commit_of_several_tables(store, recipes, write):
    receipts = [write(table, "s0", ["a"], ["b"]) for table in ("amr", "metrics")]

    assert store.commit(iter(receipts), run_id="1", recipes=recipes) == {"rejects": 1, "amr": 1, "metrics": 1}
    assert store.rejected().keys() == {("amr", "s0"), ("metrics", "s0")}


def test_repeated_receipt_changes_nothing(store, write, commit):
    receipt = write("amr", "s0", ["a"], ["b"])

    first = commit(receipt)
    assert commit(receipt, receipt, run_id="later") == first
    assert store.versions()["amr"] == 1
    assert ids(store, "amr") == ["a"]
    assert store.read("rejects").height == 1


def test_commit_and_withdrawal_of_nothing(store, commit):
    assert commit() == {}
    assert store.withdraw([], run_id="1") == {}


def test_old_receipt_wins_when_it_is_committed_last(store, write, commit):
    old = write("amr", "s0", ["a"], inputs=["1"])
    new = write("amr", "s0", ["b"], inputs=["2"])

    for receipt in (old, new, old):
        commit(receipt)
    assert ids(store, "amr") == ["a"]


def test_rejects_go_when_their_shard_is_made_without_them(store, write, commit):
    for rejected in (["b", "c"], ["c"], []):
        commit(write("amr", "s0", ["a"], rejected, inputs=rejected))

        assert store.read("rejects", columns=["entity_id", "stage"]).rows() == [(entity, "amr") for entity in rejected]


def test_rejects_of_one_stage_leave_those_of_another(store, write, commit):
    for table in ("amr", "embeddings"):
        commit(write(table, "s0", [], [table]))

    assert store.read("rejects", with_shard=True).select("entity_id", "stage", "shard").rows() == [
        ("amr", "amr", "s0"),
        ("embeddings", "embeddings", "s0"),
    ]


def test_rejects_of_one_stage_leave_the_rows_of_another(store, write, commit):
    first, second = (write("amr", s, [s]) for s in ("s0", "s1"))
    other = write("embeddings", "s0", [], ["s0"])
    commit(first)
    commit(second, other)

    assert ids(store, "amr") == ["s0", "s1"]


def test_rejects_of_ingest_are_replaced_as_a_whole(store, recipes, filled, commit):
    for rejected in (["f:1", "f:2"], ["f:2"], []):
        rejects = filled("amr", [], rejected).rejects
        receipt = store.write_rejects("ingest", "corpora", mark(recipes, "ingest", *rejected), rejects)
        commit(receipt)

        assert store.read("rejects")["entity_id"].to_list() == rejected


def test_commit_says_where_a_shard_comes_from(store, recipes, write, commit):
    first = write("amr", "s0", ["a"])
    commit(first, run_id="first")
    second = write("metrics", "p0", ["a"])
    commit(second, run_id="second")

    amr = store.provenance("amr")["s0", first.fingerprint]
    metrics = store.provenance("metrics")["p0", second.fingerprint]
    assert (amr.run_id, amr.version, amr.recipe) == ("first", 1, recipes["amr"])
    assert (metrics.run_id, metrics.versions["amr"], metrics.versions["metrics"]) == ("second", 1, 0)


def test_shards_committed_together_know_of_each_other(store, recipes, write, commit):
    commit(*(write(table, "s0", ["a"]) for table in ("metrics", "amr")))

    assert store.provenance("metrics")["s0", mark(recipes, "metrics")].versions["amr"] == 1


def test_history_is_kept_for_years(store, recipes, write, commit):
    for number in range(45):
        commit(write("amr", "s0", [str(number)], inputs=[str(number)]))
        if number == 15:
            # Delta cleans its log up at checkpoints, by the age of the files, after 30 days by default.
            long_ago = time.time() - 3 * 365 * 86400
            for file in (Path(store.location) / "tables" / "amr" / "_delta_log").iterdir():
                os.utime(file, (long_ago, long_ago))

    assert list(Path(store.location).rglob("*.checkpoint.parquet"))
    assert store.read("amr", 3)["sentence_id"].to_list() == ["2"]
    assert store.provenance("amr")["s0", mark(recipes, "amr", "0")].version == 1


# -- what is refused -------------------------------------------------------------------------------------------------


def test_receipt_whose_file_is_gone_is_refused(store, write, commit):
    receipt = write("amr", "s0", ["a"], ["b"])
    (Path(store.location) / "tables" / "rejects" / receipt.reject_data.path).unlink()

    with refused(CommitRefused):
        commit(receipt)
    assert set(store.versions().values()) == {0}


@pytest.mark.parametrize("content", [b"x", None])
def test_receipt_whose_file_changed_is_refused(store, write, commit, content):
    receipt = write("amr", "s0", ["a"])
    file = Path(store.location) / "tables" / "amr" / receipt.data.path
    file.write_bytes(content or file.read_bytes()[:-1] + b"?")

    with refused(CommitRefused):
        commit(receipt)


def test_receipt_of_another_recipe_is_refused(store, recipes, write):
    good = write("metrics", "p0", ["a"])
    receipt = write("amr", "s0", ["a"])

    with refused(CommitRefused):
        store.commit([good, receipt], run_id="1", recipes=recipes | {"amr": Recipe("amr", {"size": 2})})


def test_one_bad_receipt_keeps_the_batch_out(store, write, commit):
    good = write("amr", "s0", ["a"])
    bad = dataclasses.replace(good, shard="s1", data=dataclasses.replace(good.data, path="none.parquet"))

    with refused(CommitRefused):
        commit(good, bad)
    assert ids(store, "amr") == []


# -- disks that fail, and others who write -----------------------------------------------------------------------------


def test_full_disk_while_writing(store, write, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with refused(StoreUnreachable):
        write("amr", "s0", ["a"])
    assert not list((Path(store.location) / "tables" / "amr").glob("*tmp*"))


@pytest.mark.parametrize("table", ["rejects", "amr"])
def test_full_disk_while_committing(store, write, commit, monkeypatch, table):
    receipt = write("amr", "s0", ["a"], ["b"])
    real = DeltaTable.create_write_transaction

    def full(self, *arguments, **options):
        if self.table_uri.rstrip("/").endswith(table):
            raise OSError("Generic LocalFileSystem error\n  No space left on device (os error 28)")
        return real(self, *arguments, **options)

    monkeypatch.setattr(DeltaTable, "create_write_transaction", full)
    with refused(StoreUnreachable):
        commit(receipt)
    assert ids(store, "amr") == []

    monkeypatch.undo()
    commit(receipt)
    assert (ids(store, "amr"), store.read("rejects").height) == (["a"], 1)


@pytest.mark.parametrize(("before", "rejected"), [(["c"], ["b"]), (["c"], []), ([], ["b"])])
@pytest.mark.parametrize("transactions", [0, 1, 2])
def test_rows_never_count_as_made_with_the_rejects_of_other_settings(
    store, write, commit, monkeypatch, before, rejected, transactions
):
    old = write("amr", "s0", ["a"], before, inputs=["old"])
    commit(old)
    new = write("amr", "s0", ["a"], rejected, inputs=["new"])
    real, done = DeltaTable.create_write_transaction, []

    def killed(*arguments, **options):
        if len(done) == transactions:
            raise KeyboardInterrupt
        done.append(real(*arguments, **options))

    monkeypatch.setattr(DeltaTable, "create_write_transaction", killed)
    with pytest.raises(KeyboardInterrupt):
        commit(new)
    if made := store.committed("amr"):
        assert made["s0"].path == old.data.path
        assert [file.path for file in store.rejected().values()] == ([old.reject_data.path] if before else [])
    else:
        assert store.marks("amr")["s0"][0] == (2, None)


def test_commit_that_comes_in_between_is_seen(store, recipes, write, commit, monkeypatch):
    mine = write("amr", "s0", ["a"], inputs=["mine"])
    theirs = write("amr", "s0", ["b"], inputs=["theirs"])
    real = DeltaTable.create_write_transaction

    def come_first(self, *arguments, **options):
        monkeypatch.setattr(DeltaTable, "create_write_transaction", real)
        Store.open(store.location).commit([theirs], run_id="theirs", recipes=recipes)
        return self.create_write_transaction(*arguments, **options)

    monkeypatch.setattr(DeltaTable, "create_write_transaction", come_first)
    versions = commit(mine)

    assert versions["amr"] == 2
    assert ids(store, "amr") == ["a"]
    assert store.read("amr", 1)["sentence_id"].to_list() == ["b"]


def test_commits_that_always_come_in_between_are_given_up(store, write, commit, monkeypatch, its_time):
    mine = write("amr", "s0", ["a"], inputs=["mine"])
    real = DeltaTable.create_write_transaction
    numbers = iter(range(1000))

    def come_first(self, *arguments, **options):
        with monkeypatch.context() as inner:
            inner.setattr(DeltaTable, "create_write_transaction", real)
            number = str(next(numbers))
            commit(write("amr", "s1", [number], inputs=[number]))
        return real(self, *arguments, **options)

    its_time("features.store.delta", sleep=lambda _: None)
    monkeypatch.setattr(DeltaTable, "create_write_transaction", come_first)
    with refused(WrittenByAnother):
        commit(mine)


def test_flows_that_commit_at_once_lose_and_double_nothing(store, write, commit):
    errors = []

    def flow(name):
        try:
            for number in range(8):
                shard = f"s{number % 4}"
                commit(write("amr", shard, [f"{shard}-{i}" for i in range(5)], ["x"], inputs=[name, str(number)]))
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=flow, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert ids(store, "amr") == [f"s{number}-{i}" for number in range(4) for i in range(5)]
    assert len(store.rejected()) == 4


def test_log_is_forced_to_disk_before_a_commit_counts(store, write, commit, monkeypatch):
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync", synced.append)
    commit(write("amr", "s0", ["a"]))

    amr, metrics = (Path(store.location) / "tables" / name / "_delta_log" for name in ("amr", "metrics"))
    assert synced[-2:] == [amr / f"{1:020d}.json", amr]
    store._table("metrics").add_columns({"length": pl.Float64})
    assert synced[-2:] == [metrics / f"{1:020d}.json", metrics]


def test_a_checkpoint_of_the_log_is_forced_to_disk(store, write, commit, monkeypatch):
    synced: list[Path] = []
    monkeypatch.setattr(durable, "sync", lambda path: synced.append(path.resolve(strict=True)))
    log = Path(store.location) / "tables" / "amr" / "_delta_log"
    for number in range(20):
        commit(write("amr", f"s{number}", [f"s{number}"]))

    (checkpoint,) = log.glob("*.checkpoint.parquet")
    assert checkpoint in synced  # one that a power cut left empty would make the table unreadable


def test_a_copy_that_lacks_the_last_checkpoint_is_written_to(store, write, commit):
    for shard in ("s0", "s1"):
        commit(write("sentences", shard, [shard]))
        hint = Path(store.location, "tables/sentences/_delta_log/_last_checkpoint")
        hint.write_text('{"version": 20, "size": 1}')
    store._table("sentences").add_columns({"length": pl.Float64})
    assert ids(store) == ["s0", "s1"]
