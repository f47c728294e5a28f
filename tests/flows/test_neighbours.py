"""Neighbours in a build: drawn once embeddings are made, and measured in the same build."""

import re
import shutil
import subprocess
from functools import partial

import polars as pl
import pytest
from generated import write_backbone, write_project

from features.ingest.unread import Memory
from flows.building.ingest_corpora import add_neighbours
from flows.project import load


@pytest.fixture
def near(project):
    """Return a function that writes a project whose corpus asks for so many neighbours."""
    write_backbone(project.folder / "backbone")
    return partial(write_near, project)


def write_near(project, pairs, neighbours, enabled="true"):
    write_project(project.folder, pairs, sentences_per_shard=16, pairs_per_shard=16, workers=1, neighbours=2)
    file = project.folder / "facetflow.toml"
    text = file.read_text().replace("neighbours = 2", f"neighbours = {neighbours}")
    file.write_text(text.replace("enabled = true", f"enabled = {enabled}"))
    return project


@pytest.fixture(scope="module")
def grown(generated, tmp_path_factory, facetflow):
    """A project that has grown since its neighbours were drawn, and asks for another number of them by now."""
    project = generated(tmp_path_factory.mktemp("grown"))
    write_backbone(project.folder / "backbone")
    for pairs, neighbours in ((20, 2), (30, 1)):
        write_near(project, pairs, neighbours)
        facetflow.done(project, "build")
    return project


def kinds(project):
    return dict(project.store.read("pairs")["kind"].value_counts().iter_rows())


def measured(project):
    assert set(project.store.read("metrics")["pair_id"]) == set(project.store.read("pairs")["pair_id"])
    return project.store.releases()[-1].number


def test_a_build_draws_neighbours_and_measures_them_and_a_refresh_those_of_new_sentences(near, facetflow, here):
    project = near(20, 2)
    assert "Neighbours would be drawn from the embeddings" in here.done(project, "plan")
    said = facetflow.done(project, "build")
    before = project.store.read("pairs", with_shard=True)
    drawn = kinds(project)["neighbour"]
    assert f"Drew {drawn} neighbours in {-(-drawn // 16)} shards." in said
    assert measured(project) == 1

    said = here.done(project, "plan")
    assert "Neighbours would" not in said
    assert "Release 1 stays the newest." in said
    memory = Memory.of(project.store)
    memory.model_copy(update={"drawn": "as another version records it"}).write(project.store)
    assert here.done(project, "plan") == said
    code, said = facetflow.run(project, "build")
    assert (code, "Nothing changed: release 1 is up to date." in said) == (0, True), said

    said = facetflow.done(near(30, 2), "build")
    after = project.store.read("pairs", with_shard=True)
    assert after.filter(pl.col("shard").is_in(before["shard"].unique().implode())).equals(before)
    new = after.filter(~pl.col("pair_id").is_in(before["pair_id"].implode()), kind="neighbour")
    told = {*before["sentence_a"], *before["sentence_b"]}
    assert new.height
    assert told.isdisjoint(new["sentence_a"]), "only new sentences ask for any"
    assert measured(project) == 2


def test_embeddings_that_a_build_left_without_neighbours_get_them_from_the_next(near, facetflow, here):
    facetflow.done(near(20, 0), "build")
    project = near(20, 1)
    assert "Release 2 would follow." in here.done(project, "plan")
    facetflow.done(project, "build")
    assert kinds(project)["neighbour"] >= 10
    assert measured(project) == 2


@pytest.mark.parametrize("drawn", [False, True])
def test_a_retry_draws_and_measures_neighbours_that_a_killed_build_had_not(near, facetflow, drawn):
    facetflow.done(near(20, 0), "build")
    project = near(20, 1)
    if drawn:
        assert add_neighbours(load(project.folder / "facetflow.toml"), project.store, "killed")
    facetflow.done(project, "retry", "--failed")
    assert kinds(project)["neighbour"] >= 10
    assert measured(project) == 2


def test_another_number_of_neighbours_is_for_new_sentences_alone(near, facetflow, here):
    facetflow.done(near(20, 2), "build")
    project = near(20, 4)
    drawn = kinds(project)
    lost = next((project.folder / "store/tables/embeddings").rglob("*.parquet"))
    kept = lost.rename(project.folder / "kept")
    said = here.done(project, "plan")
    assert re.search(r"embeddings: \d shards, 1 to do", said), said
    assert ("Neighbours would" in said, "Release 1 stays the newest." in said) == (False, True), said
    kept.rename(lost)
    code, said = facetflow.run(project, "build")
    assert (code, " is 4, but 2 when they were drawn: sentences keep those that they have" in said) == (0, True), said
    assert kinds(project) == drawn
    assert "when they were drawn" in here.done(project, "plan")
    assert "when they were drawn" not in here.done(near(20, 2), "plan"), "none were ever drawn with 4"
    assert "Drew " in facetflow.done(near(30, 4), "build")
    assert " is 2, but 4 when they were drawn: " in here.done(near(30, 2), "plan")
    assert " is 0, but 4 when they were drawn: " in here.done(near(30, 0), "plan")


