"""Files of vectors are searched as the vectors themselves would be, in every format; others' are refused."""

import gzip
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentences import refused

from features.core.faults import FileEmpty, RecordUnreadable, VectorsWrong
from training import encoded_files
from training.encoded_files import encode_file
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import FILE_NAME, WHOLE, plan_layout
from training.nearest import unit
from training.search import blocks
from training.search.blocks import EncodedFile, VectorBlocks, best_texts, facet_cosines, weighted_scores
from training.search.texts import texts_of_file, texts_of_folder
from training.search.vectors import embed

WORDS = ("a", "cat", "dog", "in", "the", "park", "house", "two")
WITHIN = {"float32": 1e-5, "float16": 2e-3, "int8": 3e-2}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Several parts of a file, and several blocks of an array."""
    monkeypatch.setattr(encoded_files, "_PART", 8)
    monkeypatch.setattr(blocks, "_ROWS", 64)


@pytest.fixture
def layout(model):
    return plan_layout(["smatch", "srl"], width=4, dimension=model.get_embedding_dimension())


@pytest.fixture
def model(tiny_encoder):
    return load_encoder(tiny_encoder, device="cpu")


@pytest.fixture
def encoder(tiny_encoder, layout, tmp_path):
    """A folder of an encoder with facets."""
    folder = tmp_path / "faceted"
    shutil.copytree(tiny_encoder, folder)
    (folder / FILE_NAME).write_text(layout.text())
    return folder


@pytest.fixture
def source(tmp_path):
    """Write 30 texts, one of them empty."""
    texts = [" ".join(WORDS[(n * k) % len(WORDS)] for k in range(1, 2 + n % 5)) for n in range(30)]
    texts[11] = ""
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(texts) + "\n")
    return file


@pytest.mark.parametrize("precision", WITHIN)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("with_facets", [False, True])
def test_a_file_is_searched_like_its_vectors(model, encoder, layout, source, tmp_path, precision, suffix, with_facets):
    file = tmp_path / f"v.{suffix}"
    encode_file(model, encoder, source, file, precision=precision, layout=layout if with_facets else None)
    searched = texts_of_file(file)
    texts = [text for text in source.read_text().split("\n") if text]
    assert list(searched.texts) == texts == searched.texts[:]
    assert (searched.ids[10], searched.ids[11], len(searched), searched.empty) == ("11", "13", 29, 1)
    vectors, query = searched.encoded.vectors(encoder, None), embed(model, ["two dog in the park"])
    exact = model.encode(texts)
    if precision == "int8":  # the ranges are those of the first part
        exact = np.clip(exact, *np.array(searched.encoded.made["ranges"], np.float32))
    np.testing.assert_allclose(vectors.vectors(), exact, atol=WITHIN[precision])
    np.testing.assert_array_equal(vectors.vectors([20, 3]), vectors.vectors()[[20, 3]])
    np.testing.assert_allclose(vectors.cosines(query), unit(exact) @ query[0], atol=WITHIN[precision])
    names = ["srl", "residual", WHOLE]
    of_array = facet_cosines(query, VectorBlocks.of(exact), layout, names)
    np.testing.assert_allclose(facet_cosines(query, vectors, layout, names), of_array, atol=3 * WITHIN[precision])
    scores = weighted_scores(query, vectors, layout, {"srl": 2, "smatch": -1})
    assert list(best_texts(scores, 4)) == sorted(range(29), key=lambda n: (-round(float(scores[n]), 6), n))[:4]


def test_int8_is_read_to_half_a_step(model, encoder, source, tmp_path):
    encode_file(model, encoder, source, tmp_path / "v.parquet", precision="int8")
    searched = texts_of_file(tmp_path / "v.parquet")
    low, high = np.array(searched.encoded.made["ranges"], np.float32)
    apart = searched.encoded.vectors(encoder, None).vectors() - np.clip(model.encode(searched.texts[:]), low, high)
    assert (np.abs(apart) <= 0.501 * (high - low) / 255 + 1e-6).all()


def test_cosines_of_an_array_are_those_of_unit_vectors():
    rng = np.random.default_rng(0)
    vectors, query = rng.normal(size=(500, 12)).astype(np.float32), rng.normal(size=(1, 12)).astype(np.float32)
    vectors[7] = 0
    of = VectorBlocks.of(vectors)
    for some in (slice(None), slice(3, 7)):
        expected = unit(vectors[:, some]) @ unit(query[:, some])[0]
        np.testing.assert_allclose(of.cosines(query, some), expected, atol=1e-6)


def test_vectors_of_another_encoder_or_route_and_bare_signs_are_refused(model, encoder, source, tmp_path):
    encode_file(model, encoder, source, tmp_path / "v.parquet")
    encode_file(model, encoder, source, tmp_path / "signs.parquet", precision="binary")
    with refused(VectorsWrong):
        EncodedFile.open(tmp_path / "v.parquet").vectors(encoder, "animal")
    with refused(VectorsWrong):
        EncodedFile.open(tmp_path / "signs.parquet").vectors(encoder, None)
    (encoder / FILE_NAME).write_text("{}")
    with refused(VectorsWrong):
        EncodedFile.open(tmp_path / "v.parquet").vectors(encoder, None)


def test_a_file_of_a_folder_without_a_text_is_named_and_left_out(tmp_path):
    for name, content in (("a.txt", "A boy.\n"), ("begun.txt", ""), ("blank.tsv", "text\n\n")):
        (tmp_path / name).write_text(content)
    read = texts_of_folder(tmp_path)
    assert (read.texts, read.ids, len(read.wrong)) == (("A boy.",), ("a.txt:1",), 2)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress((tmp_path / "a.txt").read_bytes()))
    assert texts_of_folder(tmp_path).ids == ("a.txt:1", "a.txt.gz:1")
    for file in tmp_path.glob("a.*"):
        file.unlink()
    with pytest.raises(FileEmpty):
        texts_of_folder(tmp_path)


def test_columns_are_those_of_the_tables_of_a_folder_which_has_lines_of_text_beside_them(tmp_path):
    (tmp_path / "a.txt").write_text("A boy.\n")
    (tmp_path / "b.tsv").write_text("title\tyear\nA girl.\t1\n")
    assert texts_of_folder(tmp_path, ["title"]).texts == ("A boy.", "A girl.")


def test_other_tables_are_read_as_texts_and_other_arrow_files_refused(model, encoder, layout, source, tmp_path):
    table = pa.table({"id": ["x"], "text": ["a cat"]})
    pq.write_table(table, tmp_path / "plain.parquet")
    assert texts_of_file(tmp_path / "plain.parquet").encoded is None
    for name, content in (("other.arrow", table), ("damaged.arrow", None)):
        if content is None:
            (tmp_path / name).write_bytes(b"ARROW1 but no more")
        else:
            with pa.ipc.new_file(tmp_path / name, table.schema) as writer:
                writer.write_table(table)
        with refused(RecordUnreadable):
            texts_of_file(tmp_path / name)
    folder = tmp_path / "folder"
    folder.mkdir()
    encode_file(model, encoder, source, folder / "v.parquet")
    assert texts_of_folder(folder).encoded is None
    file = tmp_path / "facets.parquet"
    encode_file(model, encoder, source, file, layout=layout)
    opened = EncodedFile.open(file)
    file.write_bytes(file.read_bytes()[:1000])
    with refused(RecordUnreadable):
        opened.cells("text")


def test_a_column_that_was_added_to_vectors_is_no_vector_and_one_that_was_removed_is_missed(
    model, encoder, source, tmp_path
):
    file = tmp_path / "v.parquet"
    encode_file(model, encoder, source, file)
    table = pq.read_table(file)
    pq.write_table(table.append_column("year", pa.array(range(len(table)))), file)
    opened = EncodedFile.open(file)
    np.testing.assert_array_equal(opened.rows, np.flatnonzero(table["vector"].is_valid()))
    assert opened.vectors(encoder, None).vectors().shape[0] == len(opened.rows)
    pq.write_table(table.drop_columns("vector"), file)
    with refused(RecordUnreadable):
        texts_of_file(file)


def test_a_damaged_text_of_vectors_ends_no_process(model, encoder, source, tmp_path):
    file = tmp_path / "v.arrow"
    encode_file(model, encoder, source, file)
    texts = source.read_text().split("\n")[:3]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32).tobytes()
    content = file.read_bytes()
    assert offsets in content
    file.write_bytes(content.replace(offsets, offsets[:4] + b"\xff\xff\xff\x7f" + offsets[8:], 1))
    with pytest.raises(pa.ArrowInvalid):
        str(EncodedFile.open(file).cells("text")[0])
