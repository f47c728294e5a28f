"""A training and an evaluation on a pinned release: what the commands say of them."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from training.writing import read_json


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_encoder_is_trained_and_evaluated_from_a_pinned_release(built, facetflow, quick):
    built.write(60, sentences=8, per_shard=8, more=quick)
    output = facetflow.done(built, "train", "--release", "1", "--seeds", "2")
    (group,) = (built.folder / "runs" / "syntax").iterdir()
    assert re.fullmatch(r"00001-[0-9a-f]{6}", group.name)
    run = group / "seed-0"
    assert output.splitlines()[-2:] == [f"Trained {group / seed / 'encoder'}" for seed in ("seed-0", "seed-1")]
    assert output.count("reusing the outputs of the frozen layers from an earlier training of this command") == 1
    asked = read_json(run / "train.json")
    assert asked["source"]["release"] == 1
    assert "shared" not in asked
    assert (run / "encoder" / "model.safetensors").exists()

    output = facetflow.done(built, "train", "syntax", "--json", "--quiet")
    (found,) = json.loads(output)
    assert (found["was_done"], found["encoder"]) == (True, str(run / "encoder"))
    assert (found["name"], found["run"], found["seed"]) == ("syntax", f"syntax/{group.name}/seed-0", 0)

    output = facetflow.done(built, "evaluate", "syntax", "--split", "train", "--promote", "--json", "--quiet")
    scored, second = json.loads(output[output.index("[\n") :])
    assert scored["scores"]["suites"]["facets"]["split"] == "train"
    assert Path(scored["report"]) == run / "report.html"
    assert (run / "report.html").exists()
    assert second["run"] == f"syntax/{group.name}/seed-1"

    output = facetflow.done(built, "report", "--encoder", scored["run"], "--export", str(run / "numbers.csv"))
    numbers = pl.read_csv(run / "numbers.csv").filter(pl.col("table").str.starts_with("Spearman"), column="full")
    rows = scored["scores"]["suites"]["facets"]["rows"]
    defined = {row["name"]: row["full"] for row in rows if row["full"] is not None}
    assert dict(numbers.select("row", "value").iter_rows()) == defined

    (run / "report.html").unlink()
    (run / "report.html").mkdir()  # so that it cannot be written
    code, output = facetflow.run(built, "report", "--encoder", scored["run"])
    assert (code, "Spearman" in output) == (1, True), output
    (run / "report.html").rmdir()

    output = facetflow.done(built, "runs", "--json")
    listed = {found["run"]: (found["state"], found["evaluated"], found["current"]) for found in json.loads(output)}
    current = (built.folder / "runs" / "syntax" / "current").resolve()
    assert listed == {
        f"syntax/{group.name}/seed-0": ("done", True, current == run),
        f"syntax/{group.name}/seed-1": ("done", True, current == group / "seed-1"),
    }

    output = facetflow.done(built, "compare", f"syntax/{group.name}/seed-0", f"syntax/{group.name}/seed-1", "--json")
    compared = json.loads(output)
    assert (compared["basis"], compared["runs"]) == ("items", [1, 1])
    of_run = {row["name"]: row["encoder"] for row in scored["scores"]["suites"]["facets"]["rows"]}
    assert {row["name"]: row["a"]["mean"] for row in compared["scores"] if row["name"] != "mean"} == pytest.approx(
        of_run
    ), "the same numbers as in the evaluation"

    code, output = facetflow.run(built, "train", "--release", "7")
    assert (code, "(FF318)" in output) == (1, True)