def test_neighbours_without_embeddings_are_refused_before_anything_is_read(near, here):
    project = near(20, 1, "false")
    for command in ("plan", "build"):
        code, said = here.run(project, command)
        assert (code, "are drawn from embeddings, which this project does not make" in said) == (1, True), said


FAILING = """
@task(persist_result=False)
def failing(job, settings):
    from tasks.shard import make_shard
    if (job.stage, job.shard) == ("embeddings", "sentences-00001"):
        raise RuntimeError("no vectors today")
    return make_shard(job, settings)

run_shards.MAKE_SHARD = failing
"""


@pytest.fixture
def copied(generated, tmp_path_factory):
    """Return a function that copies a project."""

    def copy(project):
        return generated(shutil.copytree(project.folder, tmp_path_factory.mktemp("copied") / "project"))

    return copy


def same_rows(project, other):
    return [name for name, rows in project.tables().items() if not rows.equals(other.tables()[name])] == []


def test_neighbours_wait_for_an_embedding_that_failed(near, copied, build_with, facetflow):
    project = near(20, 2)
    file = project.folder / "facetflow.toml"
    file.write_text(file.read_text() + "[limits]\nfailed_shards = 0.9\n")
    undisturbed = copied(project)
    facetflow.done(undisturbed, "build")

    record = build_with(project, FAILING)
    assert [(shard.stage, shard.shard) for shard in record.failed] == [("embeddings", "sentences-00001")]
    assert (record.state, record.release) == ("partly", None)
    assert "from all embeddings, which lack 1 shard" in record.message
    assert "neighbour" not in kinds(project)
    built = copied(project)
    for again, command in ((project, ["retry", "--failed"]), (built, ["build"])):
        facetflow.done(again, *command)
        assert measured(again) == 1
        assert same_rows(again, undisturbed)


def lose(project, *tables, kind="none"):
    """Delete files of tables, and those of pairs of a kind."""
    pairs = project.store.read("pairs", with_shard=True)
    of_kind = set(pairs.filter(kind=kind)["shard"])
    for table in {*tables, "pairs"}:
        for file in project.store._table(table).files():
            if table in tables or file.shard in of_kind:
                (project.folder / "store" / project.store._table(table).file(file.path)).unlink()


def test_embeddings_that_are_made_again_bring_no_neighbours(grown, copied, here):
    project = copied(grown)
    lose(project, "embeddings")
    said = here.done(project, "plan")
    assert "Release 2 stays the newest." in said
    assert "Neighbours would" not in said


@pytest.mark.parametrize("tables", [(), ("embeddings",), ("embeddings", "metrics", "pairs", "sentences")])
def test_lost_neighbours_are_drawn_again_in_one_build(grown, copied, facetflow, here, tables):
    project = copied(grown)
    lose(project, *tables, kind="neighbour")
    code, said = here.run(project, "plan")
    assert (code, "pairs pairs-00004" in said, "Release 2 stays the newest." in said) == (0, True, True), said
    said = facetflow.done(project, "build")
    assert "Nothing changed: release 2 is up to date." in said
    assert project.store.verify(deep=True).damaged == ()
    assert same_rows(project, grown)


def test_lost_neighbours_wait_for_embeddings_that_fail(grown, copied, build_with, facetflow):
    project = copied(grown)
    lose(project, "embeddings", kind="neighbour")
    with pytest.raises(subprocess.CalledProcessError):
        build_with(project, FAILING)
    record = project.store.runs()[0]
    assert (record.state, [shard.shard for shard in record.failed]) == ("failed", ["sentences-00001"])
    assert "1 shard of the embeddings that they are drawn from failed; `facetflow retry --failed`" in record.message
    facetflow.done(project, "retry", "--failed")
    assert same_rows(project, grown)


@pytest.mark.soak
def test_a_killed_repair_of_neighbours_goes_on(grown, copied, facetflow_alone, wait_until):
    project = copied(grown)
    lose(project, "embeddings", kind="neighbour")
    with facetflow_alone.start(project, "build") as build:
        wait_until(lambda: [*(project.folder / "store" / "tables" / "embeddings").rglob("*.parquet")], "an embedding")
        build.kill()
        build.communicate(timeout=400)
    assert project.store.damaged()
    facetflow_alone.done(project, "build")
    assert same_rows(project, grown)
