import gzip
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.errors import RowError
from features.core.faults import FileMissing, GraphIndexWrong, GzipWrong, NotAFile
from features.parsers.amr import load
from features.parsers.bank import BankParser, build_bank
from features.parsers.settings import AmrSettings
from features.sentences import sentence_id
from features.stages.amr import parse_amr


def block(text: str, graph: str) -> str:
    return f"# ::id 1\n# ::snt {text}\n{graph}\n\n"


def write(path: Path, blocks: Iterable[str]) -> Path:
    content = "".join(blocks).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    first = [block("A boy sleeps.", "(s / sleep-01\n   :ARG0 (b / boy))"), block("It rains.", "(r / rain-01)")]
    second = [block("It  rains. ", "(r / rain-01)"), block("A boy sleeps.", "(b / boy)"), block("Torn.", "(t / torn")]
    second += ["# ::snt Nothing here.\n\n", "(n / nobody)\n\n", "(n / nobody\n\n"]
    return [write(tmp_path / "a.amr", first), write(tmp_path / "b.amr.gz", second)]


def parser(files: list[Path], path: Path) -> BankParser:
    build_bank(files, path)
    return BankParser(path, max_words=512)


def test_a_sentence_gets_the_first_graph_as_it_was_written(files: list[Path], tmp_path: Path) -> None:
    bank = parser(files, tmp_path / "bank")
    assert bank.parse(["It rains.", "A boy sleeps."]) == ["(r / rain-01)", "(s / sleep-01\n   :ARG0 (b / boy))"]


def test_white_space_does_not_matter(files: list[Path], tmp_path: Path) -> None:
    assert parser(files[1:], tmp_path / "bank").parse(["It rains."]) == ["(r / rain-01)"]


def test_a_sentence_without_a_graph_is_rejected(files: list[Path], tmp_path: Path) -> None:
    (result,) = parser(files, tmp_path / "bank").parse(["Unseen."])
    assert isinstance(result, RowError)
    assert result.code == "no_graph"
    assert "'Unseen.'" in result.message


def test_a_broken_graph_is_rejected_with_its_file_and_line(files: list[Path], tmp_path: Path) -> None:
    torn, nothing = parser(files, tmp_path / "bank").parse(["Torn.", "Nothing here."])
    assert isinstance(torn, RowError)
    assert torn.code == "unbalanced_penman"
    assert "b.amr.gz" in torn.message
    assert isinstance(nothing, RowError)
    assert nothing.code == "no_graph"
    assert "b.amr.gz" in nothing.message


