"""`facetflow parse srl` and `facetflow score srl`, with the tagger that the parity fixture holds."""

import json
from pathlib import Path

import polars as pl
import pytest
from sentences import told

from features.core.faults import FileEmpty, UnknownFormat
from features.parsers.srl.frames import read_annotated
from flows.command_line import run

TAGGER = str(Path(__file__).parents[2] / "features/parsers/srl/fixtures/srl_bert.tar.gz")
GOLD = """\
1\tShe\tshe\tPRP\t*\t-\t-\t(ARG0*)\t*
2\tlikes\tlike\tVBZ\t*\tlike\tlike.01\t(V*)\t*
3\tbarking\tbark\tVBG\t*\tbark\tbark.01\t(ARG1*)\t(V*)
"""


@pytest.fixture(autouse=True)
def pipeline(needs_model):
    needs_model("en_core_web_md")


@pytest.fixture
def sentences(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("The cat chased a mouse.\n\nYes\nShe has seen it.\n")
    return path


def parse(sentences: Path, output: Path) -> int:
    return run(["parse", "srl", str(sentences), "-o", str(output), "--model", TAGGER, "--predicates", "spacy"])


def test_a_row_for_each_sentence(sentences, tmp_path, capsys):
    output = tmp_path / "out.jsonl"
    assert parse(sentences, output) == 0
    assert "3 of 3 sentences" in capsys.readouterr().err
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert [(line["id"], line["code"]) for line in lines] == [
        *(("1", None), ("2", "empty_sentence"), ("3", None), ("4", None)),
    ]  # fmt: skip
    rows = [line for line in lines if line["code"] is None]
    assert [row["words"] for row in rows] == [
        ["The", "cat", "chased", "a", "mouse", "."],
        ["Yes"],
        ["She", "has", "seen", "it", "."],
    ]
    assert [row["predicates"] for row in rows] == [[2], [], [1, 2]]
    for row in rows:
        assert len(row["span_labels"]) == len(row["span_starts"]) == len(row["span_ends"]) == len(row["span_frames"])
        assert all(
            start < end <= len(row["words"]) for start, end in zip(row["span_starts"], row["span_ends"], strict=True)
        )


def test_columns_hold_the_same_frames(sentences, tmp_path):
    assert parse(sentences, tmp_path / "out.conll") == 0
    assert parse(sentences, tmp_path / "out.parquet") == 0
    rows = pl.read_parquet(tmp_path / "out.parquet").rows(named=True)
    assert [sentence.reject for sentence in read_annotated(tmp_path / "out.conll")] == [
        *(None, "empty_sentence: the sentence is empty", None, None),
    ]  # fmt: skip
    for sentence, row in zip(read_annotated(tmp_path / "out.conll"), rows, strict=True):
        assert sentence.sentence_id == row["id"]
        if sentence.reject is not None:
            assert row["words"] is None
            continue
        assert list(sentence.words) == row["words"]
        spans = [(number, *span) for number, frame in enumerate(sentence.frames) for span in frame.spans]
        names = ("span_frames", "span_labels", "span_starts", "span_ends")
        assert spans == list(zip(*(row[name] for name in names), strict=True))


def test_a_row_for_each_span(sentences, tmp_path):
    assert parse(sentences, tmp_path / "out.tsv") == 0
    spans = pl.read_csv(tmp_path / "out.tsv", separator="\t")
    assert spans.columns == [
        *("id", "predicate", "predicate_word", "label", "start", "end", "words", "code", "message"),
    ]  # fmt: skip
    assert set(spans["id"]) == {1, 2, 3, 4}
    assert set(spans["predicate_word"].drop_nulls()) <= {"chased", "has", "seen"}
    words = ["The", "cat", "chased", "a", "mouse", "."]
    for start, end, text in spans.filter(predicate_word="chased").select("start", "end", "words").iter_rows():
        assert text == " ".join(words[start:end])


def test_an_output_of_no_known_format(sentences, tmp_path, capsys):
    assert parse(sentences, tmp_path / "out.xyz") == 1
    assert told(capsys.readouterr().err, UnknownFormat)


def test_the_score(tmp_path, capsys):
    gold = tmp_path / "gold.conll"
    gold.write_text(GOLD)
    assert run(["score", "srl", str(gold), "--model", TAGGER, "--predicates", "spacy"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["predicates", "2", "2", "100.00", "100.00", "100.00"] in lines
    told = next(line for line in lines if line[:2] == ["arguments,", "predicates"])
    assert told[5] == "2"  # gold arguments: ARG0 and ARG1; V does not count
    assert any(line[:2] == ["ARG0", "1"] for line in lines)


def test_the_score_as_json_with_a_reject_named(tmp_path, capsys):
    gold = tmp_path / "[gold].conll"
    gold.write_text(f"{GOLD}\n# sent_id = 2\n# reject = empty_sentence: the line is empty\n\n")
    command = ["score", "srl", str(gold), "--model", TAGGER, "--predicates", "spacy"]
    assert run([*command, "--json"]) == 2
    found = capsys.readouterr()
    scores = json.loads(found.out)
    assert scores["gold_predicates"]["arguments"]["gold"] == 2
    assert scores["own_predicates"]["predicates"] == {
        **dict.fromkeys(("gold", "predicted", "correct"), 2),
        **dict.fromkeys(("precision", "recall", "f1"), 1.0),
    }
    assert found.err == "sentence '2' is left out: empty_sentence: the line is empty\n"
    assert run(command) == 2
    table = capsys.readouterr().out
    assert "[gold].conll" in table
    assert max(map(len, table.splitlines())) <= 80


def test_a_sentence_that_is_too_long_counts_as_missed(tmp_path, capsys):
    gold = tmp_path / "gold.conll"
    long = [f"{n}\tcat\tcat\tNN\t*\tcat\tcat.01\t{'(V*)' if n == 1 else '*'}\n" for n in range(1, 600)]
    gold.write_text(f"{GOLD}\n# sent_id = long\n{''.join(long)}")
    assert run(["score", "srl", str(gold), "--model", TAGGER, "--predicates", "spacy", "--json"]) == 2
    found = capsys.readouterr()
    assert json.loads(found.out)["own_predicates"]["predicates"]["gold"] == 3
    assert found.err == "sentence 'long' is longer than the tagger reads: its gold frames count as missed\n"


def test_a_file_without_frames(tmp_path, refuses):
    gold = tmp_path / "gold.conll"
    gold.write_text("1\tYes\tyes\tUH\t*\t-\t-\n")
    refuses(FileEmpty, "score", "srl", str(gold), "--model", TAGGER, "--predicates", "spacy")
