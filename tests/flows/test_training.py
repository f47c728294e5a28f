"""Training and evaluation: in a separate process, from a pinned release, with errors reported in one sentence."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import psutil
import pytest
from sentences import refused

from features.core.faults import TrainingFailed
from flows import terminal
from flows.terminal import Verbosity
from flows.trainings.training_process import AGAIN, run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import EvaluationJob, Source, TrainingJob
from training.writing import read_json


def test_an_error_of_the_training_is_its_sentence(tmp_path, capfd):
    job = TrainingJob(source=Source(store=tmp_path / "none"), settings=S3bertSettings(), output=tmp_path / "run")
    with refused(TrainingFailed):
        run_job("training.train", job)
    assert "There is no store" not in capfd.readouterr().err, "it is said once, by who catches it"


def test_what_a_process_prints_is_passed_on_and_a_traceback_is_kept_in_a_file(tmp_path, capfd, monkeypatch):
    (tmp_path / "failing.py").write_text("import sys\nprint('step 1', file=sys.stderr)\nraise ValueError('odd')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    job = TrainingJob(source=Source(store=tmp_path), settings=S3bertSettings(), output=tmp_path / "run")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "error.log").symlink_to(tmp_path / "precious")  # of somebody else's run
    with refused(TrainingFailed):
        run_job("failing", job)
    assert capfd.readouterr().err == "step 1\n"
    assert "line 3" in (tmp_path / "run" / "error.log").read_text()
    assert not (tmp_path / "precious").exists()


def test_what_a_process_writes_to_its_standard_output_is_no_result(tmp_path, capfd, monkeypatch):
    (tmp_path / "talking.py").write_text("import sys\nprint('from a library', sys.argv[3:])\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    job = TrainingJob(source=Source(store=tmp_path), settings=S3bertSettings(), output=tmp_path / "run")
    for level, words in ((Verbosity.QUIET, ["--quiet"]), (Verbosity.NORMAL, []), (Verbosity.VERBOSE, ["--verbose"])):
        monkeypatch.setattr(terminal, "_verbosity", level)
        run_job("talking", job)
        assert capfd.readouterr() == ("", f"from a library {words}\n")


def test_a_process_that_is_killed_says_what_that_means(tmp_path, monkeypatch):
    (tmp_path / "killed.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    job = TrainingJob(source=Source(store=tmp_path), settings=S3bertSettings(), output=tmp_path / "run")
    with refused(TrainingFailed):
        run_job("killed", job)
    with pytest.raises(TrainingFailed, match="Run the same command again"):  # an evaluation has no checkpoint
        run_job("killed", EvaluationJob(encoder=tmp_path, output=tmp_path / "run"))


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_is_passed_on_once_and_what_is_left_is_said(tmp_path, name):
    with interrupted_flow(tmp_path, LISTENING) as flow:
        assert flow.stdout.readline() == "ready\n"
        flow.send_signal(signal.Signals[name])
        output = flow.stdout.read()
    assert flow.returncode == 128 + signal.Signals[name]
    assert output.splitlines() == [f"got {name}", "Interrupted; run the same command to continue after step 3 of 9."]


def test_a_second_interrupt_ends_the_training_at_once(tmp_path):
    with interrupted_flow(tmp_path, DEAF) as flow:
        assert flow.stdout.readline() == "ready\n"
        flow.send_signal(signal.SIGINT)
        assert flow.stdout.readline() == "heard\n"
        flow.send_signal(signal.SIGINT)
        output = flow.stdout.read()
    assert flow.returncode == 130
    assert output.splitlines() == [AGAIN]


LISTENING = """
import signal, sys
def stop(number, frame):
    sys.stderr.write(f"got {signal.Signals(number).name}\\n")
    sys.stderr.write("interrupted: Interrupted; run the same command to continue after step 3 of 9.\\n")
    sys.exit(128 + number)
"""
DEAF = """
import signal, sys
def stop(number, frame):
    sys.stderr.write("heard\\n")
"""
WAITING = """
signal.signal(signal.SIGINT, stop)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True:
    signal.pause()
"""
FLOW = """
import signal, sys
from pathlib import Path
from flows import terminal
from flows.terminal import Verbosity
from flows.trainings.training_process import AGAIN, run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source, TrainingJob
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
try:
    run_job("stoppable", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=Path("run")))
