"""Bad input: a wrong row is a reject with file, line and what was expected; a wrong file is one clear sentence."""

import gzip
import json

import polars as pl
import pytest
from pydantic import ValidationError

from features.corpora import PairRow, cells, read, read_evaluation
from features.corpora.settings import CorpusSettings, EvaluationSet
from features.errors import InputError
from features.stages import Reject
from features.types import RejectCode as Code

STSB = "main-news\theadlines\t2015\t0001\t{}\t{}\t{}\n"


def rows_and_rejects(folder, **settings):
    read_rows = list(read(CorpusSettings(**settings), folder))
    rejects = [row for row in read_rows if isinstance(row, Reject)]
    return [row for row in read_rows if isinstance(row, PairRow)], rejects


@pytest.mark.parametrize(
    ("score", "a", "b", "code", "says"),
    [
        ("five", "A cat.", "A dog.", Code.BAD_SCORE, "'five' is no number; expected a number from 0 to 5"),
        ("5.1", "A cat.", "A dog.", Code.BAD_SCORE, "'5.1' is out of range"),
        ("-1", "A cat.", "A dog.", Code.BAD_SCORE, "out of range"),
        ("nan", "A cat.", "A dog.", Code.BAD_SCORE, "out of range"),
        ("", "A cat.", "A dog.", Code.BAD_SCORE, "the score is empty"),
        ("5.0", " ", "A dog.", Code.EMPTY_SENTENCE, "a sentence is empty"),
        ("5.0", "A cat.", "", Code.EMPTY_SENTENCE, "a sentence is empty"),
    ],
)
def test_a_bad_cell_is_a_reject_and_the_file_goes_on(tmp_path, score, a, b, code, says):
    good = STSB.format("4.0", "A cat.", "Cats.")
    (tmp_path / "sts.csv").write_text(good + STSB.format(score, a, b) + "\n" + good, encoding="utf-8")

    rows, rejects = rows_and_rejects(tmp_path, dataset="stsb", files={"train": "sts.csv"})

    assert [row.origin for row in rows] == ["sts.csv:1", "sts.csv:4"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("sts.csv:2", code)]
    assert rejects[0].message.startswith("sts.csv:2: ")
    assert says in rejects[0].message


def test_a_row_with_too_few_cells_says_how_many(tmp_path):
    (tmp_path / "sts.csv").write_text(STSB.format("4", "A cat.", "Cats.") + "main-news\t4\tA cat.\n")

    _, rejects = rows_and_rejects(tmp_path, dataset="stsb", files={"train": "sts.csv"})

    assert [(reject.entity_id, reject.code) for reject in rejects] == [("sts.csv:2", Code.WRONG_COLUMNS)]
    assert "3 cells; expected 7 or more" in rejects[0].message


