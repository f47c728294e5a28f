"""The views of what a project holds: tables of a release, sentences, releases compared, trainings."""

import shutil
from dataclasses import replace
from html import escape

import polars as pl
import pytest

from features.core.faults import (
    StoreDamaged,
    TableFileDamaged,
    UnknownName,
)
from features.store.store import Store
from flows.explorer import sentence
from tests.flows.explorer.conftest import RUN, address_of
from training.run_records import recorded


@pytest.mark.parametrize("view", ["data", "runs"])
def test_without_a_project_a_view_says_what_to_do(anywhere, view):
    assert "facetflow new" in anywhere.page(f"/{view}")


def test_a_release_without_pairs_opens_with_what_it_has(in_project, monkeypatch):
    assert in_project.json("/data")["table"] == "pairs"
    newest = in_project.session.releases()[1][-1]
    monkeypatch.setattr(Store, "release", lambda *_: replace(newest, rows=newest.rows | {"pairs": 0}))
    assert in_project.json("/data")["table"] == "labels"


def test_a_store_that_cannot_be_read_is_not_said_to_have_no_release(in_project):
    release = in_project.session.here.store / "releases/00002.json"
    content = release.read_bytes()
    release.write_text("{")
    try:
        for view in ("data", "sentence?text=Two+cats+look."):
            assert in_project.json(f"/{view}", 400)["error"]["code"] == StoreDamaged.code
    finally:
        release.write_bytes(content)


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        *(("metrics", asked) for asked in ("data", "data?table=metrics", "map?points=20&colour=metric:smatch")),
        ("sentences", "data?text=cat"),
    ],
)
def test_a_damaged_file_of_a_table_is_told_as_such(in_project, table, asked):
    files = (in_project.session.here.store / "tables" / table).rglob("*.parquet")
    whole = {file: file.read_bytes() for file in files}
    for file, content in whole.items():
        file.write_bytes(content[::-1])
    try:
        error = in_project.json(f"/{asked}", 400)["error"]
    finally:
        for file, content in whole.items():
            file.write_bytes(content)
    assert error["code"] == TableFileDamaged.code
    assert table in error["message"].partition(" in ")[0]


def test_pairs_are_filtered_and_sorted_by_a_metric(in_project):
    every = in_project.json("/data?sort=smatch&order=falling")
    assert [row["smatch"] for row in every["found"]] == [0.75, 0.5, 0.25]
    assert every["found"][0]["text_a"] == "Two cats look."
    low = in_project.json("/data?metric=smatch&high=0.5&sort=smatch&order=rising")
    assert [row["pair_id"] for row in low["found"]] == ["p2", "p3"]
    assert in_project.json("/data?split=dev&text=CATS")["rows"] == 1
    assert in_project.json("/data?table=sentences")["rows"] == len(in_project.texts)
    page = in_project.page("/data?sort=smatch")
    assert 'aria-sort="descending"' in page
    assert escape("<script>alert(1)</script>") in page
    assert "<script>" not in page


def test_every_row_is_on_one_page_also_among_equal_values(in_project, monkeypatch, tmp_path):
    for name, column in (("pairs", "corpus"), ("metrics", "smatch")):
        for part in range(4):
            rows = {
                "pair_id": [f"p{n}" for n in range(part * 1000, part * 1000 + 1000)],
                column: [f"{part % 2}"] * 1000,
            }
            pl.DataFrame(rows).write_parquet(tmp_path / f"{name}{part}.parquet")
    monkeypatch.setattr(Store, "scan", lambda _, table, *__: pl.scan_parquet(tmp_path / f"{table}*.parquet"))
    monkeypatch.setattr("flows.explorer.data.ROWS", 500)
    for order in ("", "&sort=corpus&order=rising", "&sort=corpus"):
        pages = [in_project.json(f"/data?page={page}{order}")["found"] for page in range(1, 9)]
        assert len({row["pair_id"] for page in pages for row in page}) == 4000


@pytest.mark.parametrize(
    ("asked", "rows"),
    [("labels&text=cat", 5), ("labels&text=TWO++cats", 1), ("amr&text=two+cats", 1), ("pairs&text=cat", 2)],
)
def test_a_text_is_found_in_every_table_with_ids_of_sentences(in_project, asked, rows):
    assert in_project.json(f"/data?table={asked}")["rows"] == rows


def test_rejected_rows_have_their_file_and_line(in_project):
    (row,) = in_project.json("/data?table=rejects")["found"]
    assert (row["file"], row["line"], row["code"]) == ("pairs.tsv", 2, "empty_sentence")
    for none, said in {"page=2": "The last page is 1: ", "metric=line&low=7": "No row fits"}.items():
        assert said in in_project.page(f"/data?table=rejects&{none}")


@pytest.mark.parametrize(
    "asked",
    [
        *("release=7", "against=7", "table=colours", "sort=colour", "metric=corpus&low=1", "page=0"),
        *("low=x&metric=smatch", "low=0.5"),
    ],
)
def test_a_table_asked_for_wrongly(in_project, asked):
    assert in_project.json(f"/data?{asked}", 400)["error"]["code"].startswith("FF")
    assert "Traceback" not in in_project.page(f"/data?{asked}", 400)


