"""A finished encoder is never replaced, and only one process trains in a folder."""

import json
import logging
import shutil

import pytest
from sentences import refused

from features.core.faults import AnotherProcess, EncoderDamaged, OtherSettings
from features.core.locks import only_one
from training.data.measured_pairs import MeasuredPairs
from training.encoders.running import TrainingPlan, has_encoder
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.train import train
from training.runs import TRAINING_LOCK
from training.writing import write_json


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_other_settings_or_data_do_not_replace_a_finished_encoder(job, measured, changed, caplog):
    train(job)
    before = content(job.output)
    other = job.model_copy(update={"settings": changed(job.settings, epochs=4, seed=7)})
    with refused(OtherSettings):
        train(other)
    fewer = MeasuredPairs(measured.texts, measured.pairs.head(100), source=measured.source)
    fewer.export(job.source.pairs)
    with refused(OtherSettings):
        train(job)
    measured.export(job.source.pairs)
    with caplog.at_level(logging.INFO, logger="training"):
        assert train(job) == job.output / "encoder"
    assert caplog.messages[-1] == f"{job.output / 'encoder'} is done already"
    assert content(job.output) == before


def test_a_finished_encoder_that_lost_a_file_is_not_done_already(job):
    encoder = train(job)
    (encoder / "README.md").write_text("scores that an evaluation wrote")
    train(job)
    weights = encoder / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[:-1])
    with refused(EncoderDamaged):
        train(job)
    weights.unlink()
    with refused(EncoderDamaged):
        train(job)
    shutil.rmtree(encoder)
    assert train(job) == encoder
    assert weights.stat().st_size == size


def test_a_newer_release_is_named(job, settings, tmp_path):
    plan = TrainingPlan(job, settings, data_digest="b", backbone_digest="c", source={"release": 2})
    assert not has_encoder(plan)
    before = {
        "settings": settings.model_dump(mode="json"),
        "data_digest": "a",
        "backbone_digest": "c",
        "source": {"release": 1},
    }
    write_json(tmp_path / "run" / "encoder" / "training.json", before)
    with refused(OtherSettings):
        has_encoder(plan)


@pytest.mark.parametrize(
    ("before", "now"),
    [({}, {"finish": {"steps": 5}}), ({"layer_shares": {"mine": 0.5}}, {}), ({}, {"search": {"epochs": [1, 3]}})],
)
def test_a_table_of_settings_that_is_given_or_left_out_is_another_setting(job, tmp_path, before, now):
    old, new = (S3bertSettings.model_validate(job.settings.model_dump() | given) for given in (before, now))
    record = {"settings": old.model_dump(mode="json"), "data_digest": "a", "backbone_digest": "b", "files": {}}
    write_json(tmp_path / "run" / "encoder" / "training.json", record | {"source": {}})
    assert has_encoder(TrainingPlan(job, old, "a", "b", {}))
    with refused(OtherSettings):
        has_encoder(TrainingPlan(job, new, "a", "b", {}))


def test_a_second_training_in_the_folder_is_refused(job):
    job.output.mkdir()
    with only_one(job.output / TRAINING_LOCK, "taken"), refused(AnotherProcess):
        train(job)
    assert not (job.output / "train.json").exists()


def test_the_report_of_a_training_says_what_identifies_it(job):
    report = json.loads((train(job) / "training.json").read_text())
    plan = TrainingPlan(
        job,
        job.settings.model_copy(update={"facets": tuple(report["settings"]["facets"])}),
        data_digest=report["data_digest"],
        backbone_digest=report["backbone_digest"],
        source={},
    )
    assert plan.identity == report["identity"]