def test_a_tab_inside_a_sentence_is_a_reject_below_a_header_line(tmp_path):
    (tmp_path / "p.tsv").write_text("sentence_a\tsentence_b\nA\tB\nA\tB\tC\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert len(rows) == 1
    assert "3 cells; expected 2" in rejects[0].message


@pytest.mark.parametrize(
    ("dataset", "header", "row", "says"),
    [
        ("sick", "sentence_A\tsentence_B\trelatedness_score\tentailment_judgment", "A\tB\t3\tYES", "'YES' is unknown"),
        ("snli", "sentence1\tsentence2\tgold_label", "A\tB\tentails", "expected one of entailment, neutral"),
        ("qqp", "question1\tquestion2\tis_duplicate", "A\tB\t", "'' is unknown; expected one of 0, 1"),
        ("twitter_url", "sentence1\tsentence2\tvotes", "A\tB\t(4, 5)", "'(4, 5)' is no vote; expected (n, 6)"),
    ],
)  # fmt: skip
def test_a_bad_label_is_a_reject(tmp_path, dataset, header, row, says):
    (tmp_path / "rows.tsv").write_text(f"{header}\n{row}\n")

    _, rejects = rows_and_rejects(tmp_path, dataset=dataset, files={"train": "rows.tsv"}, labels="all")

    assert [(reject.entity_id, reject.code) for reject in rejects] == [("rows.tsv:2", Code.BAD_LABEL)]
    assert says in rejects[0].message


def test_bad_json_lines_are_rejects(tmp_path):
    good = json.dumps({"sentence1": "A", "sentence2": "B", "gold_label": "entailment"})
    bad = ['{"sentence1": "A", "sentence2": "B"}', "{broken", "[1, 2]", good.replace('"A"', "[1]"), ""]
    (tmp_path / "nli.jsonl").write_text("\n".join([good, *bad, good]))

    rows, rejects = rows_and_rejects(tmp_path, dataset="snli", files={"train": "nli.jsonl"})

    assert [row.origin for row in rows] == ["nli.jsonl:1", "nli.jsonl:7"]
    assert [reject.entity_id for reject in rejects] == [f"nli.jsonl:{line}" for line in (2, 3, 4, 5)]
    assert {reject.code for reject in rejects} == {Code.WRONG_COLUMNS}
    assert "lacks gold_label" in rejects[0].message


def test_half_characters_and_endless_numbers_in_json_are_rejects(tmp_path):
    rows = [
        '{"sentence_a": "A \\ud83d", "sentence_b": "B"}',
        '{"sentence_a": "A", "sentence_b": "B", "label": "\\ud83d"}',
    ]
    scored = json.dumps({"sentence_a": "A", "sentence_b": "B", "score": 10**400, "label": ""})
    (tmp_path / "p.jsonl").write_text("\n".join([*rows, scored]))
    columns = {"sentence_a": "sentence_a", "sentence_b": "sentence_b"}
    captions = [{"image_id": 1, "caption": text} for text in ("A", "\ud83d", "B")]
    (tmp_path / "c.json").write_text(json.dumps({"annotations": captions}))

    found, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.jsonl"}, columns=columns)
    assert [row.origin for row in found] == ["p.jsonl:2", "p.jsonl:3"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.jsonl:1", Code.BAD_ENCODING)]
    for role, line, code in (("label", 2, Code.BAD_ENCODING), ("score", 3, Code.BAD_SCORE)):
        _, rejects = rows_and_rejects(
            tmp_path, dataset="pairs", files={"train": "p.jsonl"}, columns={**columns, role: role}
        )
        assert (f"p.jsonl:{line}", code) in [(reject.entity_id, reject.code) for reject in rejects]
    found, rejects = rows_and_rejects(tmp_path, dataset="coco", files={"train": "c.json"})
    assert [(row.text_a, row.text_b) for row in found] == [("A", "B")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("c.json:2", Code.BAD_ENCODING)]


def test_lines_are_counted_over_cells_with_line_breaks(tmp_path):
    (tmp_path / "p.csv").write_text('sentence_a,sentence_b\n"two\nlines",B\n,B\n"A"x,B\nA,B\n', newline="")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})

    assert [row.origin for row in rows] == ["p.csv:2", "p.csv:6"]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("p.csv:4", Code.EMPTY_SENTENCE),
        ("p.csv:5", Code.WRONG_COLUMNS),
    ]


def test_a_quote_that_never_closes_names_its_line(tmp_path):
    (tmp_path / "p.csv").write_text('sentence_a,sentence_b\nA,B\n"A,B\nA,B\n')

    with pytest.raises(InputError, match=r"p\.csv:3: a double quote opens a cell that never ends"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})


def test_a_cell_may_be_longer_than_csv_takes_by_itself(tmp_path, monkeypatch):
    (tmp_path / "p.csv").write_text(f"sentence_a,sentence_b\nA,{'long ' * 40_000}\nA,B\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})
    assert ([len(row.text_b) for row in rows], rejects) == ([200_000, 1], [])
    monkeypatch.setattr(cells, "_LONGEST", 1000)
    with pytest.raises(InputError, match=r"p\.csv:2: a cell has more than 1,000 characters"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.csv"})


def test_quotes_in_a_tsv_enclose_cells_only_where_the_file_shows_it(tmp_path):
    (tmp_path / "raw.tsv").write_text('sentence_a\tsentence_b\n"Yes," he said.\tHe said "yes".\n')
    (tmp_path / "enclosed.tsv").write_text('sentence_a\tsentence_b\n"""Yes,"" he said."\t"He said ""yes""."\n')

    for name in ("raw.tsv", "enclosed.tsv"):
        rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": name})
        assert [(row.text_a, row.text_b) for row in rows] == [('"Yes," he said.', 'He said "yes".')]
    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "enclosed.tsv"}, quotes="ordinary")
    assert rows[0].text_b == '"He said ""yes""."'


