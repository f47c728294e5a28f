"""Output of one-shot parsing: each format has a place for rejects, which are recognised as such."""

from pathlib import Path

import penman
import polars as pl
import pytest
from sentences import refused

from features.core.faults import OutputRefused, UnknownFormat
from features.core.files import read_table
from features.core.types import RejectCode
from features.graphs.batch import encode
from features.graphs.penman_files import read_blocks
from features.parsers.parsed_files import FORMATS, write_parsed
from features.parsers.srl.frames import read_annotated
from features.parsers.texts import parse_lines, read_sentences
from features.schemas import DEPENDENCIES, SRL, Reject, StageOutput, rejects_frame
from features.sentences import sentence_id

GRAPH = '(w / want-01\n   :ARG0 (b / boy :name (n / name :op1 "Jo  B."))\n   :ARG1 b)'
WANTS = sentence_id("A boy wants.")
TREE = {
    "sentence_id": WANTS,
    "parser": "test",
    "tokens": ["A", "boy", "wants", "."],
    "lemmas": ["a", "boy", "want", "."],
    "tags": ["DT", "NN", "VBZ", "."],
    "starts": [0, 2, 6, 11],
    "heads": [1, 2, 2, 2],
    "relations": ["det", "nsubj", "ROOT", "punct"],
}
FRAMES = {
    "sentence_id": WANTS,
    "parser": "test",
    "words": ["A", "boy", "wants", "."],
    "predicates": [2],
    "span_frames": [0, 0],
    "span_labels": ["ARG0", "V"],
    "span_starts": [0, 2],
    "span_ends": [2, 3],
}
TABLES = [".tsv", ".csv", ".jsonl", ".parquet"]


def parsed(folder: Path, rows: pl.DataFrame) -> pl.DataFrame:
    """Return a file of four lines, parsed: a sentence, an empty line, a reject, the sentence again."""
    (folder / "in.txt").write_text("A  boy wants.\n\nWhy?\nA boy wants.\n")
    why = Reject(sentence_id("Why?"), RejectCode.PARSER_FAILED, "a\tquestion\nof two lines")
    return parse_lines(read_sentences(folder / "in.txt"), lambda _: StageOutput(rows, rejects_frame([why])))


@pytest.fixture
def graphs(tmp_path: Path) -> pl.DataFrame:
    return parsed(tmp_path, encode([WANTS], [GRAPH], "test").rows)


@pytest.fixture
def trees(tmp_path: Path) -> pl.DataFrame:
    return parsed(tmp_path, pl.DataFrame([TREE], schema=DEPENDENCIES))


@pytest.fixture
def frames(tmp_path: Path) -> pl.DataFrame:
    return parsed(tmp_path, pl.DataFrame([FRAMES], schema=SRL))


