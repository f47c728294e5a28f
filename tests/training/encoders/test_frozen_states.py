"""Outputs of frozen layers that trainings share: the same to the last bit, and skipped where there is no room."""

import errno
import os

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from training.encoders.backbone import Backbone
from training.encoders.frozen_states import SharedStates
from training.encoders.s3bert.settings import S3bertSettings

TEXTS = ["the cat sleeps", "a dog", "two red horse runs in the park"]


@pytest.fixture
def make(tiny_encoder, monkeypatch):
    """Return a function that makes a backbone and counts the passes through its frozen layers."""
    passes = []
    computed = Backbone._compute_states
    monkeypatch.setattr(Backbone, "_compute_states", lambda *given: passes.append(1) or computed(*given))

    def make(*, layers=2, precision=torch.float32, cache_gib=1.0, disk_gib=1.0):
        model = SentenceTransformer(str(tiny_encoder), device="cpu")
        settings = S3bertSettings(layers_tuned=layers, dropout=True, cache_gib=cache_gib, disk_gib=disk_gib)
        return Backbone(model, settings, precision)

    make.passes = passes
    return make


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_later_training_takes_what_the_first_has_computed(make, tmp_path, precision):
    alone, first, second = (make(precision=precision) for _ in range(3))
    tokens = alone.tokenize(TEXTS)
    shared = SharedStates(tmp_path, "backbone")
    assert alone.keep_states(tokens)
    assert first.keep_states(tokens, shared)
    assert second.keep_states(tokens, shared)
    assert len(make.passes) == 2
    assert torch.equal(alone.states, first.states)
    assert torch.equal(alone.states, second.states)
    assert [file.suffix for file in tmp_path.iterdir()] == [".states"]


def test_a_training_says_once_where_its_outputs_are(make, tmp_path, caplog):
    caplog.set_level("INFO", logger="training")
    tokens = make().tokenize(TEXTS)
    for shared in (None, SharedStates(tmp_path, "backbone"), SharedStates(tmp_path, "backbone")):
        make().keep_states(tokens, shared)
    assert caplog.messages == [
        "the outputs of the frozen layers are kept",
        "the outputs of the frozen layers are kept, also for later trainings of this command",
        "reusing the outputs of the frozen layers from an earlier training of this command",
    ]
    make(cache_gib=0.0, disk_gib=0.0).keep_states(tokens)
    assert len(caplog.messages) == 3


def test_what_makes_other_outputs_makes_another_file(make, tmp_path, monkeypatch):
    tokens = make().tokenize(TEXTS)
    fewer = make().tokenize(TEXTS[:2])
    cut = make().tokenize([" ".join(TEXTS[:2]), TEXTS[2]])
    for given, words, backbone in (
        ({}, tokens, "backbone"),
        ({"layers": 1}, tokens, "backbone"),
        ({"precision": torch.bfloat16}, tokens, "backbone"),
        ({}, tokens, "another"),
        ({}, fewer, "backbone"),
        ({}, cut, "backbone"),
    ):
        assert make(**given).keep_states(words, SharedStates(tmp_path, backbone))
    monkeypatch.setattr("torch.get_num_threads", lambda: 99)
    assert make().keep_states(tokens, SharedStates(tmp_path, "backbone"))
    assert len(make.passes) == len([*tmp_path.iterdir()]) == 7


def test_without_room_each_training_keeps_its_own(make, tmp_path, monkeypatch):
    shared = SharedStates(tmp_path, "backbone")
    backbone = make(cache_gib=0.0, disk_gib=0.0)
    tokens = backbone.tokenize(TEXTS)
    assert not backbone.keep_states(tokens, shared)  # neither memory nor disk may hold it

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.posix_fallocate", full)
    backbone = make()
    assert backbone.keep_states(tokens, shared)  # in memory
    assert not [*tmp_path.iterdir()]


def test_the_oldest_make_room_for_a_new_one(make, tmp_path):
    shared = SharedStates(tmp_path, "backbone")
    kept = []
    for count in (3, 2, 1):
        tokens = make().tokenize(TEXTS[:count])
        size = len(tokens.ids) * 48 * 4
        # Room for this one and the one before it.
        backbone = make(disk_gib=(size + (kept[-1] if kept else 0)) / 2**30)
        assert backbone.keep_states(tokens, shared)
        kept.append(size)
    assert sorted(file.stat().st_size for file in tmp_path.iterdir()) == sorted(kept[1:])


def test_what_was_ended_in_the_middle_is_not_taken(make, tmp_path, monkeypatch):
    backbone = make()
    tokens = backbone.tokenize(TEXTS)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Backbone, "_compute_states", interrupted)
        with pytest.raises(KeyboardInterrupt):
            backbone.keep_states(tokens, SharedStates(tmp_path, "backbone"))
    assert not [*tmp_path.iterdir()]
    assert backbone.keep_states(tokens, SharedStates(tmp_path, "backbone"))
    np.testing.assert_array_equal(backbone.states.isfinite().cpu().numpy(), True)