@pytest.mark.parametrize(
    "text",
    [
        '"sentence_a"\t"sentence_b"\t"label"\n"A cat."\t"A dog."\t"x"\n',
        'sentence_a\tsentence_b\tlabel\n"A cat."\t"A dog."\t"x"\n"Two\nlines."\t""\t3.5\n',
        '"sentence_a"\t"sentence_b"\t"label"\n"A cat."\t"A dog."\tx\nBare.\tA "b" c.\tx\n',
        '\n"sentence_a"\t"sentence_b"\t"label"\r\n"A cat."\t"A dog."\t"x"\r\n"A \\"b\\" c."\tA\tNA\r\n',
    ],
    ids=["all", "below a bare header", "the header and some", "with backslashes"],
)
def test_quotes_around_every_cell_are_no_part_of_it(tmp_path, text):
    (tmp_path / "p.tsv").write_text(text, newline="")

    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert (rows[0].text_a, rows[0].text_b, rows[0].label) == ("A cat.", "A dog.", "x")


@pytest.mark.parametrize(
    "text",
    [
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\nA cat.\tA dog.\n',
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\n"Yes," he said.\tNo.\n',
        'sentence_a\tsentence_b\n"Stop!"\t"Go!"\n12" wide\tNo.\n',
    ],
)
def test_quotes_around_some_cells_are_ordinary(tmp_path, text):
    (tmp_path / "p.tsv").write_text(text)

    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert [row.text_a for row in rows] == [line.split("\t")[0] for line in text.splitlines()[1:]]


def test_a_header_is_read_with_the_quotes_of_its_file(tmp_path):
    (tmp_path / "p.tsv").write_text('"sentence_a"\t"sentence_b"\n"A"\t"B"\n')
    (tmp_path / "latin.tsv").write_bytes(b"sentence_a\tsentence_b\tna\xefve\nA\tB\tC\n")

    with pytest.raises(InputError, match=r"its columns are '\"sentence_a\"', .*: set quotes = \"enclose\" if"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"}, quotes="ordinary")
    with pytest.raises(InputError, match="no UTF-8 text"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "latin.tsv"})


def test_one_line_that_is_no_utf8_is_a_reject(tmp_path):
    lines = [b"sentence_a\tsentence_b", *["Größe\tB".encode()] * 3, "naïve\tB".encode("latin-1"), b"A\tB"]
    (tmp_path / "p.tsv").write_bytes(b"\n".join(lines))

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert len(rows) == 4
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.tsv:5", Code.BAD_ENCODING)]


