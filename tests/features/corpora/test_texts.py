"""Texts with labels: what is wrong with a row or a file, and columns under other names."""

import pytest
from pydantic import ValidationError

from features.corpora import BadRow, TextRow, read_outcomes
from features.corpora.leakage import LeakageGuard
from features.corpora.settings import CorpusSettings, EvaluationSet, LeakageSettings
from features.errors import InputError
from features.types import RejectCode


def outcomes(base, name, **given):
    return list(read_outcomes(CorpusSettings(files={"train": name}, **given), base))


def test_columns_may_have_other_names(tmp_path):
    (tmp_path / "t.tsv").write_text("heading\tbody\tsubject\nCats\tThey purr.\tpets|animals\n")

    (row,) = outcomes(tmp_path, "t.tsv", dataset="texts", text=["heading", "body"], aspects={"topic": "subject"})
    assert (row.text, row.labels) == ("Cats: They purr.", (("topic", "pets"), ("topic", "animals")))


def test_a_missing_column_is_named_with_those_that_there_are(tmp_path):
    (tmp_path / "t.tsv").write_text("body\tlabel\nA\tx\n")

    with pytest.raises(InputError, match=r"lacks the column 'text'; its columns are 'body', 'label': name those"):
        outcomes(tmp_path, "t.tsv", dataset="texts")


def test_labels_choose_what_is_taken(tmp_path):
    (tmp_path / "t.tsv").write_text("text\tlabel\nA\tx|y\nB\ty\n")

    rows = outcomes(tmp_path, "t.tsv", dataset="texts", labels=["x"])
    assert (rows[0].labels, rows[1].reason) == ((("label", "x"),), "label not asked for")


def test_rows_that_are_wrong_are_rejects(tmp_path):
    (tmp_path / "mr.txt").write_bytes(b"1 fine .\n0\n7 odd label .\n")
    (tmp_path / "t.tsv").write_bytes(b"text\tlabel\n\tx\nA\tx\ty\nfine\tx\ngood\tx\n")

    found = [*outcomes(tmp_path, "mr.txt", dataset="mr"), *outcomes(tmp_path, "t.tsv", dataset="texts")]
    assert [(row.reject.entity_id, row.reject.code) for row in found if isinstance(row, BadRow)] == [
        ("mr.txt:2", RejectCode.EMPTY_SENTENCE),
        ("mr.txt:3", RejectCode.BAD_LABEL),
        ("t.tsv:2", RejectCode.EMPTY_SENTENCE),
        ("t.tsv:3", RejectCode.WRONG_COLUMNS),
    ]
    assert sum(isinstance(row, TextRow) for row in found) == 3


def test_a_line_in_no_encoding_is_a_reject_where_the_release_is_utf8(tmp_path):
    (tmp_path / "cr.txt").write_bytes(b"1 caf\xe9 .\n0 fine .\n")

    bad, good = outcomes(tmp_path, "cr.txt", dataset="cr")
    assert (bad.reject.code, good.text) == (RejectCode.BAD_ENCODING, "fine .")


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "t.tsv").write_text("text\tlabel\n")

    with pytest.raises(InputError, match="has no rows"):
        outcomes(tmp_path, "t.tsv", dataset="texts")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"dataset": "pairs", "text": "body"}, "`text` is for texts with labels, and 'pairs' is pairs: use `columns`"),
        ({"dataset": "texts", "columns": {"label": "x"}}, "'texts' is texts with labels: use `text` and `aspects`"),
        ({"dataset": "mr", "aspects": {"a": "b"}}, "'mr' has lines with a label and a text, no columns for `aspects`"),
    ],
    ids=["pairs", "texts", "lines"],
)
def test_settings_of_the_other_kind_are_refused(given, says):
    with pytest.raises(ValidationError, match=says):
        CorpusSettings(files={"train": "x"}, **given)


def test_texts_of_an_evaluation_set_are_guarded(tmp_path):
    (tmp_path / "mr.txt").write_text("1 A gem .\n")
    guard = LeakageGuard.from_settings(
        LeakageSettings(evaluation=[EvaluationSet(dataset="mr", file="mr.txt")]), tmp_path
    )

    assert guard.sets_with("a gem") == ("mr",)
