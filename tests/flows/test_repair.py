"""Whichever file of a store is lost or damaged: a build rebuilds it, or names it if it cannot.

The builds here run in this process, shard after shard; `test_build.py` repairs once with a cluster.
"""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import CannotRebuild
from features.store.plan import plan
from features.store.store import Store
from flows import project as projects
from flows.building.ingest_corpora import ingest_corpora, read_corpora, warnings
from flows.building.ingest_repair import repair_ingested
from flows.building.planning import look_ahead
from flows.stages import chain
from tasks.shard import ShardJob, make_shard

TABLES = ("sentences", "pairs", "amr", "label_vectors", "metrics")
SMALL = {"sentences": 4, "per_shard": 4}


def build(folder: Path, *, deep: bool = False) -> list[tuple[str, str]]:
    """Do what a build does; return the shards that stages made."""
    settings = projects.load(folder / "facetflow.toml")
    store = Store.open(settings.store, create=True, project=settings.name)
    damaged = store.damaged(deep=deep)
    repaired = repair_ingested(settings, store, damaged, "repair")
    number = len(store.runs()) + len(store.provenance("pairs"))
    ingest_corpora(settings, store, f"ingest-{number}")
    stages = chain(settings, store)
    planned = plan(store, stages.stages, damaged=[damage for damage in damaged if damage not in repaired])
    for work in planned.todo:
        upstream: dict[str, list[str]] = {}
        for table, shard in work.upstream:
            upstream.setdefault(table, []).append(shard)
        job = ShardJob(
            Path(store.location),
            work.stage,
            work.shard,
            work.fingerprint,
            {table: store.versions()[table] for table in upstream},
            {table: tuple(shards) for table, shards in upstream.items()},
        )
        receipt = make_shard(job, stages.settings[work.stage])
        assert receipt is not None, f"{work.stage} {work.shard} was thought to be there"
        store.commit([receipt], run_id="build", recipes={stage.name: stage.recipe for stage in stages.stages})
    store.publish("build", stages=stages.stages)
    return [(work.stage, work.shard) for work in planned.todo]


@pytest.fixture(scope="module")
def _made(tmp_path_factory, generated):
    """A project of 10 pairs that has grown to 14."""
    folder = tmp_path_factory.mktemp("made")
    generated(folder).write(10, **SMALL)
    build(folder)
    generated(folder).write(14, **SMALL)
    build(folder)
    return folder


@pytest.fixture
def made(_made, tmp_path, generated):
    """A copy of the grown project."""
    return generated(shutil.copytree(_made, tmp_path / "made"))