def test_a_carriage_return_inside_a_sentence_ends_no_line(tmp_path):
    (tmp_path / "p.tsv").write_bytes(b"sentence_a\tsentence_b\r\nA\rcat\tB\r\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert [(row.text_a, row.text_b) for row in rows] == [("A\rcat", "B")]
    assert rejects == []


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("nothing.tsv", None, "does not exist"),
        ("empty.tsv", b"", "is empty"),
        ("header.tsv", b"sentence_a\tsentence_b\n", "has no rows"),
        ("latin.tsv", "sentence_a\tsentence_b\nnaïve\tcafé\n".encode("latin-1"), "no UTF-8 text"),
        ("utf16.tsv", "sentence_a\tsentence_b\nA\tB\n".encode("utf-16"), "no UTF-8 text"),
        ("columns.tsv", b"text1\ttext2\nA\tB\n", "its columns are 'text1', 'text2': name them"),
        ("commas.tsv", b"sentence_a,sentence_b\nA,B\n", "Its columns look separated by commas: name it .csv."),
        ("tabs.csv", b"sentence_a\tsentence_b\nA\tB\n", "separated by tabs: name it .tsv."),
        ("sheet.csv", b"sentence_a;sentence_b\nA;B\n", "separated by semicolons: save it with commas or tabs."),
        ("json.tsv", b'{"sentence_a": "A"}\n', "looks like JSON: name it .jsonl."),
        ("cased.tsv", b"Sentence_B\tsentence_a\nA\tB\n", "did you mean columns = { sentence_b = \"Sentence_B\" }?"),
        ("sheet.xlsx", b"PK", "save the sheet as .csv"),
        ("twice.tsv", b"sentence_a\tsentence_b\tlabel\tlabel\nA\tB\tx\ty\n", "has the column 'label' more than once"),
        ("pairs.json", b"[]", "write one JSON object a line and name it .jsonl"),
        ("pairs.xlsx", b"sentence_a\tsentence_b\nA\tB\n", "no suffix of a table"),
        ("pairs.parquet", b"no parquet", "no Parquet file"),
        ("pairs.jsonl", b'{"a": 1}\n', "its columns are 'a': name them"),
        ("cut.tsv.gz", gzip.compress(b"sentence_a\tsentence_b\n" + b"A\tB\n" * 999, mtime=0)[:-20], "no complete gzip"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_as_a_whole_is_one_sentence(tmp_path, name, data, says):
    if data is not None:
        (tmp_path / name).write_bytes(data)

    with pytest.raises(InputError) as error:
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": name})

    assert says in str(error.value)
    assert name in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("dataset", "name", "data", "says"),
    [
        ("stsb", "a.csv", b"5.0,A.,B.\n", "and its rows have 1 cells; expected the columns sentence1, sentence2"),
        ("coco", "a.json", b'{"images": []}', "no list 'annotations'"),
        ("coco", "a.json", b'{"annotations": {}}', "no list 'annotations'"),
        ("coco", "a.json", b'{"annotations": [', "is no JSON"),
        ("flickr30k", "a.token", b"9.jpg One\n", "expected tab separated columns image, caption1, caption2"),
        ("flickr30k", "a.tsv", b"image\tcaption1\tcaption2\n", "has no rows"),
        ("sts12", "STS.input.a.txt", b"A\tB\n", "STS.gs.a.txt' does not exist"),
    ],
)
def test_a_file_in_another_form_says_what_was_expected(tmp_path, dataset, name, data, says):
    (tmp_path / name).write_bytes(data)

    with pytest.raises(InputError) as error:
        rows_and_rejects(tmp_path, dataset=dataset, files={"train": name})

    assert says in str(error.value)


def test_scores_of_a_second_file_must_correspond(tmp_path):
    (tmp_path / "STS.input.a.txt").write_text("A\tB\nC\tD\n")
    (tmp_path / "STS.gs.a.txt").write_text("5\n")

    with pytest.raises(InputError, match="has 2 lines and its score file 1"):
        rows_and_rejects(tmp_path, dataset="sts12", files={"train": "STS.input.a.txt"})


def test_bad_captions_are_rejects_and_the_others_are_paired(tmp_path):
    (tmp_path / "c.tsv").write_text("image\tcaption1\tcaption2\tcaption3\n1.jpg\tA\t\tC\n2.jpg\tA\tB\n")
    (tmp_path / "c.json").write_text(
        json.dumps({"annotations": [{"image_id": 1, "caption": "A"}, {"image_id": 1}, {"image_id": 1, "caption": "B"}]})
    )

    rows, rejects = rows_and_rejects(tmp_path, dataset="flickr30k", files={"train": "c.tsv"})
    assert [(row.text_a, row.text_b) for row in rows] == [("A", "C")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("c.tsv:2", Code.EMPTY_SENTENCE),
        ("c.tsv:3", Code.WRONG_COLUMNS),
    ]
    rows, rejects = rows_and_rejects(tmp_path, dataset="coco", files={"train": "c.json"})
    assert [(row.text_a, row.text_b) for row in rows] == [("A", "B")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("c.json:2", Code.WRONG_COLUMNS)]


def test_parsed_pairs_must_be_parallel_and_have_their_sentences(tmp_path):
    (tmp_path / "a.amr").write_text("# ::snt A cat.\n(c / cat)\n\n# ::id 2\n(d / dog)\n\n# ::snt A bird.\n(b / bird\n")
    (tmp_path / "b.amr").write_text("# ::snt Cats.\n(c / cat)\n\n# ::snt Dogs.\n(d / dog)\n\n# ::snt Birds.\n(b / b)\n")
    (tmp_path / "short.amr").write_text("# ::snt Cats.\n(c / cat)\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="penman", files={"train": ("a.amr", "b.amr")})
    # A broken graph still has its sentence: the parse stage rejects the graph.
    assert [(row.text_a, row.text_b) for row in rows] == [("A cat.", "Cats."), ("A bird.", "Birds.")]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("a.amr:4", Code.EMPTY_SENTENCE)]
    with pytest.raises(InputError, match=r"not parallel: a\.amr goes on after 1 blocks"):
        rows_and_rejects(tmp_path, dataset="penman", files={"train": ("a.amr", "short.amr")})
    with pytest.raises(InputError, match="names 1 files"):
        rows_and_rejects(tmp_path, dataset="penman", files={"train": "a.amr"})


def test_an_unknown_split_in_a_column_is_a_reject(tmp_path):
    (tmp_path / "p.tsv").write_text("sentence_a\tsentence_b\tsplit\nA\tB\ttrain\nA\tB\ttrian\n")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"})

    assert len(rows) == 1
    assert "'trian' is unknown; expected one of train, dev, test" in rejects[0].message


def test_one_file_for_two_splits_needs_a_column_with_the_split(tmp_path):
    (tmp_path / "p.tsv").write_text("sentence_a\tsentence_b\tsplit\nA\tB\ttrain\nC\tD\tdev\n")
    (tmp_path / "q.tsv").write_text("sentence_a\tsentence_b\nA\tB\n")

    rows, _ = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv", "dev": "p.tsv"})
    assert [(row.split, row.text_a) for row in rows] == [("train", "A"), ("dev", "C")]
    with pytest.raises(InputError, match="give a file for each"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "q.tsv", "dev": "q.tsv"})


