"""The built-in example from its text alone: the built-in parsers make everything else."""

import polars as pl
import pytest

from features.core.errors import ModelError
from features.models import DEFAULT_MODELS, pull

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def models() -> None:
    for name in DEFAULT_MODELS:
        try:
            pull(name)
        except ModelError as error:
            pytest.skip(f"needs {name}: {error}")


def test_the_example_is_built_from_plain_text(project, facetflow):
    code, output = facetflow.run(project, "new", ".", "--example")
    assert code == 0, output
    assert not list(project.folder.glob("*.amr"))
    file = project.folder / "facetflow.toml"
    asked = "\n".join(f"[{stage}]\nenabled = true\n" for stage in ("srl", "dependencies"))
    file.write_text(f"{file.read_text()}\n{asked}")  # no encoder of the example reads them
    code, output = facetflow.run(project, "build")
    assert code == 0, output
    tables = project.tables()
    sentences = set(tables["sentences"]["sentence_id"])
    for stage in ("amr", "dependencies", "srl"):
        assert set(tables[stage]["sentence_id"]) == sentences, stage
    assert tables["rejects"].is_empty()
    assert tables["amr"]["parser"].unique().to_list() == ["embedded/small-1"]
    assert tables["srl"]["parser"].unique().to_list() == ["srl_bert/embedded"]
    # What the pairs were written to show is seen in graphs that nobody made by hand.
    metrics = tables["metrics"].join(tables["pairs"].select("pair_id", "kind"), on="pair_id")
    mean = dict(metrics.group_by("kind").agg(pl.col("smatch").mean()).iter_rows())
    assert mean["positive"] > mean["negative"] + 0.2
