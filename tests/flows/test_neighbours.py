"""Neighbours in a build: drawn once embeddings are made, and measured in the same build."""

import re

import polars as pl
import pytest
from generated import write_backbone, write_project


@pytest.fixture
def near(project):
    """Return a function that writes a project whose corpus asks for so many neighbours."""
    write_backbone(project.folder / "backbone")

    def write(pairs, neighbours, enabled="true"):
        write_project(project.folder, pairs, sentences_per_shard=16, pairs_per_shard=16, workers=1, neighbours=2)
        file = project.folder / "facetflow.toml"
        text = file.read_text().replace("neighbours = 2", f"neighbours = {neighbours}")
        file.write_text(text.replace("enabled = true", f"enabled = {enabled}"))
        return project

    return write


def kinds(project):
    return dict(project.store.read("pairs")["kind"].value_counts().iter_rows())


def measured(project):
    assert set(project.store.read("metrics")["pair_id"]) == set(project.store.read("pairs")["pair_id"])
    return project.store.releases()[-1].number


def test_a_build_draws_neighbours_and_measures_them_and_a_refresh_those_of_new_sentences(near, facetflow, here):
    project = near(20, 2)
    assert "Neighbours would be drawn from the embeddings" in here(project, "plan")[1]
    code, said = facetflow.run(project, "build")
    assert code == 0, said
    before = project.store.read("pairs", with_shard=True)
    drawn = kinds(project)["neighbour"]
    assert f"Drew {drawn} neighbours in {-(-drawn // 16)} shards." in said
    assert measured(project) == 1

    said = here(project, "plan")[1]
    assert "Neighbours would" not in said
    assert "Release 1 stays the newest." in said
    code, said = facetflow.run(project, "build")
    assert (code, "Nothing changed: release 1 is up to date." in said) == (0, True), said

    code, said = facetflow.run(near(30, 2), "build")
    assert code == 0, said
    after = project.store.read("pairs", with_shard=True)
    assert after.filter(pl.col("shard").is_in(before["shard"].unique().implode())).equals(before)
    new = after.filter(~pl.col("pair_id").is_in(before["pair_id"].implode()), kind="neighbour")
    told = {*before["sentence_a"], *before["sentence_b"]}
    assert new.height
    assert told.isdisjoint(new["sentence_a"]), "only new sentences ask for any"
    assert measured(project) == 2


def test_embeddings_that_a_build_left_without_neighbours_get_them_from_the_next(near, facetflow, here):
    code, said = facetflow.run(near(20, 0), "build")
    assert code == 0, said
    project = near(20, 1)
    assert "Release 2 would follow." in here(project, "plan")[1]
    code, said = facetflow.run(project, "build")
    assert code == 0, said
    assert kinds(project)["neighbour"] >= 10
    assert measured(project) == 2


def test_another_number_of_neighbours_is_for_new_sentences_alone(near, facetflow, here):
    assert facetflow.run(near(20, 2), "build")[0] == 0
    project = near(20, 4)
    drawn = kinds(project)
    lost = next((project.folder / "store/tables/embeddings").rglob("*.parquet"))
    kept = lost.rename(project.folder / "kept")
    said = here(project, "plan")[1]
    assert re.search(r"embeddings: \d shards, 1 to do", said), said
    assert ("Neighbours would" in said, "Release 1 stays the newest." in said) == (False, True), said
    kept.rename(lost)
    code, said = facetflow.run(project, "build")
    assert (code, " is now 4 instead of 2: sentences keep those that they have" in said) == (0, True), said
    assert kinds(project) == drawn


def test_neighbours_without_embeddings_are_refused_before_anything_is_read(near, here):
    project = near(20, 1, "false")
    for command in ("plan", "build"):
        code, said = here(project, command)
        assert (code, "are drawn from embeddings, which this project does not make" in said) == (1, True), said