def test_labels_cannot_be_chosen_from_a_file_without_them(tmp_path):
    (tmp_path / "p.tsv").write_text("sentence_a\tsentence_b\nA\tB\n")

    with pytest.raises(InputError, match="has no column with the label"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.tsv"}, labels=["1"])


def test_a_missing_file_is_named_with_the_key_that_names_it(tmp_path):
    with pytest.raises(InputError, match=r"dev\.tsv', which `files\.dev` of the corpus 'mine' names, does not exist"):
        rows_and_rejects(tmp_path, dataset="pairs", name="mine", files={"dev": "dev.tsv"})
    evaluation = EvaluationSet(dataset="stsb", file="sts-test.csv")
    with pytest.raises(InputError, match=r"which `file` of the evaluation set 'stsb-test' names, does not exist"):
        read_evaluation(evaluation, tmp_path)


def test_a_folder_in_place_of_a_file_is_named(tmp_path):
    (tmp_path / "données 猫").mkdir()
    with pytest.raises(InputError, match=r"is a folder: name a file in it, or a pattern such as 'données 猫/\*\.tsv'"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "données 猫"})


def test_a_pattern_that_finds_nothing_is_named(tmp_path):
    with pytest.raises(InputError, match=r"No file matches 'sts/\*\.tsv'"):
        rows_and_rejects(tmp_path, dataset="sts12", files={"test": "sts/*.tsv"})


def test_an_evaluation_set_with_a_bad_row_or_without_scores_is_refused(tmp_path):
    (tmp_path / "a.tsv").write_text("sentence_a\tsentence_b\tscore\nA\tB\t1\nA\tB\tx\n")
    (tmp_path / "b.tsv").write_text("sentence_a\tsentence_b\nA\tB\n")

    with pytest.raises(InputError, match=r"a\.tsv:3: the score 'x' is no number"):
        read_evaluation(EvaluationSet(dataset="pairs", file="a.tsv"), tmp_path)
    with pytest.raises(InputError, match="has no pair with a score"):
        read_evaluation(EvaluationSet(dataset="pairs", file="b.tsv"), tmp_path)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"dataset": "stsx", "files": {"train": "a"}}, "'stsx' is no known dataset"),
        ({"dataset": "stsb"}, "names no files"),
        ({"dataset": "stsb", "files": {"train": "a"}, "seed": 1}, "Extra inputs"),
        ({"dataset": "stsb", "files": {"valid": "a"}}, "'train', 'dev' or 'test'"),
        ({"dataset": "snli", "files": {"train": "a"}, "labels": ["entails"]}, "has no labels"),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"sentence_a": 0, "sentence_b": "b"}}, "mix names"),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"sentence_a": 0}}, "lack the position"),
        ({"dataset": "pairs", "files": {"train": "a"}, "columns": {"text": "b"}}, "sentence_a"),
        ({"dataset": "pairs", "files": {"train": "a"}, "name": "my/pairs"}, "pattern"),
        ({"dataset": "coco", "files": {"train": "a"}, "caption_pairs": 0}, "greater than 0"),
    ],
)  # fmt: skip
def test_wrong_settings_say_what_is_wrong(settings, says):
    with pytest.raises(ValidationError) as error:
        CorpusSettings(**settings)

    assert says in str(error.value)


def test_an_evaluation_set_needs_a_file():
    with pytest.raises(ValidationError, match="names no file"):
        EvaluationSet(dataset="stsb")


