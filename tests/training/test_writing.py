"""A file system that refuses: one sentence, as early as possible, and existing files are kept."""

import resource
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from sentences import refused

from features.core import durable
from features.core.faults import RunNotWritten
from training.encoders.s3bert import train as training
from training.encoders.s3bert.train import train
from training.loop import checkpoints, course
from training.train import main
from training.writing import require_writable, whole_folder, write_json, writing, writing_file

FORBIDDEN = Path("/sys/facetflow")  # the superuser as well may not write there
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /sys and /dev/full")


@contextmanager
def no_room_beyond(size):
    """Let this process write no file beyond a size [bytes]."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@only_linux
def test_a_folder_that_may_not_be_written_is_refused_before_the_work(job, monkeypatch):
    monkeypatch.setattr(training, "_train", lambda *_: pytest.fail("the work has begun"))
    with refused(RunNotWritten):
        train(job.model_copy(update={"output": FORBIDDEN}))


def test_a_file_in_the_way_is_named(tmp_path):
    (tmp_path / "runs").write_text("")
    with refused(RunNotWritten):
        require_writable(tmp_path / "runs" / "first")
    with refused(RunNotWritten):
        write_json(tmp_path / "runs" / "first" / "x.json", {})


@only_linux
def test_a_disk_without_room_for_a_block_is_refused_before_the_work(tmp_path):
    with no_room_beyond(100), refused(RunNotWritten):
        require_writable(tmp_path / "run")


def write_to_a_full_disk(*_):
    with Path("/dev/full").open("wb", buffering=0) as file:
        file.write(b"x")


@only_linux
def test_a_disk_that_is_full_in_the_middle_leaves_the_old_checkpoint(job, tmp_path, monkeypatch, capsys, interrupt):
    assert "continue after step 5 of 27" in interrupt(6, train, job)
    checkpoint = job.output / checkpoints.FILE_NAME
    before = checkpoint.read_bytes()
    (tmp_path / "job.json").write_text(job.model_dump_json())
    with monkeypatch.context() as patched:
        patched.setattr(torch, "save", write_to_a_full_disk)
        assert main(["--settings", str(tmp_path / "job.json")]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"error: '{checkpoint}' cannot be written: the disk is full; free some space and run the same command again "
        "(FF520)."
    )
    assert checkpoint.read_bytes() == before
    assert train(job) == job.output / "encoder"


def test_half_a_checkpoint_is_removed(tmp_path):
    path = tmp_path / checkpoints.FILE_NAME
    checkpoints.save(path, {"identity": "x", "step": 1})
    with no_room_beyond(100_000), refused(RunNotWritten):
        checkpoints.save(path, {"identity": "x", "weights": torch.zeros(10**6)})
    assert checkpoints.load(path, identity="x") == {"format": checkpoints.FORMAT, "identity": "x", "step": 1}
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_of_a_rust_library_is_one_of_the_file_system():
    with refused(RunNotWritten), writing(Path("model")):
        raise ValueError("I/O error: No space left on device (os error 28)")


def test_a_link_in_a_run_leads_no_writer_elsewhere(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    files = [tmp_path / name for name in ("run.json", checkpoints.FILE_NAME, course.FILE_NAME)]
    for file in files:
        file.symlink_to(precious)
    write_json(files[0], {})
    checkpoints.save(files[1], {"identity": "x"})
    with writing_file(files[2]), files[2].open("a") as reports:
        reports.write("{}")
    assert precious.read_text() == "mine"
    assert all(file.is_file() and not file.is_symlink() for file in files)


def test_a_link_to_a_folder_on_a_disk_that_is_not_there_is_kept(tmp_path):
    link = tmp_path / "run"
    link.symlink_to(tmp_path / "disk" / "run")
    with refused(RunNotWritten):
        require_writable(link)
    with refused(RunNotWritten), whole_folder(link):
        pass
    assert link.is_symlink()


def test_another_error_is_left_alone():
    with pytest.raises(ValueError, match="a bug"), writing(Path("model")):
        raise ValueError("a bug")


def test_the_files_of_a_folder_are_forced_to_disk_before_it_appears(tmp_path, monkeypatch):
    forced: list[Path] = []
    monkeypatch.setattr(durable, "sync", lambda path: forced.append(path.relative_to(tmp_path)))
    with whole_folder(tmp_path / "encoder") as partial:
        (partial / "2_Dense").mkdir()
        (partial / "2_Dense" / "model.safetensors").write_bytes(b"weights")  # as a library writes it
    # After a power cut it would be there, finished and empty, and its checkpoint gone.
    assert Path(partial.name, "2_Dense", "model.safetensors") in forced