def test_a_readable_graph_goes_before_a_broken_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.amr", [block("A.", "(a / a"), block("A.", "(b / b)")])
    assert parser([path], tmp_path / "bank").parse(["A."]) == ["(b / b)"]


def test_the_stage_gives_every_sentence_once(files: list[Path], tmp_path: Path) -> None:
    texts = ["Unseen.", "A boy sleeps.", "word " * 600 + "end", "Torn.", "It rains."]
    shard = pl.DataFrame({"sentence_id": [sentence_id(text) for text in texts], "text": texts})
    output = parse_amr(shard, parser(files, tmp_path / "bank"))
    assert output.rows["sentence_id"].to_list() == [sentence_id(texts[1]), sentence_id(texts[4])]
    assert output.rows["concepts"].to_list() == [["sleep-01", "boy"], ["rain-01"]]
    assert dict(output.rejects.select("entity_id", "code").iter_rows()) == {
        sentence_id(texts[0]): "no_graph",
        sentence_id(texts[2]): "sentence_too_long",
        sentence_id(texts[3]): "unbalanced_penman",
    }


def test_an_empty_shard(files: list[Path], tmp_path: Path) -> None:
    bank = parser(files, tmp_path / "bank")
    assert bank.parse([]) == []
    assert bank.shard_digest([])
    output = parse_amr(pl.DataFrame(schema={"sentence_id": pl.String, "text": pl.String}), bank)
    assert (output.rows.height, output.rejects.height) == (0, 0)


def test_graph_files_without_a_graph(tmp_path: Path) -> None:
    bank = parser([write(tmp_path / "a.amr", ["# a comment\n"])], tmp_path / "bank")
    (result,) = bank.parse(["A."])
    assert isinstance(result, RowError)


def test_the_digest_of_a_shard_changes_with_its_own_graphs_only(tmp_path: Path) -> None:
    ours, other = [sentence_id("A."), sentence_id("B.")], block("C.", "(c / c)")
    a, b, changed = block("A.", "(a / a)"), block("B.", "(b / b)"), block("B.", "(b / bee)")
    contents = {"alone": [a, b], "more": [other, b, a], "fewer": [a], "changed": [a, changed], "none": [other]}
    digests = {
        name: parser([write(tmp_path / f"{name}.amr", blocks)], tmp_path / name).shard_digest(ours)
        for name, blocks in contents.items()
    }
    assert digests["alone"] == digests["more"]
    assert len(set(digests.values())) == 4
    assert all(len(digest) == 24 for digest in digests.values())


def test_a_bank_that_is_open_survives_a_new_one(files: list[Path], tmp_path: Path) -> None:
    bank = parser(files, tmp_path / "bank")
    assert bank.parse(["It rains."]) == ["(r / rain-01)"]
    build_bank([write(tmp_path / "c.amr", [block("C.", "(c / c)")])], tmp_path / "bank")
    assert bank.parse(["It rains."]) == ["(r / rain-01)"]


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    for fault, path in ((FileMissing, "missing.amr"), (NotAFile, ".")):
        with refused(fault):
            build_bank([tmp_path / path], tmp_path / "bank")
    with refused(GraphIndexWrong):
        build_bank([], tmp_path / "bank")


def test_a_file_that_breaks_off_leaves_no_bank(tmp_path: Path) -> None:
    path = write(tmp_path / "a.amr.gz", [block(f"Sentence {i}.", "(a / a)") for i in range(100)])
    path.write_bytes(path.read_bytes()[:-20])
    with refused(GzipWrong):
        build_bank([path], tmp_path / "bank")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.amr.gz"]


def test_a_bank_that_is_missing_or_something_else(tmp_path: Path) -> None:
    with refused(GraphIndexWrong):
        BankParser(tmp_path / "missing", max_words=512)
    (tmp_path / "other").write_bytes(b"x" * 100)
    with refused(GraphIndexWrong):
        BankParser(tmp_path / "other", max_words=512)
    table = pa.table({"a": [1]})
    with pa.ipc.new_file(str(tmp_path / "table"), table.schema) as writer:
        writer.write_table(table)
    with refused(GraphIndexWrong):
        BankParser(tmp_path / "table", max_words=512)


def test_settings_without_a_bank() -> None:
    with refused(GraphIndexWrong):
        load(AmrSettings(graphs=("a.amr",)))


def test_settings_with_a_bank(files: list[Path], tmp_path: Path) -> None:
    build_bank(files, tmp_path / "bank")
    settings = AmrSettings(bank=tmp_path / "bank", max_words=7)
    assert load(settings) is load(settings)
    assert (load(settings).name, load(settings).max_words) == ("penman", 7)


texts_of_sentences = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=20)


@given(known=st.sets(texts_of_sentences, max_size=30), unknown=st.sets(texts_of_sentences, max_size=10))
def test_every_known_sentence_is_found_and_no_other(
    known: set[str], unknown: set[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("bank")
    # The number of the sentence is its graph; what normalises to nothing is no sentence.
    graphs = {sentence_id(text): f"(n / node :value {number})" for number, text in enumerate(known) if text.split()}
    blocks = [f"# ::snt {text}\n{graphs[sentence_id(text)]}\n\n" for text in known if text.split()]
    bank = parser([write(folder / "a.amr", blocks)], folder / "bank")
    wanted = [text for text in [*known, *unknown] if text.split()]
    found = bank.parse(wanted)
    assert [result if isinstance(result, str) else None for result in found] == [
        graphs.get(sentence_id(text)) for text in wanted
    ]


def test_the_graphs_of_bamboo_are_found(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "bamboo" / "sts" / "src.dev.amr.gz"
    build_bank([path], tmp_path / "bank")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [line.removeprefix("# ::snt ").strip() for line in file if line.startswith("# ::snt ")]
    assert all(isinstance(result, str) for result in BankParser(tmp_path / "bank", max_words=512).parse(texts))


def test_a_bank_that_was_replaced_is_loaded_again(files: list[Path], tmp_path: Path) -> None:
    settings = AmrSettings(bank=tmp_path / "bank")
    build_bank(files, tmp_path / "bank")
    before = load(settings)
    build_bank([write(tmp_path / "c.amr", [block("It rains.", "(c / change-01)")])], tmp_path / "bank")
    assert before.parse(["It rains."]) == ["(r / rain-01)"]
    assert load(settings).parse(["It rains."]) == ["(c / change-01)"]
