"""Output of a training process: regular progress, at the requested level of detail."""

import gc
import logging
import subprocess
import sys

import pytest

from features.core.errors import InputError
from training import progress
from training.encoders.backbone import Backbone
from training.encoders.s3bert.train import load_backbone
from training.loop.machine import prepare_machine
from training.process import run_process, share_no_bars
from training.progress import with_progress


@pytest.fixture(autouse=True)
def _process():
    """Restore the log level and the threshold of garbage collection, which a process sets."""
    log = logging.getLogger("training")
    level, threshold = log.level, gc.get_threshold()
    yield
    log.setLevel(level)
    gc.set_threshold(*threshold)


@pytest.mark.parametrize(
    ("words", "told"),
    [(["--quiet"], ["warning"]), ([], ["info", "warning"]), (["--verbose"], ["debug", "info", "warning"])],
)
def test_it_says_as_much_as_it_is_asked_for(words, told, tmp_path, caplog):
    log = logging.getLogger("training")

    def run(_path):
        log.debug("debug")
        log.info("info")
        log.warning("warning")

    assert run_process("module", "about", run, ["--settings", str(tmp_path), *words]) == 0
    assert caplog.messages == told


def test_a_job_that_fails_keeps_no_other_from_being_done(caplog, capsys):
    done = []

    def run(path):
        if path.stem == "bad":
            raise InputError(f"{path} is no job.")
        done.append(path.name)

    assert run_process("module", "about", run, ["--settings", "a.json", "bad.json", "b.json", "bad.json"]) == 1
    assert done == ["a.json", "b.json"]
    assert caplog.messages == ["failed: bad.json is no job (FF100)."] * 2
    told = capsys.readouterr().err
    assert told.endswith("error: 2 of 4 jobs failed (bad.json is no job) (FF518).\n"), "what both have is said once"
    assert run_process("module", "about", run, ["--settings", "bad.json"]) == 1
    assert capsys.readouterr().err.endswith("error: bad.json is no job (FF100).\n")


def test_the_libraries_of_a_job_are_imported_without_collecting_garbage(tmp_path):
    collections = []

    def run(_path):
        before = gc.get_stats()[0]["collections"]
        kept = [[] for _ in range(50_000)]  # as many objects as a large library leaves
        collections.append(gc.get_stats()[0]["collections"] - before)
        assert kept

    assert run_process("module", "about", run, ["--settings", str(tmp_path)]) == 0
    assert collections[0] <= 1  # 70 with the interpreter's own threshold


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_progress_bars_of_libraries_leave_no_semaphore_behind(method):
    code = f"""
import multiprocessing, os
multiprocessing.set_start_method({method!r})
from training.process import begin
begin()
from tqdm.auto import tqdm
assert list(tqdm(range(2), disable=True)) == list(tqdm(range(2))) == [0, 1]
os.kill(os.getpid(), 15)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -15
    assert "leaked semaphore" not in done.stderr
    assert "Error" not in done.stderr


def test_a_process_begins_without_the_libraries_of_models(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)  # as where `facetflow[flows]` alone is installed
    share_no_bars()


def test_a_line_comes_when_the_last_one_is_long_ago_and_says_how_far_it_is(its_time, caplog):
    now = [100.0]
    its_time("training.progress", monotonic=lambda: now[0])
    with caplog.at_level(logging.INFO, logger="training"):
        batches = with_progress([range(500)] * 6, "encoding", 3000, "sentences")
        for seconds, _ in zip((4, 4, 4, 4, 4, 40), batches, strict=False):
            now[0] += seconds
    assert caplog.messages == ["encoding: 1,500 of 3,000 sentences, 125/s, 12 s left"]


def test_the_frozen_layers_and_the_embeddings_are_not_silent(
    settings, measured, tiny_encoder, monkeypatch, caplog, tmp_path
):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr("training.encoders.backbone._TOKENS_AT_ONCE", 64)
    backbone: Backbone = load_backbone(settings, tiny_encoder, prepare_machine(settings.loop, tmp_path))
    tokens = backbone.tokenize(measured.texts)
    with caplog.at_level(logging.INFO, logger="training"):
        assert backbone.keep_states(tokens)
        backbone.embed_many(tokens, measured.first)
    for work, total in (("frozen layers", len(measured.texts)), ("encoding", len(measured))):
        done = [message for message in caplog.messages if message.startswith(f"{work}: ")]
        assert len(done) > 2
        assert all(f" of {total:,} sentences, " in message for message in done)


def test_a_package_that_is_not_installed_is_named_with_how_to_get_it(capsys):
    def run(_path):
        raise ModuleNotFoundError("No module named 'accelerate'", name="accelerate")

    assert run_process("module", "about", run, ["--settings", "job.json"]) == 1
    said = "error: The package 'accelerate' is missing: install it by `pip install 'facetflow[all]'` (FF406).\n"
    assert capsys.readouterr().err == said
