"""docs/start/ten_minutes.md, followed literally: the built-in example from its text alone."""

import re
import shlex

import polars as pl
import pytest

from features.models import DEFAULT_MODELS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
MORE = "\n[srl]\nenabled = true\n\n[dependencies]\nenabled = true\n"
"""Stages that no encoder of the example reads."""


@pytest.fixture(autouse=True)
def models(needs_model):
    for name in DEFAULT_MODELS:
        needs_model(name)


@pytest.mark.soak
def test_the_commands_of_the_page_do_what_it_says(root, project, generated, facetflow):
    page = (root / "docs/start/ten_minutes.md").read_text(encoding="utf-8")
    outputs = {}
    for line in "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL)).splitlines():
        program, *arguments = shlex.split(line)
        if program == "cd":
            project = generated(project.folder / arguments[0])
            file = project.folder / "facetflow.toml"
            file.write_text(file.read_text() + MORE)
            continue
        assert program == "facetflow"
        code, output = facetflow.run(project, *arguments)
        assert code == 0, f"{line}\n{output}"
        outputs.setdefault(line, []).append(output)

    alone, with_own = outputs['facetflow explain "Two cats look." "A cat looks."']
    assert '"Two cats" in a, "A cat" in b' in alone
    assert "s3bert-minilm" in alone
    assert "s3bert/00001-" in with_own
    published = page[page.index("Published release 1: ") :].partition("192 embeddings")[0]
    assert published in outputs["facetflow build"][0].replace(" 192 dependencies, 192 srl,", "")
    assert (project.folder / "pairs.html").is_file()
    assert list(project.folder.glob("runs/s3bert/*/seed-0/report.html"))
    assert_built_from_plain_text(project)


def assert_built_from_plain_text(project):
    assert not list(project.folder.glob("*.amr"))
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
