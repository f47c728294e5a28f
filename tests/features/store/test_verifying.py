"""Files that are lost, cut or changed behind the log's back are found, named, and rebuilt."""

import os
import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import OtherProjectsStore, ReleaseCountWrong, StoreDamaged
from features.stages.stage import Recipe
from features.store.plan import plan
from features.store.scope import PlannedStage

STAGES = [PlannedStage("amr", "sentences", ("sentences",), Recipe("amr", {"size": 1}))]


def remove(file):
    file.unlink()


def cut(file):
    os.truncate(file, file.stat().st_size - 7)


def flip(file):
    content = bytearray(file.read_bytes())
    content[random.Random(file.name).randrange(len(content))] ^= 1
    file.write_bytes(content)


def flip_unseen(file):
    status = file.stat()
    flip(file)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


DAMAGES = {remove: "missing", cut: "size", flip: "content"}


@pytest.fixture
def make(store, filled, write, commit):
    """Return a function that ingests three shards and makes their graphs, each with a reject; again if damaged."""

    def build(damaged=()):
        for shard in ("s0", "s1", "s2"):
            commit(write("sentences", shard, [shard], inputs=[shard]))
        for work in plan(store, STAGES, damaged=damaged).todo:
            ids = [f"{work.shard}-{number}" for number in range(4)]
            receipt = store.write_shard("amr", work.shard, work.fingerprint, filled("amr", ids[1:], ids[:1]))
            store.commit([receipt], run_id="build", recipes={"amr": STAGES[0].recipe})
        return store.publish("build", stages=STAGES)

    return build


def committed_file(store, table, draw):
    return Path(store.location) / "tables" / table / draw.choice(store._table(table).files()).path


@pytest.mark.parametrize("table", ["sentences", "amr", "rejects"])
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_named_made_again_and_all_is_as_before(store, make, table, damage):
    make()
    rows = {name: store.read(name, with_shard=True) for name in ("sentences", "amr", "rejects")}
    versions = store.versions()
    file = committed_file(store, table, random.Random(damage.__name__))
    damage(file)

    found = store.verify()
    (damaged,) = found.damaged
    assert (Path(store.location) / damaged.file, damaged.problem, damaged.releases) == (file, DAMAGES[damage], (1,))
    assert damaged.table == table
    assert store.damaged() == [replace(damaged, releases=())]
    with refused(StoreDamaged):
        store.verify_files(store.release(1).versions)

    assert make(store.damaged()).number == 1
    assert store.verify(deep=True).damaged == ()
    assert all(store.read(name, with_shard=True).equals(before) for name, before in rows.items())
    assert store.versions() == versions, "the same bytes heal the file in its place, for old versions too"


def test_a_file_that_cannot_be_read_is_named_and_made_again(store, make):
    make()
    file = committed_file(store, "amr", random.Random(0))
    file.unlink()
    file.symlink_to(file.name)  # which leads nowhere, whoever reads it

    (damaged,) = store.damaged()
    assert (Path(store.location) / damaged.file, damaged.problem) == (file, "unreadable")
    make([damaged])
    assert store.verify(deep=True).damaged == ()


def test_a_plan_says_that_a_file_is_damaged(store, make):
    make()
    for file in store._table("amr").files()[:2]:
        (Path(store.location) / "tables" / "amr" / file.path).unlink()

    planned = plan(store, STAGES, damaged=store.damaged())

    assert [(work.shard, work.reason.kind) for work in planned.todo] == [("s0", "damaged"), ("s1", "damaged")]
    (line,) = planned.explain()
    assert line.startswith("amr: 3 shards, 2 to do: 2 because a file is damaged ('tables/amr/shard=s0/")
    assert line.endswith("is missing, and 1 like it)")


def test_a_byte_that_a_disk_forgets_is_found_by_reading_all(store, make):
    make()
    file = committed_file(store, "amr", random.Random(0))
    flip_unseen(file)

    assert store.verify().damaged == ()
    (damaged,) = store.verify(deep=True).damaged
    assert Path(store.location) / damaged.file == file
    assert not store.is_whole("amr", damaged.shard)
    assert [shard for shard in ("s0", "s1", "s2") if store.is_whole("amr", shard)] == sorted(
        {"s0", "s1", "s2"} - {damaged.shard}
    )


