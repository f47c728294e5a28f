"""Embeddings of a file: what the rows hold, what a killed run keeps, and that nothing of it changes the result."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
import torch
from sentences import refused

from features.core.faults import (
    AnotherProcess,
    DeviceMissing,
    FileChanged,
    FileEmpty,
    FileMissing,
    NotAFile,
    UnknownFormat,
    UnknownName,
)
from features.core.locks import only_one
from training import encoded_files
from training.encoded_files import encode_file
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import plan_layout

WORDS = ("a", "cat", "dog", "in", "the", "park", "house", "two")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of eight rows, so that a short file has several."""
    monkeypatch.setattr(encoded_files, "_PART", 8)


@pytest.fixture
def model(tiny_encoder):
    """Load the tiny encoder."""
    return load_encoder(tiny_encoder, device="cpu")


@pytest.fixture
def source(tmp_path):
    """Write 30 texts, one of them empty."""
    texts = [" ".join(WORDS[(n * k) % len(WORDS)] for k in range(1, 2 + n % 5)) for n in range(30)]
    texts[11] = ""
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(texts) + "\n")
    return file


def test_each_row_has_the_vector_that_encoding_gives(model, tiny_encoder, source, tmp_path):
    counted = []
    made = encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", on_rows=lambda *of: counted.append(of))
    assert (made.rows, made.empty, made.wrong) == (30, 1, ())
    assert counted == [(0, 30), (8, 30), (16, 30), (24, 30), (30, 30)]
    table = pl.read_parquet(tmp_path / "v.parquet")
    assert table["id"].to_list() == [str(n) for n in range(1, 31)]
    assert table["text"].to_list() == source.read_text().split("\n")[:-1]
    assert table["vector"].is_null().arg_true().to_list() == [11]
    kept = table.drop_nulls()
    np.testing.assert_allclose(kept["vector"].to_numpy(), model.encode(kept["text"].to_list()), atol=1e-6)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("v.")) == ["v.parquet"]


def test_texts_longer_than_the_input_are_counted(model, tiny_encoder, source, tmp_path):
    model.max_seq_length = 2 + 3
    longer = sum(len(text.split()) > 3 for text in source.read_text().splitlines())
    for _ in range(2):  # the second finds nothing to do but the joining
        assert encode_file(model, tiny_encoder, source, tmp_path / "vectors.parquet").cut == longer > 0


@pytest.mark.parametrize("precision", ["float32", "float16", "int8", "binary"])
@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_stopped_run_goes_on_to_the_same_bytes(model, tiny_encoder, source, tmp_path, precision, calls, monkeypatch):
    expected, output = tmp_path / "undisturbed.parquet", tmp_path / "v.parquet"
    encode_file(model, tiny_encoder, source, expected, precision=precision)
    encode, left = model.encode, iter(range(calls))

    def stopping(*given, **options):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return encode(*given, **options)

    monkeypatch.setattr(model, "encode", stopping)
    with pytest.raises(KeyboardInterrupt):
        encode_file(model, tiny_encoder, source, output, precision=precision)
    assert not output.exists()
    again = []
    monkeypatch.setattr(model, "encode", lambda texts, **options: again.append(1) or encode(texts, **options))
    encode_file(model, tiny_encoder, source, output, precision=precision)
    assert len(again) == 4 - calls
    assert output.read_bytes() == expected.read_bytes()


def test_a_run_killed_while_it_removes_its_parts_does_not_go_on_from_what_is_left(
    model, tiny_encoder, source, tmp_path, monkeypatch
):
    expected, output = tmp_path / "undisturbed.parquet", tmp_path / "v.parquet"
    encode_file(model, tiny_encoder, source, expected, precision="int8")

    def killed(folder, **_):
        if (folder / "ranges.npy").exists():  # not where it removes what an earlier run may have left
            (folder / "ranges.npy").unlink()
            (folder / "00001.parquet").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            encode_file(model, tiny_encoder, source, output, precision="int8")
    encode_file(model, tiny_encoder, source, output, precision="int8")
    assert output.read_bytes() == expected.read_bytes()


