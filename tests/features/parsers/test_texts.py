from pathlib import Path

import penman
import polars as pl
import pytest

from features.errors import InputError
from features.graphs.penman_files import read_blocks
from features.graphs.table import encode
from features.parsers import texts
from features.sentences import sentence_id
from features.store.schemas import DEPENDENCIES

GRAPH = '(w / want-01\n   :ARG0 (b / boy :name (n / name :op1 "Jo  B."))\n   :ARG1 b)'


@pytest.fixture
def sentences(tmp_path: Path) -> pl.DataFrame:
    (tmp_path / "in.txt").write_text("A  boy wants.\n\n  \nYes\nA boy wants.\n", encoding="utf-8")
    return texts.read_sentences(tmp_path / "in.txt")


@pytest.fixture
def amr(sentences: pl.DataFrame) -> pl.DataFrame:
    return encode(sentences["sentence_id"].to_list(), [GRAPH, "(y / yes)", GRAPH], "test").rows


@pytest.fixture
def trees() -> pl.DataFrame:
    row = {"sentence_id": sentence_id("A boy wants."), "parser": "test", "tokens": ["A", "boy", "wants", "."]}
    row |= {"lemmas": ["a", "boy", "want", "."], "tags": ["DT", "NN", "VBZ", "."], "starts": [0, 2, 6, 11]}
    return pl.DataFrame(
        [row | {"heads": [1, 2, 2, 2], "relations": ["det", "nsubj", "ROOT", "punct"]}], schema=DEPENDENCIES
    )


def test_a_sentence_a_line(sentences: pl.DataFrame) -> None:
    same = sentence_id("A boy wants.")
    assert sentences.rows() == [(1, same, "A boy wants."), (4, sentence_id("Yes"), "Yes"), (5, same, "A boy wants.")]


@pytest.mark.parametrize("content", ["\n \n", ""])
def test_a_file_without_a_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "in.txt").write_text(content)
    with pytest.raises(InputError, match=r"in\.txt"):
        texts.read_sentences(tmp_path / "in.txt")


@pytest.mark.parametrize("suffix", [".amr", ".penman", ".txt"])
def test_graphs_as_penman_can_be_read_again(
    suffix: str, amr: pl.DataFrame, sentences: pl.DataFrame, tmp_path: Path
) -> None:
    path = tmp_path / f"out{suffix}"
    texts.write_amr(amr, sentences, path)
    blocks = list(read_blocks(path))
    assert [block.metadata["snt"] for block in blocks] == ["A boy wants.", "Yes", "A boy wants."]
    assert [block.metadata["id"] for block in blocks] == sentences["sentence_id"].to_list()
    assert [block.text for block in blocks] == [GRAPH, "(y / yes)", GRAPH]
    assert len(penman.load(path)) == 3


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_graphs_as_a_table(suffix: str, amr: pl.DataFrame, sentences: pl.DataFrame, tmp_path: Path) -> None:
    from features.files import read_table

    path = tmp_path / f"out{suffix}"
    texts.write_amr(amr, sentences, path)
    table = read_table(path, ["sentence_id", "text", "penman", "parser"])
    assert table["text"].to_list() == sentences["text"].to_list()
    assert "\n" not in table["penman"][0]
    assert penman.decode(table["penman"][0]).triples == penman.decode(GRAPH).triples


def test_trees_as_conllu(trees: pl.DataFrame, sentences: pl.DataFrame, tmp_path: Path) -> None:
    texts.write_dependencies(trees, sentences, tmp_path / "out.conllu")
    lines = (tmp_path / "out.conllu").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "# text = A boy wants."
    assert [line.split("\t")[6:8] for line in lines[2:-1]] == [
        ["2", "det"], ["3", "nsubj"], ["0", "ROOT"], ["3", "punct"],
    ]  # fmt: skip
    assert {len(line.split("\t")) for line in lines[2:-1]} == {10}
    assert lines[-1] == ""


def test_trees_as_a_table_of_tokens(trees: pl.DataFrame, sentences: pl.DataFrame, tmp_path: Path) -> None:
    from features.files import read_table

    texts.write_dependencies(trees, sentences, tmp_path / "out.tsv")
    table = read_table(tmp_path / "out.tsv")
    assert table.columns == ["sentence_id", "position", "token", "lemma", "tag", "start", "head", "relation"]
    assert table["token"].to_list() == ["A", "boy", "wants", "."]
    assert table["head"].to_list() == [1, 2, 2, 2]


def test_an_unknown_suffix_is_refused_before_the_work() -> None:
    with pytest.raises(InputError, match="suffix"):
        texts.check_amr_output(Path("out.xyz"))
    with pytest.raises(InputError, match="suffix"):
        texts.check_dependency_output(Path("out.amr"))


def test_a_folder_that_is_missing(amr: pl.DataFrame, sentences: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        texts.write_amr(amr, sentences, tmp_path / "missing" / "out.amr")
