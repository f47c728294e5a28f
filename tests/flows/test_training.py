"""Training and evaluation: in a process of their own, from a pinned release, with errors passed on as one sentence."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from features.errors import ModelError, RunError
from features.models import pull
from flows import terminal
from flows.terminal import Verbosity
from flows.training_process import AGAIN, run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source, TrainingJob
from training.writing import read_json


def test_an_error_of_the_training_is_its_sentence(tmp_path, capfd):
    job = TrainingJob(source=Source(store=tmp_path / "none"), settings=S3bertSettings(), output=tmp_path / "run")
    with pytest.raises(RunError, match=r"^There is no store in '.*none'; check the path"):
        run_job("training.encoders.s3bert.train", job)
    assert "There is no store" not in capfd.readouterr().err, "it is said once, by who catches it"


def test_what_a_process_prints_is_passed_on_and_a_traceback_is_kept_in_a_file(tmp_path, capfd, monkeypatch):
    (tmp_path / "failing.py").write_text("import sys\nprint('step 1', file=sys.stderr)\nraise ValueError('odd')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    job = TrainingJob(source=Source(store=tmp_path), settings=S3bertSettings(), output=tmp_path / "run")
    with pytest.raises(RunError, match=r"failing ended with ValueError: odd; the traceback is in '.*error\.log'\."):
        run_job("failing", job)
    assert capfd.readouterr().err == "step 1\n"
    assert "line 3" in (tmp_path / "run" / "error.log").read_text()


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
    with pytest.raises(RunError, match=r"^killed ended with SIGKILL and said nothing, .* runs out of memory; run the"):
        run_job("killed", job)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_is_passed_on_once_and_what_is_left_is_said(tmp_path, name):
    with interrupted_flow(tmp_path, LISTENING) as flow:
        assert flow.stdout.readline() == "ready\n"
        flow.send_signal(signal.Signals[name])
        output = flow.stdout.read()
    assert flow.returncode == 128 + signal.Signals[name]
    assert output.splitlines() == [f"got {name}", "Interrupted; the same command goes on after step 3 of 9."]


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
    sys.stderr.write("interrupted: Interrupted; the same command goes on after step 3 of 9.\\n")
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
from flows.training_process import AGAIN, run_job
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
    """Start a process that runs a job; the module of the job deals with signals in some way."""
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
        "subprocess.run([sys.executable, '-m', 'flows.watchdog', str(os.getpid()), 'endless'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", flow],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    ) as starter:
        pid = int(starter.stdout.readline())
        starter.send_signal(signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(pid), "the training to end", 15)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_encoder_is_trained_and_evaluated_from_a_pinned_release(built, facetflow):
    try:
        pull("all-MiniLM-L6-v2")
    except ModelError as error:
        pytest.skip(f"needs the model all-MiniLM-L6-v2: {error}")
    training = '[training]\nlayers_tuned = 1\nsplits = ["train", "train"]\nloop = { epochs = 1, threads = 1 }\n'
    built.write(60, sentences=8, per_shard=8, more=training)
    code, output = facetflow.run(built, "train", "--release", "1", "--name", "first")
    assert code == 0, output
    run = built.folder / "runs" / "first"
    assert output.splitlines()[-1] == f"Trained {run / 'encoder'}"
    assert read_json(run / "train.json")["source"]["release"] == 1
    assert (run / "encoder" / "model.safetensors").exists()

    code, output = facetflow.run(built, "train", "--name", "first", "--json", "--quiet")
    assert code == 0, output
    assert json.loads(output)["was_done"] is True
    assert json.loads(output)["encoder"] == str(run / "encoder")

    code, output = facetflow.run(built, "evaluate", "--split", "train", "--json", "--quiet")
    assert code == 0, output
    assert json.loads(output)["scores"]["suites"]["facets"]["split"] == "train"
    assert (run / "metrics.json").exists()
    assert Path(json.loads(output)["report"]) == run / "report.html"
    assert (run / "report.html").exists()

    built.write(60, sentences=8, per_shard=8, more=training.replace("epochs = 1", "epochs = 2"))
    code, output = facetflow.run(built, "train", "--name", "first")
    assert code == 1
    assert output.startswith("facetflow: The run 'first' in ")
    assert "a finished encoder with other settings (loop.epochs 1, now 2): choose another --name" in output

    code, output = facetflow.run(built, "train", "--release", "7")
    assert (code, output) == (
        1,
        f"facetflow: There is no release 7 in '{built.folder / 'store'}'; there are: 1.\n",
    )
