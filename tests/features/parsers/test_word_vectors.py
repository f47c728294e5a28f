import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.errors import FacetflowError
from features.core.faults import Conflict, FileEmpty, FileMissing, RowWrong
from features.metrics.label_vectors import LabelVectors
from features.parsers.label_vectors import TextVectors, load
from features.parsers.settings import LabelVectorSettings
from features.schemas import LABEL_VECTORS
from features.stages.label_vectors import embed_labels

AMR_ROWS = pl.DataFrame(
    {"concepts": [["want-01", "boy"], ["boy", "natural-disaster"]], "attribute_values": [["-", '"New York"'], []]},
    schema={"concepts": pl.List(pl.String), "attribute_values": pl.List(pl.String)},
)
WORDS = ["-", "boy", "disaster", "natural", "new", "want", "york"]


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("boy 3 0 4\nwant 0 2 0\n. . . 1 1 1\nboy 9 9 9\nzero 0 0 0\n")
    return path


def test_a_text_file(glove: Path) -> None:
    words, matrix = TextVectors(glove).look_up(["want", "unknown", "boy", ". . .", "zero"])
    assert words == ["want", "boy", ". . ."]
    np.testing.assert_allclose(matrix, [[0, 1, 0], [0.6, 0, 0.8], [3**-0.5] * 3], rtol=1e-6)
    assert matrix.dtype == np.float32


def test_a_compressed_file_with_counts_in_its_first_line(glove: Path, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"5 3\n" + glove.read_bytes()))
    np.testing.assert_array_equal(TextVectors(path).look_up(["boy"])[1], TextVectors(glove).look_up(["boy"])[1])


def test_labels_are_looked_up_by_their_words(glove: Path) -> None:
    output = embed_labels(AMR_ROWS, load(LabelVectorSettings(backend="glove", file=glove)))
    assert output.rows.schema == pl.Schema(LABEL_VECTORS)
    assert output.rows["label"].to_list() == ["boy", "want"]
    assert LabelVectors.from_rows(output.rows)


def test_a_file_without_any_of_the_words(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("nothing 1 2\n")
    output = embed_labels(AMR_ROWS, TextVectors(tmp_path / "other.txt"))
    assert output.rows.height == 0
    assert LabelVectors.from_rows(output.rows)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("boy 1 2\ngirl 1 x\n", RowWrong),
        ("boy 1 2\n3\n", RowWrong),
        ("boy 1 2\n3 4\n", RowWrong),
        ("boy 1 nan\n", RowWrong),
        ("zero 0 0\n", FileEmpty),
        ("word\n", RowWrong),
    ],
)
def test_a_file_that_is_something_else(content: str, fault: type[FacetflowError], tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text(content)
    with refused(fault):
        TextVectors(tmp_path / "bad.txt")


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with refused(FileMissing):
        load(LabelVectorSettings(backend="glove", file=tmp_path / "missing.txt"))


def test_file_and_backend_go_together(tmp_path: Path) -> None:
    with refused(Conflict):
        LabelVectorSettings(backend="glove")
    with refused(Conflict):
        LabelVectorSettings(file=tmp_path / "x.txt")


@pytest.mark.slow
def test_the_encoder_knows_every_word(encoder_name: str) -> None:
    vectors = load(LabelVectorSettings(model=encoder_name, device="cpu"))
    output = embed_labels(AMR_ROWS, vectors)
    assert output.rows["label"].to_list() == WORDS
    assert output.rejects.height == 0
    matrix = np.stack(output.rows["vector"].to_list())
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-6)
    again = embed_labels(AMR_ROWS.head(1), vectors).rows
    shared = output.rows.join(again, on="label")
    assert shared.height == 5
    assert shared["vector"].to_list() == shared["vector_right"].to_list()


@pytest.mark.slow
def test_cat_is_nearer_to_kitten_than_to_idea(encoder_name: str) -> None:
    _, (cat, kitten, idea) = load(LabelVectorSettings(model=encoder_name, device="cpu")).look_up(
        ["cat", "kitten", "idea"]
    )
    assert cat @ kitten > cat @ idea + 0.2


@pytest.mark.slow
def test_a_shard_without_graphs(encoder_name: str) -> None:
    output = embed_labels(AMR_ROWS.clear(), load(LabelVectorSettings(model=encoder_name, device="cpu")))
    assert output.rows.schema == pl.Schema(LABEL_VECTORS)
    assert output.rows.height == 0


def test_a_file_that_was_replaced_is_read_again(glove: Path) -> None:
    settings = LabelVectorSettings(backend="glove", file=glove)
    assert load(settings) is load(settings)
    glove.write_text("boy 1 0\n")
    assert load(settings).look_up(["boy"])[1].tolist() == [[1, 0]]
