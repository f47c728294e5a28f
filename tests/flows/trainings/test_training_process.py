"""The process of a training, as its flow hears it."""

from pathlib import Path

import pytest
from sentences import refused

from features.core import code
from features.core.faults import OtherCode, TrainingFailed
from flows.trainings.training_process import run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source, TrainingJob


def test_a_log_that_nobody_hears_ends_no_training(tmp_path, monkeypatch):
    (tmp_path / "telling.py").write_text("print('step 1')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("sys.stderr", None)  # as after `2>&-`
    run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=tmp_path))


def test_a_log_goes_on_behind_the_traceback_of_a_library(tmp_path, monkeypatch, capsys):
    lines = ["Traceback (most recent call last):", "OSError: of a thread", "<20>12:00:01 step 2"]
    (tmp_path / "telling.py").write_text("".join(f"print({line!r})\n" for line in lines))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=tmp_path))
    assert capsys.readouterr().err == "12:00:01 step 2\n"


def test_an_error_behind_the_traceback_of_a_library_is_the_reason(tmp_path, monkeypatch):
    lines = ["Traceback (most recent call last):", "OSError: of a thread", "error: The loss is not finite (FF134)."]
    (tmp_path / "telling.py").write_text("".join(f"print({line!r})\n" for line in lines) + "raise SystemExit(1)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    with pytest.raises(TrainingFailed) as told:
        run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=tmp_path))
    assert told.value.code == "FF134"


def test_a_traceback_is_kept_where_the_folder_of_the_run_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "telling.py").write_text("raise ValueError('odd')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    output = tmp_path / "telling.py" / "run"
    with pytest.raises(TrainingFailed) as told:
        run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=output))
    (log,) = tmp_path.glob("facetflow-error-*")
    assert "ValueError: odd" in log.read_text()
    assert repr(str(log)) in str(told.value)


def test_how_threads_wait_is_as_the_user_says(tmp_path, monkeypatch, capsys):
    (tmp_path / "telling.py").write_text(
        "import os\nprint(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'])"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=tmp_path))
    assert capsys.readouterr().err == "ACTIVE 0\n"


def test_no_training_begins_with_other_code_than_that_of_its_flow(tmp_path, monkeypatch):
    (tmp_path / "telling.py").write_text("print('step 1')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(code, "OWN_CODE", "that before an upgrade")
    with refused(OtherCode):
        run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=tmp_path))
