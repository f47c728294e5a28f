"""An encoder of words with predictable similarities, as a plain folder, as a run, and with routes."""

import json

import pytest
from generated import write_word_encoder


@pytest.fixture(scope="session")
def routed_encoder(tmp_path_factory):
    routes = {"animal": ("cat", "dog"), "place": ("park", "house")}
    return write_word_encoder(tmp_path_factory.mktemp("routed") / "encoder", (), routes)


@pytest.fixture
def runs(tmp_path, word_encoder, add_run):
    """Return a folder of runs of four encoders: for one aspect, for two together, with routes, and for none."""
    learnt = {
        "animals": (word_encoder, {"kind": "aspect", "aspects": ["animal"]}),
        "plain": (word_encoder, {"kind": "s3bert"}),
        "together": (word_encoder, {"kind": "aspect", "aspects": ["animal", "place"], "combine": "intersection"}),
    }
    for name, (source, settings) in learnt.items():
        add_run(tmp_path / "runs", name, source, settings)
    return tmp_path / "runs"


@pytest.fixture
def add_run():
    """Return a function that adds the finished run of an encoder."""

    def add(runs, name, source, settings):
        run = runs / name / "00001-abcdef" / "seed-0"
        (run / "encoder").mkdir(parents=True)
        for file in source.iterdir():
            (run / "encoder" / file.name).symlink_to(file)
        (run / "encoder" / "training.json").write_text(json.dumps({"settings": settings}))
        (run / "train.json").write_text("{}")

    return add