def test_two_releases_are_compared(in_project):
    told = in_project.json("/data?release=2&against=1")
    (drift,) = told["drift"]
    assert (drift["metric"], drift["old"]["mean"], drift["new"]["mean"]) == ("smatch", pytest.approx(1 / 6), 0.5)
    page = in_project.page("/data?release=2&against=1")
    assert "Release 2 compared with release 1" in page
    assert "mean 0.167 → 0.500" in page


def test_a_sentence_is_shown_with_its_graph_its_tree_and_its_roles(in_project):
    told = in_project.json("/sentence?text=Two+cats++look.")
    assert told["amr"]["concepts"] == ["look-01", "cat"]
    page = in_project.page("/sentence?text=Two+cats++look.&release=1")
    assert page.count("<svg") == 2
    for word in ("look-01", "nummod", "ARG0"):
        assert word in page
    assert "ARG0 " not in page  # roles of a parser have no weights
    other = in_project.json("/sentence?text=Prices+fall.")
    assert (other["srl"], other["dependencies"]) == (None, None)
    assert in_project.json("/sentence?text=x&release=7", 400)["error"]["code"] == UnknownName.code


def test_a_sentence_without_a_predicate_has_no_roles(in_project, monkeypatch):
    none = [
        pl.lit([], pl.List(pl.Int64)).alias(name) for name in ("predicates", "span_frames", "span_starts", "span_ends")
    ]

    def empty(store, release, table, text, read=sentence._row):
        row = read(store, release, table, text)
        return row.with_columns(*none, span_labels=pl.lit([], pl.List(pl.String))) if table == "srl" else row

    monkeypatch.setattr(sentence, "_row", empty)
    page = in_project.page("/sentence?text=Two+cats+look.")
    assert "It has no predicate." in page
    assert "the mean of its words" not in page


def test_the_course_of_a_training_is_drawn_and_its_scores_are_awaited(in_project):
    told = in_project.json(f"/runs?{address_of(run=RUN)}")
    assert told["courses"] == {RUN: {"loss": {"10": 0.5, "20": 0.25}, "dev_<b>": {"20": 0.4}}}
    page = in_project.page(f"/runs?{address_of(run=RUN)}")
    assert page.count("<svg") == 2
    assert "<i>own" not in page
    assert "<b>" not in page
    assert "data-live" not in page
    assert "facetflow evaluate" in page
    assert in_project.json(f"/runs?run=&beside={address_of(run=RUN)[4:]}")["run"] == RUN


def test_a_training_whose_scores_another_version_took_still_has_its_course(in_project):
    scores = in_project.session.here.runs / RUN / "metrics.json"
    scores.write_text('{"format": 0}')
    try:
        assert in_project.json(f"/runs?{address_of(run=RUN)}")["courses"][RUN]
        assert "written by another version" in in_project.page(f"/runs?{address_of(run=RUN)}")
    finally:
        scores.unlink()


def test_two_trainings_are_beside_each_other_and_live_while_one_runs(in_project):
    runs = in_project.session.here.runs
    other = "other/00001-abcdef/seed-0"
    with recorded(runs / other, {}):
        (runs / other / "progress.jsonl").write_text('{"step": 10, "loss": 1.0}\n')
        address = f"/runs?{address_of(run=RUN, beside=other)}"
        page = in_project.page(address)
        assert "data-live" in page
        assert "Not evaluated yet" in page
        assert "0.4 | –" in page  # which of both has the number
        assert in_project.json(address)["courses"][other] == {"loss": {"10": 1.0}}
    assert "data-live" not in in_project.page(address)
    shutil.rmtree(runs / "other")


def test_runs_say_how_to_train_the_first_and_reports_are_those_of_runs_alone(in_project):
    runs = in_project.session.here.runs
    runs.rename(runs.with_name("away"))
    try:
        assert "facetflow train" in in_project.page("/runs")
    finally:
        runs.with_name("away").rename(runs)
    page = in_project.page("/runs")
    assert escape(RUN) in page
    assert "<i>" not in page
    assert in_project.page("/report?run=../../facetflow.toml", 404)
    assert in_project.json("/runs?run=../..", 400)["error"]["code"] == UnknownName.code


def test_where_trainings_say_nothing_no_list_is_empty(in_project, monkeypatch):
    monkeypatch.setattr("flows.explorer.runs.run_messages", lambda _: [])
    assert '<ul class="lines">' not in in_project.page("/runs")


def test_a_report_of_somebody_else_can_load_and_send_nothing(in_project):
    file = in_project.session.here.runs / RUN / "report.html"
    file.write_text("<form action='http://elsewhere.example'></form>")
    policy = in_project.client.get(f"/report?{address_of(run=RUN)}").headers["content-security-policy"]
    file.unlink()
    assert all(f"{what} 'none'" in policy for what in ("default-src", "form-action", "base-uri", "frame-ancestors"))
