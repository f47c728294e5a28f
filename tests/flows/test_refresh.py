"""`facetflow refresh` walks the whole plan, and goes on wherever it was killed."""

import json
import shutil

import pytest
from generated import ENCODER, write_backbone

from training.evaluation.promotion import promote
from training.run_records import state_of
from training.runs import all_runs, run_id

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.soak
def test_a_refresh_that_was_killed_in_training_goes_on_from_the_checkpoint(project, facetflow_alone, wait_until):
    write_backbone(project.folder / "backbone")
    project.write(20, per_shard=32, more=ENCODER.replace("epochs = 2", "epochs = 300"))
    runs = project.folder / "runs"
    with facetflow_alone.start(project, "refresh") as killed:
        wait_until(lambda: list(runs.glob("s3bert/*/seed-0/checkpoint.pt")), "a checkpoint", 400)
        killed.kill()
        killed.communicate(timeout=400)
    wait_until(lambda: not facetflow_alone.left_running(), "training and server to follow the killed command")
    (run,) = all_runs(runs)
    assert state_of(run).state == "interrupted"

    output = facetflow_alone.done(project, "plan")
    assert output.splitlines()[-2:] == [
        "Release 1 stays the newest.",
        "1 encoder would be trained: s3bert, because it has no finished training.",
    ]
    output = facetflow_alone.done(project, "refresh")
    assert "Nothing changed: release 1 is up to date." in output
    assert "resumed at step" in output
    assert f"s3bert/{run.parent.name}/seed-0 is now the current run of the encoder 's3bert'" in output

    output = facetflow_alone.done(project, "refresh", "--json", "--quiet")
    done = json.loads(output[output.index("{\n") :])
    assert [done[what] for what in ("trained", "evaluated", "served", "failures")] == [[]] * 4
    assert done["build"]["release"] == 1

    other = shutil.copytree(run.parent, run.parent.with_name("00001-bbbbbb")) / run.name
    for record in ("train.json", "run.json"):  # as after other settings, which the project file has left since
        (other / record).unlink()
    promote(other, "s3bert")
    output = facetflow_alone.done(project, "refresh")
    assert f"{run_id(runs, run)} held, but another run is current: s3bert/00001-bbbbbb/seed-0" in output


def test_a_training_that_fails_keeps_no_other_from_being_evaluated(project, facetflow):
    write_backbone(project.folder / "backbone")
    broken = ENCODER.replace('"s3bert"\nkind', '"broken"\nkind').replace('"backbone"', '"missing"')
    project.write(20, per_shard=32, more=broken + ENCODER)
    code, output = facetflow.run(project, "refresh")
    assert code == 2, output
    assert "failed: 1 of 2 trainings failed (broken, seed 0: " in output
    assert "is now the current run of the encoder 's3bert'" in output
    code, output = facetflow.run(project, "plan")
    assert "1 encoder would be trained: broken, because it has no finished training." in output
    assert "due" not in output
