"""Adding a stage is one file and one line: a toy stage is planned, built, repaired, compared and read."""

import json
import os
import shutil
import subprocess
import sys

import pytest

STAGE = '''
"""The stage `lengths`: the number of words of each sentence."""

import polars as pl
from pydantic import BaseModel, ConfigDict

from features.schemas import StageOutput
from features.stages.stage import Recipe
from features.stages.stage import Stage

COLUMNS = {"sentence_id": pl.String, "words": pl.Int64}


class LengthSettings(BaseModel):
    """How long sentences are.

    Args:
        enabled: True counts the words of all sentences.
        extra: added to each length.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool | None = None
    extra: int = 0


def _make(inputs, settings, on_rows):
    sentences = inputs.read("sentences")
    words = pl.col("text").str.split(" ").list.len().cast(pl.Int64) + settings.extra
    return StageOutput(sentences.select("sentence_id", words=words))


LENGTH_STAGE = Stage(
    name="lengths",
    about="how long sentences are.",
    over="sentences",
    reads=("sentences",),
    columns=COLUMNS,
    key=("sentence_id",),
    settings=LengthSettings,
    recipe=lambda settings: Recipe("lengths", {"extra": settings.extra}),
    make=_make,
)
'''
PROJECT = """
name = "toy"
encoders = []

[[corpora]]
dataset = "pairs"
name = "mine"
files = {{ train = "pairs.tsv" }}

[cluster]
workers = 1

[lengths]
enabled = true
extra = {extra}
"""
READ = """
import facetflow
print(facetflow.open_store("store").lengths.sort("words").collect()["words"].to_list())
"""


@pytest.fixture
def house(root, tmp_path):
    """Return a copy of the packages, without the embedded models, to which the stage was added."""
    copy = tmp_path / "house"
    unneeded = shutil.ignore_patterns("*.safetensors")  # with what is compiled, or each process would compile it
    for package in ("facetflow", "features", "flows", "tasks", "training"):
        shutil.copytree(root / package, copy / package, ignore=unneeded)
    (copy / "features/stages/lengths.py").write_text(STAGE)
    registry = copy / "features/stages/registry.py"
    imported = "from features.stages.lengths import LENGTH_STAGE\n"
    text = registry.read_text().replace("        AMR_STAGE,\n", "        AMR_STAGE,\n        LENGTH_STAGE,\n", 1)
    registry.write_text(text.replace("from features.stages.metrics", f"{imported}from features.stages.metrics", 1))
    return copy


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_stage_is_one_file_and_one_line(house, generated, warm, tmp_path):
    project = generated(tmp_path / "project")
    project.folder.mkdir()
    (project.folder / "facetflow.toml").write_text(PROJECT.format(extra=0))
    (project.folder / "pairs.tsv").write_text("sentence_a\tsentence_b\nA cat sleeps .\tDogs sleep .\n")
    with warm(PYTHONPATH=str(house)) as facetflow:
        assert "lengths" in facetflow.done(project, "plan"), "it is planned"
        facetflow.done(project, "build")
        read = [sys.executable, "-c", READ]
        environment = os.environ | {"PYTHONPATH": str(house)}
        done = subprocess.run(read, cwd=project.folder, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[3, 4]", "it is built and read"

        (file,) = (project.folder / "store/tables/lengths").rglob("*.parquet")
        file.unlink()
        facetflow.done(project, "build")
        assert file.is_file(), "it is repaired"

        (project.folder / "facetflow.toml").write_text(PROJECT.format(extra=1))
        assert "extra" in facetflow.done(project, "plan", "--explain"), "a change of its settings is explained"
        facetflow.done(project, "build")
        said = facetflow.done(project, "diff", "--json", "--quiet")
    (change,) = [table for table in json.loads(said)["tables"] if table["table"] == "lengths"]
    assert (change["changed"], change["added"], change["lost"]) == (2, 0, 0), "it is compared"