@pytest.mark.soak
def test_a_killed_process_goes_on_to_the_same_bytes(model, tiny_encoder, source, tmp_path):
    expected, output = tmp_path / "undisturbed.parquet", tmp_path / "v.parquet"
    encode_file(model, tiny_encoder, source, expected)
    killed = f"""
import os, signal
from pathlib import Path
from training import encoded_files
from training.encoders.loading import load_encoder
encoded_files._PART = 8
folder = Path({str(tiny_encoder)!r})
def stop(done, total):
    if done >= 16:
        os.kill(os.getpid(), signal.SIGKILL)
source, output = Path({str(source)!r}), Path({str(output)!r})
encoded_files.encode_file(load_encoder(folder, device="cpu"), folder, source, output, on_rows=stop)
"""
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == -9
    assert len(list(tmp_path.glob("v.parquet.parts/*.parquet"))) == 2
    encode_file(model, tiny_encoder, source, output)
    assert output.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("rows", [8, 4])  # of the parts that are made afterwards
def test_parts_of_other_texts_or_of_another_size_are_not_used(model, tiny_encoder, source, tmp_path, rows, monkeypatch):
    output = tmp_path / "v.parquet"

    def stop(done, total):
        if done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_file(model, tiny_encoder, source, output, on_rows=stop)
    if rows == 8:
        source.write_text("two cat\n" + source.read_text())
    monkeypatch.setattr(encoded_files, "_PART", rows)
    encode_file(model, tiny_encoder, source, output)
    assert pl.read_parquet(output)["text"].to_list() == source.read_text().split("\n")[:-1]


def test_a_file_that_changes_while_it_is_encoded_is_refused_and_no_part_of_it_kept(
    model, tiny_encoder, source, tmp_path
):
    whole, output = source.read_text(), tmp_path / "v.parquet"

    def cut(done, _total):
        if not done:
            source.write_text(whole[:100])

    with refused(FileChanged):
        encode_file(model, tiny_encoder, source, output, on_rows=cut)
    assert not output.exists()
    source.write_text(whole)  # as a copy is cut off while it is written
    encode_file(model, tiny_encoder, source, output)
    assert pl.read_parquet(output)["text"].to_list() == whole.split("\n")[:-1]


def test_a_file_that_grows_while_it_is_encoded_has_the_rows_that_it_had(model, tiny_encoder, source, tmp_path):
    whole, output = source.read_text(), tmp_path / "v.parquet"

    def grow(done, _total):
        if not done:
            source.write_text(f"{whole}two cat\n")

    assert encode_file(model, tiny_encoder, source, output, on_rows=grow).rows == 30
    assert pl.read_parquet(output)["text"].to_list() == whole.split("\n")[:-1]


def test_int8_goes_on_where_no_text_was_encoded_yet(model, tiny_encoder, source, tmp_path):
    source.write_text("\n" * 8 + source.read_text())

    def stop(done, total):
        if done == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", precision="int8", on_rows=stop)
    encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", precision="int8")
    assert pl.read_parquet(tmp_path / "v.parquet")["vector"].null_count() == 9


def test_facets_are_columns_of_their_own(model, tiny_encoder, source, tmp_path):
    d = model.get_embedding_dimension()
    layout = plan_layout(["smatch", "srl"], width=2, dimension=d)
    encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", layout=layout)
    table = pl.read_parquet(tmp_path / "v.parquet").drop_nulls()
    assert table.columns == ["id", "text", "residual", "smatch", "srl"]
    vectors = model.encode(table["text"].to_list())
    np.testing.assert_allclose(table["srl"].to_numpy(), vectors[:, 2:4], atol=1e-6)
    np.testing.assert_allclose(table["residual"].to_numpy(), vectors[:, 4:], atol=1e-6)