def remove(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def lose(
    project, draw: random.Random, count: int, damage: Callable[[Path], None], tables=TABLES
) -> set[tuple[str, str]]:
    """Damage some committed files; return their tables and shards."""
    store = project.store
    files = [(table, file) for table in tables for file in store._table(table).files()]
    chosen = draw.sample(files, count)
    for table, file in chosen:
        damage(Path(store.location) / "tables" / table / file.path)
    return {(table, file.shard) for table, file in chosen}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("damage", [remove, cut, flip])
def test_any_damage_is_named_and_repaired_row_for_row(made, damage, seed):
    tables, versions = made.tables(), made.store.versions()
    lost = lose(made, random.Random(f"{seed}{damage.__name__}"), 3, damage)

    assert {(found.table, found.shard) for found in made.store.verify().damaged} == lost
    made_again = build(made.folder)

    assert set(made_again) == {key for key in lost if key[0] not in {"sentences", "pairs"}}
    assert made.store.verify(deep=True).damaged == ()
    assert all(rows.equals(tables[name]) for name, rows in made.tables().items())
    assert made.store.versions() == versions
    assert [release.number for release in made.store.releases()] == [1, 2]


def test_all_shards_of_ingest_may_be_lost_at_once(made):
    tables = made.tables()
    for table in ("sentences", "pairs"):
        shutil.rmtree(made.folder / "store" / "tables" / table / "shard=pairs-00000", ignore_errors=True)
        for file in (made.folder / "store" / "tables" / table).rglob("*.parquet"):
            file.unlink()

    assert build(made.folder) == []
    assert all(rows.equals(tables[name]) for name, rows in made.tables().items())


@pytest.mark.parametrize("table", ["sentences", "pairs"])
def test_shards_are_made_again_while_new_rows_come(made, table):
    tables = made.tables()
    lost = lose(made, random.Random(table), 2, remove, tables=(table,))
    made.write(20, **SMALL)

    build(made.folder)

    assert made.store.verify(deep=True).damaged == ()
    for name, rows in tables.items():
        known = made.tables()[name]
        assert known.filter(known["shard"].is_in(rows["shard"].unique().implode())).equals(rows), (name, lost)
    assert made.store.release().rows["pairs"] == 40


EVALUATION = '[[evaluation]]\ndataset = "pairs"\nname = "gold"\nfile = "gold.tsv"\n'


def guard_a_sentence(made) -> None:
    """Evaluate on a sentence that was already in the training pairs of the store."""
    pairs = (made.folder / "pairs.tsv").read_text().splitlines()
    (made.folder / "gold.tsv").write_text("\n".join([f"{pairs[0]}\tscore", f"{pairs[1]}\t4"]) + "\n")
    made.write(14, **SMALL, more=EVALUATION)


def test_a_store_keeps_what_it_had_when_its_evaluation_sets_are_guarded(made):
    before = made.tables()
    guard_a_sentence(made)
    settings = projects.load(made.folder / "facetflow.toml")

    assert build(made.folder) == [], "no shard is stale"
    assert all(rows.equals(before[table]) for table, rows in made.tables().items() if table != "rejects")
    report = read_corpora(settings, made.store).report
    (warning,) = warnings(report, drops=True)
    assert warning == (
        "3 training rows that are already in the store have a sentence of an evaluation set: what the store holds "
        "stays, and encoders are trained on it; a new store is free of such rows."
    )
    (counted,) = warnings(report, drops=False)
    assert "have a sentence of an evaluation set, kept as [leakage] says: scores on that set" in counted

    made.write(15, **SMALL, more=EVALUATION)
    pairs = (made.folder / "pairs.tsv").read_text().splitlines()
    (made.folder / "gold.tsv").write_text("\n".join([f"{pairs[0]}\tscore", f"{pairs[-1]}\t4"]) + "\n")
    build(made.folder)
    assert made.tables()["pairs"].equals(before["pairs"]), "what is new and leaks is kept out"
    assert made.store.read("rejects")["code"].to_list() == ["leaked"]


def test_shards_that_came_before_the_guard_are_made_again_under_it(made):
    before = made.tables()
    guard_a_sentence(made)
    lost = lose(made, random.Random(3), 3, remove, tables=("sentences", "pairs"))

    build(made.folder)
    assert {(found.table, found.shard) for found in made.store.damaged(deep=True)} == set(), lost
    assert all(rows.equals(before[table]) for table, rows in made.tables().items() if table != "rejects")


def test_rows_whose_source_is_gone_are_named_and_nothing_is_written(made):
    lose(made, random.Random(1), 1, remove, tables=("pairs",))
    lines = (made.folder / "pairs.tsv").read_text().splitlines()
    (made.folder / "pairs.tsv").write_text("\n".join([lines[0], *reversed(lines[1:])][:6]) + "\n")
    versions = made.store.versions()

    for attempt in (build, lambda folder: look_ahead(projects.load(folder / "facetflow.toml"))):
        with refused(CannotRebuild):
            attempt(made.folder)
    assert made.store.versions() == versions


def test_a_plan_foretells_the_repair_and_repairs_nothing(made):
    lost = lose(made, random.Random(5), 4, remove)

    outlook = look_ahead(projects.load(made.folder / "facetflow.toml"))

    assert {(damage.table, damage.shard) for damage in outlook.damaged} == lost
    assert {(work.stage, work.shard) for work in outlook.plan.todo} == {
        key for key in lost if key[0] not in {"sentences", "pairs"}
    }
    assert outlook.ingest.new_sentences == 0
    assert {(found.table, found.shard) for found in made.store.damaged()} == lost