def test_parquet_cells_of_another_type_are_rejects(tmp_path):
    pl.DataFrame(
        {"sentence_a": ["A", None, "C"], "sentence_b": ["B", "B", "D"], "label": [1.0, 1.0, None]}
    ).write_parquet(tmp_path / "p.parquet")
    pl.DataFrame({"sentence_a": [1, 2], "sentence_b": ["B", "B"]}).write_parquet(tmp_path / "q.parquet")

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.parquet"})
    assert [(row.text_a, row.label, row.origin) for row in rows] == [
        ("A", "1", "p.parquet:1"),
        ("C", None, "p.parquet:3"),
    ]
    assert [(reject.entity_id, reject.code) for reject in rejects] == [("p.parquet:2", Code.EMPTY_SENTENCE)]
    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "q.parquet"})
    assert rows == []
    assert {reject.code for reject in rejects} == {Code.WRONG_COLUMNS}


def test_typed_cells_of_pairs_are_those_of_a_table_of_text(tmp_path):
    cells = {
        "sentence_a": ["A", "A", 1, True, ["A"]],
        "sentence_b": ["B"] * 5,
        "label": [float("nan"), True, "x", "x", "x"],
        "topic": [1.0, float("nan"), "t", "t", "t"],
    }
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    columns = {"label": "label", "group": "topic"}
    rows, rejects = rows_and_rejects(
        tmp_path, dataset="pairs", files={"train": "p.jsonl"}, columns=columns, draw={"dev": 0.1}
    )
    assert [(row.label, row.group) for row in rows] == [(None, "1"), ("1", "")]
    assert [reject.message for reject in rejects] == [
        "p.jsonl:3: the cell 1 is no text",
        "p.jsonl:4: the cell True is no text",
        "p.jsonl:5: the cell ['A'] is neither text nor number",
    ]


def test_a_key_of_pairs_may_come_late_in_json_lines(tmp_path):
    early, late = {"sentence_a": "A", "sentence_b": "B"}, {"sentence_a": "A", "sentence_b": "B", "gold": "x"}
    (tmp_path / "p.jsonl").write_text("\n".join(json.dumps(row) for row in (*[early] * 25, late)))

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.jsonl"}, columns={"label": "gold"})
    assert ([row.label for row in rows], len(rejects)) == (["x"], 25)
    with pytest.raises(InputError, match=r"lacks the column 'kind' .*; its columns are 'sentence_a', .*, 'gold'"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.jsonl"}, columns={"label": "kind"})


def test_optional_keys_of_pairs_are_found_wherever_they_come_first(tmp_path):
    bare = {"sentence_a": "A", "sentence_b": "B"}
    late = [{**bare, "score": 3}, bare, {**bare, "label": "x"}]
    (tmp_path / "p.jsonl").write_text("\n".join(json.dumps(row) for row in (*[bare] * 25, *late)))

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.jsonl"})
    assert [(row.score, row.label) for row in rows] == [(None, None)] * 25 + [(3, None), (None, None), (None, "x")]
    assert rejects == []


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet"])
def test_positions_are_for_tables_of_cells(tmp_path, name):
    frame = pl.DataFrame({"a": ["A"], "b": ["B"]})
    (frame.write_parquet if name.endswith("parquet") else frame.write_ndjson)(tmp_path / name)

    with pytest.raises(InputError, match=r"whose columns have names; they are 'a', 'b': give names in place of pos"):
        rows_and_rejects(tmp_path, dataset="pairs", files={"train": name}, columns={"sentence_a": 0, "sentence_b": 1})


def test_json_that_python_refuses_is_a_reject(tmp_path):
    good = '{"sentence_a": "A", "sentence_b": "B", "n": 1}'
    deep = good.replace("1", "[" * 100_000 + "]" * 100_000)
    (tmp_path / "p.jsonl").write_text("\n".join([good, good.replace("1", "9" * 5000), deep, good]))

    rows, rejects = rows_and_rejects(tmp_path, dataset="pairs", files={"train": "p.jsonl"})
    assert len(rows) == 2
    assert [(reject.entity_id, reject.code) for reject in rejects] == [
        ("p.jsonl:2", Code.WRONG_COLUMNS),
        ("p.jsonl:3", Code.WRONG_COLUMNS),
    ]
    assert "number with too many digits" in rejects[0].message