def test_int8_returns_to_nearly_the_same_vectors_by_the_ranges_in_the_file(model, tiny_encoder, source, tmp_path):
    encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", precision="int8")
    made = json.loads(pq.read_schema(tmp_path / "v.parquet").metadata[b"facetflow"])
    low, high = np.array(made["ranges"])
    table = pl.read_parquet(tmp_path / "v.parquet").drop_nulls()
    back = (table["vector"].to_numpy().astype(np.float64) + 128) * (high - low) / 255 + low
    exact = model.encode(table["text"].to_list())
    np.testing.assert_allclose(back, np.clip(exact, low, high), atol=float((high - low).max()) / 128)


def test_rows_of_a_table_keep_their_ids_and_wrong_ones_their_place(model, tiny_encoder, tmp_path):
    (tmp_path / "t.tsv").write_text("id\tabout\nx\ta cat\ny\ta dog\tmore\n\ttwo dog\n")
    made = encode_file(model, tiny_encoder, tmp_path / "t.tsv", tmp_path / "v.parquet", columns=("about",))
    table = pl.read_parquet(tmp_path / "v.parquet")
    assert (made.rows, made.empty, len(made.wrong)) == (3, 0, 1)
    assert table["vector"].is_null().to_list() == [False, True, False]
    assert table["id"].to_list() == ["x", "row 2", "row 3"]


def test_what_cannot_be_encoded_is_refused(model, tiny_encoder, source, tmp_path):
    (tmp_path / "empty.txt").write_text("\n\n")
    with refused(FileEmpty):
        encode_file(model, tiny_encoder, tmp_path / "empty.txt", tmp_path / "v.parquet")
    (tmp_path / "wrong.tsv").write_text("text\tother\na cat\n")
    with refused(FileEmpty) as fault:
        encode_file(model, tiny_encoder, tmp_path / "wrong.tsv", tmp_path / "v.parquet")
    assert "line 2: the row has 1 cell" in str(fault.value)
    (tmp_path / "mac.tsv").write_bytes(b"text\tid\ra cat\t1\ra dog\t2\r")
    with refused(FileEmpty) as fault:
        encode_file(model, tiny_encoder, tmp_path / "mac.tsv", tmp_path / "v.parquet")
    assert "with a carriage return alone: save it with line feeds" in str(fault.value)
    os.mkfifo(tmp_path / "pipe.txt")
    with refused(NotAFile):
        encode_file(model, tiny_encoder, tmp_path / "pipe.txt", tmp_path / "v.parquet")
    with refused(FileMissing):
        encode_file(model, tiny_encoder, tmp_path / "gone.txt", tmp_path / "v.parquet")
    with refused(UnknownFormat):
        encode_file(model, tiny_encoder, source, tmp_path / "v.csv")
    with refused(UnknownName):
        encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", precision="float8")
    with only_one(tmp_path / "v.parquet.parts.lock", "A test"), refused(AnotherProcess):
        encode_file(model, tiny_encoder, source, tmp_path / "v.parquet")


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_several_processes_encode_on_the_device_of_the_encoder(
    model, tiny_encoder, source, tmp_path, device, monkeypatch
):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(type(model), "device", torch.device(device))
    started, returned = [], []
    monkeypatch.setattr(model, "start_multi_process_pool", lambda devices: started.extend(devices) or 1 / 0)
    monkeypatch.setattr(model, "to", returned.append)
    with pytest.raises(ZeroDivisionError):
        encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", processes=2)
    assert started == (["cpu", "cpu"] if device == "cpu" else ["cuda:0", "cuda:1"])
    assert returned == [torch.device(device)]
    if device == "cuda":
        with refused(DeviceMissing):
            encode_file(model, tiny_encoder, source, tmp_path / "v.parquet", processes=3)


@pytest.mark.soak
def test_several_processes_give_the_same_vectors(model, tiny_encoder, source, tmp_path):
    encode_file(model, tiny_encoder, source, tmp_path / "one.parquet")
    encode_file(model, tiny_encoder, source, tmp_path / "two.parquet", processes=2)
    one, two = (pl.read_parquet(tmp_path / name).drop_nulls() for name in ("one.parquet", "two.parquet"))
    assert one["id"].equals(two["id"])
    np.testing.assert_allclose(one["vector"].to_numpy(), two["vector"].to_numpy(), atol=1e-6)
