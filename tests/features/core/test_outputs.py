"""Outputs: whole or not at all, in the format of their suffix or name, to files, devices and standard output."""

import gzip
import io
import os
from contextlib import suppress
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import OutputOverwrites, OutputRefused, UnknownFormat
from features.core.outputs import STANDARD, TABLE_FORMATS, check_output, format_of, whole_file, write_text


def test_a_format_by_name_by_suffix_or_the_first(tmp_path):
    assert format_of(tmp_path / "v1.2.TSV", TABLE_FORMATS) == "tsv"
    assert format_of(tmp_path / "a.jsonl.gz", TABLE_FORMATS) == "jsonl"
    assert format_of(tmp_path / "a.tsv", TABLE_FORMATS, "csv") == "csv"
    assert format_of(STANDARD, TABLE_FORMATS) == "tsv"


def test_only_formats_that_can_be_written_are_suggested(tmp_path):
    with refused(UnknownFormat):
        format_of(tmp_path / "a.pdf", {"html": (".html",), "svg": (".svg",)})
    with refused(UnknownFormat):
        format_of(tmp_path / "a.parquet.gz", TABLE_FORMATS)


def test_nothing_is_left_of_a_write_that_fails(tmp_path):
    path = tmp_path / "out.txt"
    write_text(path, ["old"])

    def parts():
        yield "new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_text(path, parts())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_are_made_and_a_suffix_compresses(tmp_path):
    write_text(tmp_path / "new" / "folder" / "a.txt.gz", ["A dog.\n"])
    zipped = (tmp_path / "new" / "folder" / "a.txt.gz").read_bytes()
    assert gzip.decompress(zipped) == b"A dog.\n"
    assert zipped[3:8] == bytes(5)  # neither name nor time, so equal texts are equal bytes


def test_bytes_reach_the_disk_before_their_name(tmp_path, monkeypatch):
    forced, fsync, replace = [], os.fsync, Path.replace

    def synced(descriptor):
        fsync(descriptor)
        forced.append(Path(f"/proc/self/fd/{descriptor}").readlink().read_bytes())

    def renamed(self, target):
        assert forced == [b"text"]
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    write_text(tmp_path / "out.txt", ["text"])
    assert (tmp_path / "out.txt").read_text() == "text"


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    write_text(link, ["text"])
    assert link.is_symlink()
    assert target.read_text() == "text"


def test_a_file_that_is_written_again_stays_as_private_as_it_was(tmp_path):
    path = tmp_path / "out.txt"
    path.touch(mode=0o600)
    write_text(path, ["text"])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    path = tmp_path / f"{'猫' * 83}.txt"
    check_output(path)
    write_text(path, ["text"])
    assert path.read_text() == "text"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path, monkeypatch):
    monkeypatch.delattr("tempfile.TemporaryFile")  # its folder may be nobody's to write to
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    unnamed, writer = os.pipe()  # as /dev/stdout often is
    for end, path in ((reader, pipe), (unnamed, Path(f"/dev/fd/{writer}"))):
        check_output(path)
        write_text(path, ["through"])
        assert os.read(end, 100) == b"through"
    assert pipe.is_fifo()
    for end in (reader, unnamed, writer):
        os.close(end)


def test_standard_output_is_written_at_the_end(capsysbinary):
    with whole_file(STANDARD) as file:
        file.write(b"all")
        assert capsysbinary.readouterr().out == b""
    assert capsysbinary.readouterr().out == b"all"


@pytest.mark.parametrize(("terminal", "seen"), [(False, b"one,two\n"), (True, b"one,two\r")])
def test_what_was_printed_before_comes_before_and_a_terminal_gets_text(monkeypatch, terminal, seen):
    with io.BytesIO() as raw, io.TextIOWrapper(raw, newline="\r") as out:
        monkeypatch.setattr("sys.stdout", out)
        monkeypatch.setattr(out, "isatty", lambda: terminal)
        out.write("one,")
        write_text(STANDARD, ["two\n"])
        assert raw.getvalue() == seen


def test_a_reader_that_has_gone_is_no_error_of_ours(monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    out = os.fdopen(writer, "w")
    monkeypatch.setattr("sys.stdout", out)
    with pytest.raises(BrokenPipeError):
        write_text(STANDARD, ["A dog.\n"] * 100_000)
    with suppress(BrokenPipeError):
        out.close()


def test_a_standard_output_that_is_full_is_one_sentence(monkeypatch):
    with open("/dev/full", "w") as out:  # noqa: PTH123 (a stream, as the shell gives it)
        monkeypatch.setattr("sys.stdout", out)
        with refused(OutputRefused):
            write_text(STANDARD, ["A dog.\n"])


def test_what_cannot_be_written_is_one_sentence_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    for write in (check_output, lambda path: write_text(path, ["text"])):
        with refused(OutputRefused):
            write(tmp_path)
    with refused(OutputRefused):
        check_output(tmp_path / "file" / "out.txt")
    check_output(tmp_path / "new" / "folder" / "out.txt")
    check_output(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    # The superuser may write anywhere but here.
    for path in ("/sys/out.txt", "/sys/new/out.txt"):
        with refused(OutputRefused):
            check_output(Path(path))


def test_a_full_disk_is_one_sentence():
    with refused(OutputRefused):
        write_text(Path("/dev/full"), ["text"])


def test_an_output_that_is_named_twice_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.tsv"
    (tmp_path / "link.tsv").symlink_to(file)
    for path in (file, Path("a.tsv"), tmp_path / "link.tsv"):
        with refused(OutputOverwrites):
            check_output(path, STANDARD, file)
    check_output(file, tmp_path / "b.tsv", STANDARD)
    check_output(STANDARD, STANDARD)
    check_output(tmp_path / "-", STANDARD)
    check_output(Path(os.devnull), Path(os.devnull))


def test_a_check_that_is_killed_leaves_nothing_that_refuses_the_next(tmp_path, monkeypatch):
    with monkeypatch.context() as killed, suppress(KeyboardInterrupt):
        killed.setattr(Path, "unlink", interrupt)
        check_output(tmp_path / "out.txt")
    check_output(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_command_had_half_written_goes_with_the_next_one(tmp_path):
    other = tmp_path / ".out [1].txt.backup.tmp"
    other.write_text("of somebody else")
    (tmp_path / ".out [1].txt.0123abcd.tmp").write_text("half")
    write_text(tmp_path / "out [1].txt", ["whole"])
    assert {path.name for path in tmp_path.iterdir()} == {other.name, "out [1].txt"}


def interrupt(*_, **__):
    raise KeyboardInterrupt