except KeyboardInterrupt as interrupt:
    sys.stderr.write(f"{interrupt}\\n")
    sys.exit(130)
"""


def interrupted_flow(folder, how):
    """Start a process that runs a job; the module of the job handles signals in some way."""
    (folder / "stoppable.py").write_text(how + WAITING)
    return subprocess.Popen(
        [sys.executable, "-c", FLOW],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[2])])},
    )


def test_a_training_ends_with_the_flow(tmp_path, wait_until):
    (tmp_path / "endless.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    flow = (
        "import os, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'flows.server.watchdog', str(os.getpid()), 'endless'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", flow],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    ) as starter:
        pid = int(starter.stdout.readline())
        starter.send_signal(signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(pid), "the training to end")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_encoder_is_trained_and_evaluated_from_a_pinned_release(built, facetflow, quick):
    built.write(60, sentences=8, per_shard=8, more=quick)
    code, output = facetflow.run(built, "train", "--release", "1", "--seeds", "2")
    assert code == 0, output
    (group,) = (built.folder / "runs" / "syntax").iterdir()
    assert re.fullmatch(r"00001-[0-9a-f]{6}", group.name)
    run = group / "seed-0"
    assert output.splitlines()[-2:] == [f"Trained {group / seed / 'encoder'}" for seed in ("seed-0", "seed-1")]
    assert output.count("reusing the outputs of the frozen layers from an earlier training of this command") == 1
    asked = read_json(run / "train.json")
    assert asked["source"]["release"] == 1
    assert "shared" not in asked
    assert (run / "encoder" / "model.safetensors").exists()

    code, output = facetflow.run(built, "train", "syntax", "--json", "--quiet")
    assert code == 0, output
    (found,) = json.loads(output)
    assert (found["was_done"], found["encoder"]) == (True, str(run / "encoder"))
    assert (found["name"], found["run"], found["seed"]) == ("syntax", f"syntax/{group.name}/seed-0", 0)

    code, output = facetflow.run(built, "evaluate", "syntax", "--split", "train", "--promote", "--json", "--quiet")
    assert code == 0, output
    scored, second = json.loads(output[output.index("[\n") :])
    assert scored["scores"]["suites"]["facets"]["split"] == "train"
    assert Path(scored["report"]) == run / "report.html"
    assert (run / "report.html").exists()
    assert second["run"] == f"syntax/{group.name}/seed-1"

    code, output = facetflow.run(built, "report", "--encoder", scored["run"], "--export", str(run / "numbers.csv"))
    assert code == 0, output
    numbers = pl.read_csv(run / "numbers.csv").filter(pl.col("table").str.starts_with("Spearman"), column="full")
    rows = scored["scores"]["suites"]["facets"]["rows"]
    defined = {row["name"]: row["full"] for row in rows if row["full"] is not None}
    assert dict(numbers.select("row", "value").iter_rows()) == defined

    (run / "report.html").unlink()
    (run / "report.html").mkdir()  # so that it cannot be written
    code, output = facetflow.run(built, "report", "--encoder", scored["run"])
    assert (code, "Spearman" in output) == (1, True), output
    (run / "report.html").rmdir()

    code, output = facetflow.run(built, "runs", "--json")
    assert code == 0, output
    listed = {found["run"]: (found["state"], found["evaluated"], found["current"]) for found in json.loads(output)}
    current = (built.folder / "runs" / "syntax" / "current").resolve()
    assert listed == {
        f"syntax/{group.name}/seed-0": ("done", True, current == run),
        f"syntax/{group.name}/seed-1": ("done", True, current == group / "seed-1"),
    }

    code, output = facetflow.run(
        built, "compare", f"syntax/{group.name}/seed-0", f"syntax/{group.name}/seed-1", "--json"
    )
    assert code == 0, output
    compared = json.loads(output)
    assert (compared["basis"], compared["runs"]) == ("items", [1, 1])
    of_run = {row["name"]: row["encoder"] for row in scored["scores"]["suites"]["facets"]["rows"]}
    assert {row["name"]: row["a"]["mean"] for row in compared["scores"] if row["name"] != "mean"} == pytest.approx(
        of_run
    ), "the same numbers as in the evaluation"

    code, output = facetflow.run(built, "train", "--release", "7")
    assert (code, output) == (
        1,
        f"facetflow: There is no release 7 in '{built.folder / 'store'}'; there are: 1 (FF318).\n",
    )
