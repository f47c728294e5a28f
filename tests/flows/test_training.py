"""Training and evaluation: in a process of their own, from a pinned release, with errors passed on as one sentence."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from features.errors import ModelError, RunError
from features.models import pull
from flows.training_process import run_job
from training.jobs import Source, TrainingJob, read_json


def test_an_error_of_the_training_is_its_sentence(tmp_path, capfd):
    job = TrainingJob(source=Source(store=tmp_path / "none"), output=tmp_path / "run")
    with pytest.raises(RunError, match=r"^There is no store in '.*none'; check the path"):
        run_job("training.s3bert.train", job)
    assert "There is no store" not in capfd.readouterr().err, "it is said once, by who catches it"


def test_what_a_process_prints_is_passed_on_and_a_traceback_is_kept_in_a_file(tmp_path, capfd, monkeypatch):
    (tmp_path / "failing.py").write_text("import sys\nprint('step 1', file=sys.stderr)\nraise ValueError('odd')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    job = TrainingJob(source=Source(store=tmp_path), output=tmp_path / "run")
    with pytest.raises(RunError, match=r"failing ended with ValueError: odd; the traceback is in '.*error\.log'\."):
        run_job("failing", job)
    assert capfd.readouterr().err == "step 1\n"
    assert "line 3" in (tmp_path / "run" / "error.log").read_text()


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
@pytest.mark.timeout(300)
def test_an_encoder_is_trained_and_evaluated_from_a_pinned_release(built, facetflow):
    try:
        pull("all-MiniLM-L6-v2")
    except ModelError as error:
        pytest.skip(f"needs the model all-MiniLM-L6-v2: {error}")
    training = '[training]\nepochs = 1\nlayers_tuned = 1\nsplits = ["train", "train"]\nthreads = 1\n'
    built.write(60, sentences=8, per_shard=8, more=training)
    code, output = facetflow.run(built, "train", "--release", "1", "--name", "first")
    assert code == 0, output
    run = built.folder / "runs" / "first"
    assert output.splitlines()[-1] == f"Trained {run / 'encoder'}"
    assert read_json(run / "train.json")["source"]["release"] == 1
    assert (run / "encoder" / "model.safetensors").exists()

    code, output = facetflow.run(built, "evaluate", "--split", "train")
    assert code == 0, output
    assert (run / "metrics.json").exists()
    assert (run / "report.html").exists()

    code, output = facetflow.run(built, "train", "--release", "7")
    assert (code, output) == (
        1,
        f"facetflow: There is no release 7 in '{built.folder / 'store'}'; there are: 1.\n",
    )