def test_a_copied_store_is_whole_though_its_times_are_new(store, make):
    make()
    for file in Path(store.location).rglob("*.parquet"):
        os.utime(file)

    assert store.verify().damaged == ()


def test_a_file_that_only_an_old_release_needs_is_named_with_it(store, make, filled):
    make()
    old = committed_file(store, "amr", random.Random(0))
    stages = [PlannedStage("amr", "sentences", ("sentences",), Recipe("amr", {"size": 2}))]
    for work in plan(store, stages).todo:
        receipt = store.write_shard("amr", work.shard, work.fingerprint, filled("amr", [f"{work.shard}-new"]))
        store.commit([receipt], run_id="second", recipes={"amr": stages[0].recipe})
    assert store.publish("second", stages=stages).number == 2
    old.unlink()

    (damaged,) = store.verify().damaged

    assert (damaged.current, damaged.releases) == (False, (1,))
    assert store.damaged() == []
    store.verify_files(store.release(2).versions)
    store.collect_garbage(timedelta(0))
    assert store.read("amr", store.release(2).versions["amr"]).height == 3


def test_a_damaged_store_is_not_published(store, make):
    make()
    remove(committed_file(store, "sentences", random.Random(0)))
    (Path(store.location) / "releases" / "00001.json").unlink()

    with refused(StoreDamaged):
        store.publish("again", stages=STAGES)


# -- logs ------------------------------------------------------------------------------------------------------------


def empty_last_log_entry(store, table):
    log = Path(store.location) / "tables" / table / "_delta_log"
    max(log.glob("*.json")).write_text("")


@pytest.mark.parametrize(("table", "says"), [("amr", "9 rows of 'amr'"), ("rejects", "3 rejects of 'amr'")])
def test_a_release_that_lost_rows_with_its_log_is_refused(store, make, table, says):
    make()
    empty_last_log_entry(store, table)

    for attempt in (store.release, lambda: store.release(1), lambda: store.collect_garbage(timedelta(0))):
        with refused(ReleaseCountWrong):
            attempt()
    (sentence,) = store.verify().broken
    assert says in sentence


def test_what_a_log_lost_is_made_again_and_published_anew(store, make):
    make()
    rows = store.read("amr")
    empty_last_log_entry(store, "amr")

    assert make().number == 2
    assert store.read("amr").equals(rows)
    assert store.release().rows["amr"] == 9


def test_a_log_that_cannot_be_read_is_named_with_its_releases(store, make):
    make()
    log = Path(store.location) / "tables" / "amr" / "_delta_log"
    max(log.glob("*.json")).write_text("{ no log")

    broken = store.verify().broken

    assert any("table 'amr'" in sentence for sentence in broken)
    assert any(sentence.startswith("Release 1 cannot be read: ") for sentence in broken)


# -- whose it is ------------------------------------------------------------------------------------------------------


def test_a_store_is_of_one_project(store, tmp_path):
    mine = type(store).open(tmp_path / "mine", create=True, project="mine")
    mine.check_owner("mine")
    with refused(OtherProjectsStore):
        type(store).open(tmp_path / "mine").check_owner("yours")
    mine.adopt("yours")
    assert type(store).open(tmp_path / "mine").project == "yours"


def test_a_store_of_before_there_were_names_is_nobodys(store):
    assert store.project is None
    store.check_owner("anybody")
    store.adopt("anybody")
    assert type(store).open(store.location).project == "anybody"


def test_a_store_that_is_not_there_reads_as_empty_and_is_not_made(store, tmp_path):
    nothing = type(store).open(tmp_path / "none", or_empty=True)

    assert nothing.read("pairs").is_empty()
    assert (nothing.committed("amr"), nothing.rejected(), nothing.runs(), nothing.releases()) == ({}, {}, [], [])
    assert nothing.damaged(deep=True) == []
    assert not (tmp_path / "none").exists()