@pytest.mark.parametrize("suffix", [".amr", ".penman", ".txt", ".amr.gz"])
def test_graphs_as_penman_can_be_read_again(suffix: str, graphs: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / f"out{suffix}"
    write_parsed("amr", graphs, path)
    blocks = list(read_blocks(path))
    assert [block.metadata["id"] for block in blocks] == ["1", "2", "3", "4"]
    assert [block.metadata["snt"] for block in blocks] == ["A boy wants.", "", "Why?", "A boy wants."]
    assert [block.text for block in blocks] == [GRAPH, "", "", GRAPH]
    assert [block.error and block.error.code for block in blocks] == [None, "empty_sentence", "parser_failed", None]
    if suffix != ".amr.gz":
        assert len(penman.load(path)) == 2


def test_a_blank_line_in_a_graph_makes_no_second_block(tmp_path: Path) -> None:
    graph = parsed(tmp_path, encode([WANTS], ["(w / want-01\n\n  :ARG0 (b / boy))"], "test").rows)
    write_parsed("amr", graph, tmp_path / "out.amr")
    assert [block.metadata.get("id") for block in read_blocks(tmp_path / "out.amr")] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("suffix", TABLES)
def test_graphs_as_a_table(suffix: str, graphs: pl.DataFrame, tmp_path: Path) -> None:
    write_parsed("amr", graphs, tmp_path / f"out{suffix}")
    table = read_table(tmp_path / f"out{suffix}", ["id", "text", "penman", "parser", "code"])
    assert table["id"].cast(pl.String).to_list() == ["1", "2", "3", "4"]
    assert table["code"].to_list() == [None, "empty_sentence", "parser_failed", None]
    assert [graph is None for graph in table["penman"]] == [False, True, True, False]
    assert "\n" not in table["penman"][0]
    assert penman.decode(table["penman"][0]).triples == penman.decode(GRAPH).triples


def test_trees_as_conllu(trees: pl.DataFrame, tmp_path: Path) -> None:
    write_parsed("dependencies", trees, tmp_path / "out.conllu")
    first, empty, why, again = (tmp_path / "out.conllu").read_text(encoding="utf-8").removesuffix("\n\n").split("\n\n")
    assert first.splitlines()[:2] == ["# sent_id = 1", "# text = A boy wants."]
    assert [line.split("\t")[6:8] for line in first.splitlines()[2:]] == [
        ["2", "det"], ["3", "nsubj"], ["0", "ROOT"], ["3", "punct"],
    ]  # fmt: skip
    assert {len(line.split("\t")) for line in first.splitlines()[2:]} == {10}
    assert empty.splitlines()[::2] == ["# sent_id = 2", "# reject = empty_sentence: the sentence is empty"]
    assert why.splitlines()[1:] == ["# text = Why?", "# reject = parser_failed: a question of two lines"]
    assert again.splitlines()[2:] == first.splitlines()[2:]


def test_what_a_pipeline_does_not_provide_is_an_underscore_in_conllu(tmp_path: Path) -> None:
    tree = parsed(tmp_path, pl.DataFrame([TREE | {"lemmas": [""] * 4, "tags": [""] * 4}], schema=DEPENDENCIES))
    write_parsed("dependencies", tree, tmp_path / "out.conllu")
    first = (tmp_path / "out.conllu").read_text(encoding="utf-8").splitlines()[2]
    assert first.split("\t") == ["1", "A", "_", "_", "_", "_", "2", "det", "_", "Start=0"]


@pytest.mark.parametrize("suffix", TABLES)
def test_trees_as_a_table_of_tokens(suffix: str, trees: pl.DataFrame, tmp_path: Path) -> None:
    write_parsed("dependencies", trees, tmp_path / f"out{suffix}")
    table = read_table(tmp_path / f"out{suffix}")
    assert table.columns == [
        *("id", "position", "token", "lemma", "tag", "start", "head", "relation", "code", "message"),
    ]  # fmt: skip
    assert table["token"].to_list() == [*TREE["tokens"], None, None, *TREE["tokens"]]
    assert table["head"].to_list() == [1, 2, 2, 2, None, None, 1, 2, 2, 2]
    assert table["id"].cast(pl.String).to_list() == [*["1"] * 4, "2", "3", *["4"] * 4]


def test_frames_as_columns(frames: pl.DataFrame, tmp_path: Path) -> None:
    write_parsed("srl", frames, tmp_path / "out.conll")
    read = list(read_annotated(tmp_path / "out.conll"))
    assert [sentence.sentence_id for sentence in read] == ["1", "2", "3", "4"]
    assert [sentence.reject and sentence.reject.partition(":")[0] for sentence in read] == [
        *(None, "empty_sentence", "parser_failed", None),
    ]  # fmt: skip
    assert [len(sentence.words) for sentence in read] == [4, 0, 0, 4]
    assert read[0].frames == read[3].frames
    assert [span.label for span in read[0].frames[0].spans] == ["ARG0", "V"]


def test_frames_as_tables(frames: pl.DataFrame, tmp_path: Path) -> None:
    write_parsed("srl", frames, tmp_path / "out.jsonl")
    lines = read_table(tmp_path / "out.jsonl")
    assert lines["words"].to_list() == [FRAMES["words"], None, None, FRAMES["words"]]
    assert lines["code"].to_list() == [None, "empty_sentence", "parser_failed", None]
    write_parsed("srl", frames, tmp_path / "out.tsv")
    spans = read_table(tmp_path / "out.tsv")
    assert spans["id"].to_list() == [1, 1, 2, 3, 4, 4]
    assert spans["words"].to_list() == ["A boy", "wants", None, None, "A boy", "wants"]


def test_a_sentence_without_predicates_has_a_row(tmp_path: Path) -> None:
    none = {**FRAMES, "predicates": [], "span_frames": [], "span_labels": [], "span_starts": [], "span_ends": []}
    spans = parsed(tmp_path, pl.DataFrame([none], schema=SRL))
    write_parsed("srl", spans, tmp_path / "out.tsv")
    assert read_table(tmp_path / "out.tsv").select("id", "code").rows()[0] == (1, None)


@pytest.mark.parametrize("kind", FORMATS)
def test_an_unknown_suffix_names_what_can_be_written(kind, graphs: pl.DataFrame, tmp_path: Path) -> None:
    with refused(UnknownFormat) as error:
        write_parsed(kind, graphs, tmp_path / "out.xyz")
    for suffixes in FORMATS[kind].values():
        assert all(suffix in str(error.value) for suffix in suffixes)


def test_a_folder_that_is_a_file(graphs: pl.DataFrame, tmp_path: Path) -> None:
    with refused(OutputRefused):
        write_parsed("amr", graphs, tmp_path / "in.txt" / "out.amr")
