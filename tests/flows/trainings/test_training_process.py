"""The process of a training, as its flow starts, hears and ends it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from sentences import refused

from features.core import code
from features.core.faults import OtherCode, TrainingFailed
from flows import terminal
from flows.terminal import Verbosity
from flows.trainings.training_process import AGAIN, run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import EvaluationJob, Source, TrainingJob

TRACEBACK = ("Traceback (most recent call last):", "OSError: of a thread")


@pytest.fixture
def job(tmp_path):
    return TrainingJob(source=Source(store=tmp_path / "none"), settings=S3bertSettings(), output=tmp_path / "run")


@pytest.fixture
def train_by(tmp_path, monkeypatch, job):
    """Return a function that runs some code as the process of a training, or of another job."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)

    def train(code, job=job):
        (tmp_path / "toy_training.py").write_text(code)
        run_job("toy_training", job)

    return train


def telling(*lines):
    return "".join(f"print({line!r})\n" for line in lines)


def test_an_error_of_the_training_is_its_sentence(job, capfd):
    with refused(TrainingFailed):
        run_job("training.train", job)
    assert "There is no store" not in capfd.readouterr().err, "it is said once, by who catches it"


def test_what_a_process_prints_is_passed_on_and_a_traceback_is_kept_in_a_file(tmp_path, capfd, train_by):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "error.log").symlink_to(tmp_path / "precious")  # of somebody else's run
    with refused(TrainingFailed):
        train_by("import sys\nprint('step 1', file=sys.stderr)\nraise ValueError('odd')\n")
    assert capfd.readouterr().err == "step 1\n"
    assert "line 3" in (tmp_path / "run" / "error.log").read_text()
    assert not (tmp_path / "precious").exists()


def test_what_a_process_writes_to_its_standard_output_is_no_result(capfd, monkeypatch, train_by):
    for level, words in ((Verbosity.QUIET, ["--quiet"]), (Verbosity.NORMAL, []), (Verbosity.VERBOSE, ["--verbose"])):
        monkeypatch.setattr(terminal, "_verbosity", level)
        train_by("import sys\nprint('from a library', sys.argv[3:])\n")
        assert capfd.readouterr() == ("", f"from a library {words}\n")


def test_a_process_that_is_killed_says_what_that_means(tmp_path, train_by):
    killed = "import os\nos.kill(os.getpid(), 9)\n"
    with refused(TrainingFailed):
        train_by(killed)
    with pytest.raises(TrainingFailed, match="Run the same command again"):  # an evaluation has no checkpoint
        train_by(killed, EvaluationJob(encoder=tmp_path, output=tmp_path / "run"))


def test_a_log_that_nobody_hears_ends_no_training(monkeypatch, train_by):
    monkeypatch.setattr("sys.stderr", None)  # as after `2>&-`
    train_by(telling("step 1"))


def test_a_log_goes_on_behind_the_traceback_of_a_library(capsys, train_by):
    train_by(telling(*TRACEBACK, "<20>12:00:01 step 2"))
    assert capsys.readouterr().err == "12:00:01 step 2\n"


def test_an_error_behind_the_traceback_of_a_library_is_the_reason(train_by):
    with pytest.raises(TrainingFailed) as told:
        train_by(telling(*TRACEBACK, "error: The loss is not finite (FF134).") + "raise SystemExit(1)")
    assert told.value.code == "FF134"


def test_a_traceback_is_kept_where_the_folder_of_the_run_cannot_be_made(tmp_path, monkeypatch, job, train_by):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "a file").touch()
    with pytest.raises(TrainingFailed) as told:
        train_by("raise ValueError('odd')", job.model_copy(update={"output": tmp_path / "a file" / "run"}))
    (log,) = tmp_path.glob("facetflow-error-*")
    assert "ValueError: odd" in log.read_text()
    assert repr(str(log)) in str(told.value)


def test_how_threads_wait_is_as_the_user_says(monkeypatch, capsys, train_by):
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    train_by("import os\nprint(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])")
    assert capsys.readouterr().err == "ACTIVE 0\n"


def test_no_training_begins_with_other_code_than_that_of_its_flow(monkeypatch, train_by):
    monkeypatch.setattr(code, "OWN_CODE", "that before an upgrade")
    with refused(OtherCode):
        train_by(telling("step 1"))


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
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[3])])},
    )


ENDLESS = """
import os, pathlib, signal, sys, time
from flows.server.watchdog import end_with
signal.signal(signal.SIGTERM, lambda *_: pathlib.Path("asked").touch())
end_with(int(sys.argv[1]), pathlib.Path("cleaned").touch)
print(os.getpid(), flush=True)
time.sleep(600)
"""


def test_a_training_ends_with_the_flow_also_where_it_does_not_do_so_when_asked(tmp_path, wait_until):
    (tmp_path / "endless.py").write_text(ENDLESS)
    flow = "import os, subprocess, sys\nsubprocess.run([sys.executable, 'endless.py', str(os.getpid())])"
    with subprocess.Popen(
        [sys.executable, "-c", flow],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    ) as starter:
        pid = int(starter.stdout.readline())
        assert not (tmp_path / "asked").exists(), "its flow lives"
        starter.send_signal(signal.SIGKILL)
    wait_until(lambda: not psutil.pid_exists(pid), "the training to end")
    assert (tmp_path / "asked").exists()
    assert (tmp_path / "cleaned").exists()
