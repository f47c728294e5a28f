"""The process of a training, as its flow hears it."""

from pathlib import Path

from flows.trainings.training_process import run_job
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source, TrainingJob


def test_a_log_that_nobody_hears_ends_no_training(tmp_path, monkeypatch):
    (tmp_path / "telling.py").write_text("print('step 1')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("sys.stderr", None)  # as after `2>&-`
    run_job("telling", TrainingJob(source=Source(store=Path("none")), settings=S3bertSettings(), output=tmp_path))
