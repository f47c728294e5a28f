"""The views on a real server: pages and JSON, what was asked wrongly, and sentences that are markup."""

import json
import re
import shutil
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from html import escape
from urllib.parse import urlencode

import click
import markupsafe
import polars as pl
import pyarrow as pa
import pytest
from sentence_transformers import SentenceTransformer
from sentences import refused

from features import models
from features.core.faults import (
    EmptyText,
    OutOfRange,
    StoreDamaged,
    TableFileDamaged,
    TooFewTexts,
    Unexpected,
    UnknownName,
    UnknownTexts,
    VectorsWrong,
)
from features.models import BUNDLED_ENCODER
from features.sentences import normalise
from features.store.store import Store
from flows.console.here import Here
from flows.explorer import sentence, session
from flows.explorer.session import Background, Working
from flows.explorer.views import Query
from training.encoded_files import encode_file
from training.encoders.s3bert.facet_reading import FacetReading
from training.run_records import recorded
from training.search.texts import SearchedTexts

HOSTILE = "<script>alert(1)</script> \"' onmouseover=alert(1) "
RUN = "<i>own/00001-abcdef/seed-0"
PAIR = "/pair?a=The+boy+thanked+the+doctor.&b=The+doctor+thanked+the+boy."


def test_the_first_page_has_examples_and_needs_no_model(anywhere):
    page = anywhere.page("/")
    assert "The boy thanked the doctor." in page
    assert "Loading" not in page


def test_a_pair_is_explained(anywhere):
    told = anywhere.json(PAIR)
    assert told["sentence_a"] == "The boy thanked the doctor."
    assert {facet["name"] for facet in told["facets"]} >= {"smatch", "srl"}
    assert sum(map(sum, told["shares"]["shares"])) == pytest.approx(told["similarity"], abs=1e-3)
    page = anywhere.page(PAIR)
    assert page.count("<svg") == 2
    assert 'data-link="a0"' in page
    assert anywhere.json(f"{PAIR}&format=json") == told
    assert "Asked before" in anywhere.page("/pair")


def test_a_chosen_facet_shades_words_and_colours_graphs(anywhere):
    of_facet, whole = anywhere.json(f"{PAIR}&facet=srl"), anywhere.json(PAIR)
    assert of_facet["shares"]["facet"] == "srl"
    assert of_facet["shares"]["shares"] != whole["shares"]["shares"]
    assert '<h2 id="closer">srl' in anywhere.page(f"{PAIR}&facet=srl")


def test_words_that_count_against_have_a_minus_sign_and_none_is_minus_0(anywhere):
    address = "/pair?a=She+has+not+read+the+letter.&b=She+has+read+the+letter.&facet=negations"
    anywhere.json(address)
    page = anywhere.page(address)
    assert "<small>−" in page
    assert "<small>-" not in page
    assert "<small>−0<" not in page


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("/pair?a=One+sentence", EmptyText),
        (f"{PAIR}&facet=colour", UnknownName),
        (f"{PAIR}&facett=srl", UnknownName),
        ("/addresses?colour=red", UnknownName),
        ("/search?q=cats&among=nowhere.txt", UnknownTexts),
        ("/search?q=cats", UnknownTexts),
        ("/search?q=cats&k=many", OutOfRange),
        ("/search?q=cats&w_srl=nan", OutOfRange),
    ],
)
def test_what_is_asked_wrongly_is_said_in_a_sentence(anywhere, address, fault):
    error = anywhere.json(address, 400)["error"]
    assert error["code"] == fault.code
    assert fault.code not in error["message"]
    page = anywhere.page(address, 400)
    assert fault.code in page
    assert "Traceback" not in page


def test_sentences_run_no_script(anywhere, tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text(f"{HOSTILE}\nTwo cats look.\n")
    for address in (
        f"/pair?{address_of(a=HOSTILE, b=HOSTILE + 'not')}",
        f"/pair?{address_of(a=HOSTILE, b='x', facet=HOSTILE)}",
        f"/search?{address_of(q=HOSTILE, among=str(file))}",
        f"/search?{address_of(q=HOSTILE, among=HOSTILE, column=HOSTILE)}",
        "/pair",
        "/search",
    ):
        anywhere.client.get(address, headers={"Accept": "application/json"})  # which waits until it is answered
        page = anywhere.client.get(address).text
        assert "alert(1)" in page
        assert "<script>" not in page
        assert "\"' onmouseover" not in page


def test_the_numbers_of_a_facet_are_read_aloud_one_by_one(anywhere):
    anywhere.json(PAIR)
    links = re.findall(r"<a data-in-place.*?</a>", anywhere.page(PAIR), re.DOTALL)
    words = [re.sub("<[^>]*>", "", link) for link in links]
    assert len(words) == 17
    assert all(re.search(r"[\d–)] (\d\.\d\d|cosine)", each) for each in words)


def test_what_is_in_doubt_is_told_without_colours(anywhere, monkeypatch):
    monkeypatch.setattr(FacetReading, "is_doubtful", True)
    anywhere.json(PAIR)
    page = anywhere.page(PAIR)
    assert " ?</small>" in page
    assert " ≠</small>" not in page


def test_a_search_by_facets_is_beside_that_of_the_plain_encoder(anywhere, tmp_path):
    (tmp_path / "a.txt").write_text("The doctor thanked the boy.\nPrices fell.\nThe girl did not sleep.\n")
    (tmp_path / "b.tsv").write_text("text\nThe lawyer sued the banker.\n")
    query = {"q": "The boy thanked the doctor.", "among": str(tmp_path)}
    whole = anywhere.json(f"/search?{address_of(**query)}")
    assert whole["among"]["texts"] == 4
    assert whole["found"][0]["text"] == "The doctor thanked the boy."
    assert whole["plain"] == [], "an encoder with tuned layers does not hold the plain one"
    by_facet = anywhere.json(f"/search?{address_of(**query, w_srl='1')}")
    for row in by_facet["found"]:
        assert row["similarity"] == pytest.approx(row["facets"][0]["similarity"], abs=1e-3)
    assert [row["text"] for row in by_facet["plain"]] == [row["text"] for row in whole["found"]]
    assert "By the whole embedding" in anywhere.page(f"/search?{address_of(**query, w_srl='1')}")
    turned = anywhere.json(f"/search?{address_of(**query, w_srl='-1')}")
    assert [row["text"] for row in turned["found"]] == [row["text"] for row in by_facet["found"]][::-1]
    assert "facet=srl" in anywhere.page(f"/search?{address_of(**query, w_srl='1')}")


def test_what_has_changed_since_the_last_search_is_read_again(anywhere, in_project, monkeypatch, tmp_path):
    (tmp_path / "a.txt").write_text("The boy sleeps.\n")
    address = f"/search?{address_of(q='The girl sleeps.', among=str(tmp_path))}"
    assert len(anywhere.json(address)["found"]) == 1
    with (tmp_path / "a.txt").open("a") as file:
        file.write("The girl sleeps.\n")
    assert len(anywhere.json(address)["found"]) == 2
    (_, releases), read = in_project.session.releases(), []
    newest = "flows.explorer.searching.texts_among"
    monkeypatch.setattr(newest, lambda *_: read.append(1) or SearchedTexts(in_project.texts, (), (), "release"))
    for number in (7, 7, 8):
        later = replace(releases[-1], number=number)
        monkeypatch.setattr(in_project.session, "releases", lambda later=later: (None, [later]))
        in_project.json("/search?q=cats")
    assert len(read) == 2


def test_a_pair_is_explained_anew_by_a_release_that_may_have_other_graphs(in_project, monkeypatch):
    explained, explainer = [], in_project.session.explainer
    explain, (store, releases) = explainer.explain, in_project.session.releases()
    monkeypatch.setattr(explainer, "explain", lambda pairs: explained.append(pairs) or explain(pairs))
    for known in (releases, releases, releases[:1]):
        monkeypatch.setattr(in_project.session, "releases", lambda known=known: (store, known))
        in_project.json("/pair?a=Two+cats+look.&b=Prices+fall.")
    assert len(explained) == 2


def test_texts_in_the_home_folder_are_found(anywhere, monkeypatch, tmp_path):
    (tmp_path / "a.txt").write_text("The boy sleeps.\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(anywhere.json("/search?q=cats&among=~/a.txt")["found"]) == 1


def test_a_map_shows_what_its_start_model_finds(of_a_map, tmp_path):
    (tmp_path / "a.txt").write_text("The doctor thanked the boy.\nPrices fell.\n")
    query = {"q": "The boy thanked the doctor.", "among": str(tmp_path)}
    answer = of_a_map.json(f"/search?{address_of(**query)}")
    assert "By the plain encoder" in of_a_map.page(f"/search?{address_of(**query)}")
    texts = [query["q"], "The doctor thanked the boy.", "Prices fell."]
    start = SentenceTransformer(str(models.locate("all-MiniLM-L6-v2")), device="cpu").encode(texts)
    cosines = (start[0] @ start[1:].T).tolist()
    assert [row["similarity"] for row in answer["plain"]] == pytest.approx(cosines, abs=1e-4)


def test_a_map_of_many_texts_embeds_only_those_that_it_draws(anywhere, tmp_path, monkeypatch):
    (tmp_path / "many.txt").write_text("".join(f"The boy saw {n} birds.\n" for n in range(200)))
    embedded = []
    whole = anywhere.session.explainer_of("").model.encode

    def encode(texts, *arguments, **options):
        embedded.extend(texts)
        return whole(texts, *arguments, **options)

    monkeypatch.setattr(anywhere.session.explainer_of("").model, "encode", encode)
    answer = anywhere.json(f"/map?{address_of(among=str(tmp_path / 'many.txt'), points='20')}")
    assert (len(answer["points"]), answer["of"], len(set(embedded))) == (20, 200, 20)
    assert answer == anywhere.json(f"/map?{address_of(among=str(tmp_path / 'many.txt'), points='20')}")


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


def test_texts_of_a_release_are_placed_and_coloured_by_label_metric_and_facet(in_project):
    plain = in_project.json("/map?points=5000")
    assert {point["text"] for point in plain["points"]} == {normalise(text) for text in in_project.texts}
    assert all(0 <= point[axis] <= 1 for point in plain["points"] for axis in "xy")
    by_label = in_project.json("/map?colour=label:topic")
    assert {point["text"]: point["label"] for point in by_label["points"]}["Prices fall."] == "prices"
    assert sum(entry["count"] for entry in by_label["legend"]) == len(in_project.texts)
    of = {point["text"]: point["value"] for point in in_project.json("/map?colour=metric:smatch")["points"]}
    assert (of["Two cats look."], of["A cat looks."], of["A dog sings."]) == (0.5, 0.75, None)
    assert f"Grey: {list(of.values()).count(None)} texts" in in_project.page("/map?colour=metric:smatch")
    of = {p["text"]: p["value"] for p in in_project.json("/map?colour=facet:srl&like=Prices+fall.")["points"]}
    assert max(of, key=of.get) == "Prices fall."
    assert of["Prices fall."] == pytest.approx(1, abs=1e-3)
    by_facet = in_project.json("/map?space=srl")
    assert [point["x"] for point in by_facet["points"]] != [point["x"] for point in plain["points"]]
    assert len(in_project.json("/map?points=10")["points"]) == 10
    page = in_project.page("/map?colour=label:topic")
    assert markupsafe.escape(f"{HOSTILE}prices") in page
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ("points=9999999", OutOfRange),
        ("space=colour", UnknownName),
        ("colour=label:colour", UnknownName),
        ("colour=facet:srl", EmptyText),
        ("encoder=colour", UnknownName),
    ],
)
def test_a_map_asked_for_wrongly(in_project, asked, fault):
    assert in_project.json(f"/map?{asked}", 400)["error"]["code"] == fault.code
    assert fault.code in in_project.page(f"/map?{asked}", 400)


def test_too_few_texts_make_no_map(anywhere, tmp_path):
    (tmp_path / "texts.txt").write_text("Two cats look.\nA cat looks.\n")
    address = f"/map?{address_of(among=str(tmp_path / 'texts.txt'))}"
    assert anywhere.json(address, 400)["error"]["code"] == TooFewTexts.code


def test_a_form_says_which_texts_an_empty_field_means(in_project, monkeypatch):
    assert "empty for the newest release" in in_project.page("/search")
    monkeypatch.setattr(in_project.session, "texts", "notes.txt")
    assert "empty for notes.txt" in in_project.page("/search")


def test_the_vectors_of_a_file_are_searched_and_those_of_another_encoder_refused(anywhere, tmp_path):
    texts, file = tmp_path / "texts.txt", tmp_path / "vectors.arrow"
    texts.write_text("".join(f"{text}\n" for text in anywhere.texts[:3]))
    explainer = anywhere.session.explainer
    encode_file(explainer.model, explainer.folder, texts, file, layout=explainer.layout, precision="int8")
    for more in ({}, {"w_srl": "1"}):
        asked = {"q": "A cat looks.", "k": "3", **more}
        of_file, of_texts = (anywhere.json(f"/search?{address_of(among=str(at), **asked)}") for at in (file, texts))
        assert [row["id"] for row in of_file["found"]] == [row["id"] for row in of_texts["found"]]
        for row, exact in zip(of_file["found"], of_texts["found"], strict=True):
            assert row["similarity"] == pytest.approx(exact["similarity"], abs=0.03)
    table = pa.ipc.open_file(file).read_all()
    made = json.loads(table.schema.metadata[b"facetflow"]) | {"encoder": "0" * 64}
    other = table.replace_schema_metadata({"facetflow": json.dumps(made)})
    with pa.ipc.new_file(tmp_path / "other.arrow", other.schema) as writer:
        writer.write_table(other)
    answer = anywhere.json(f"/search?{address_of(q='cats', among=str(tmp_path / 'other.arrow'))}", 400)
    assert answer["error"]["code"] == VectorsWrong.code


def test_an_encoder_is_chosen_by_name(anywhere):
    by_name, by_default = anywhere.json(f"{PAIR}&encoder={BUNDLED_ENCODER}"), anywhere.json(PAIR)
    assert by_name["encoder"] == by_default["encoder"]
    assert by_name["facets"] == by_default["facets"]
    assert anywhere.json(f"{PAIR}&encoder=colour", 400)["error"]["code"] == UnknownName.code
    assert UnknownName.code in anywhere.page("/search?q=cats&encoder=colour", 400)


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


def test_a_page_says_what_is_being_done():
    background, begun, may_end = Background(), threading.Event(), threading.Event()

    def job(tell):
        tell("Reading line 7")
        begun.set()
        may_end.wait(60)
        return 7

    with pytest.raises(Working):
        background.result_of(("a",), job, "Reading", patience=0)
    begun.wait()
    with pytest.raises(Working, match=r"^Reading line 7$"):
        background.result_of(("a",), job, "Reading", patience=0)
    with pytest.raises(Working, match=r"^Waiting, .*: Reading line 7$"):
        background.result_of(("b",), lambda _: 8, "Waiting", patience=0)
    may_end.set()
    assert background.result_of(("a",), job, "Reading") == 7
    assert background.result_of(("b",), lambda _: 8, "Waiting") == 8


def test_a_number_that_is_too_large_is_told_its_limits():
    with refused(OutOfRange):
        Query({"w_srl": "1e20"}).number("w_srl")


def test_where_there_is_nothing_to_choose_from_that_is_said():
    with refused(UnknownName):
        Query({"run": "zzz"}).choice("run", [])


def test_tabs_and_bookmarks_are_told_apart_by_what_was_asked(in_project):
    pages = [in_project.page(f"/pair?{address_of(a=text)}", 400) for text in ("A cat.", "A dog.", HOSTILE)]
    titles = [re.search("<title>(.*)</title>", page)[1] for page in pages]
    assert [title.split(" · ")[0] for title in titles[:2]] == ["Pair: A cat.", "Pair: A dog."]
    assert "<" not in titles[2]


def test_an_address_keeps_a_word_that_looks_like_nothing():
    assert Query({"q": "None", "page": "2"}).changed(page=None, k=3) == "?q=None&k=3"


def test_a_failed_job_is_tried_again():
    background, answers = Background(), iter([ValueError("no"), 3])

    def job(_):
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    with pytest.raises(ValueError, match="no"):
        background.result_of(("a",), job, "Trying")
    assert background.result_of(("a",), job, "Trying") == 3


def test_a_panic_in_rust_ends_neither_the_thread_nor_the_connection(in_project, monkeypatch):
    def panic(*_):
        raise pl.exceptions.PanicException("index out of bounds")

    background = in_project.session.background
    with pytest.raises(pl.exceptions.PanicException):
        background.result_of(("a",), panic, "Trying", patience=5)
    assert background.result_of(("b",), lambda _: 2, "Trying", patience=60) == 2
    monkeypatch.setattr(sentence, "_row", panic)
    assert in_project.json("/sentence?text=Two+cats+look.", 500)["error"]["code"] == Unexpected.code


def test_a_result_is_kept_without_what_made_it():
    background, vectors = Background(), {1.0}
    assert background.result_of(("search", "a"), partial(lambda searched, _: len(searched), vectors), "Searching") == 1
    background.result_of(("search", "b"), lambda _: 2, "Searching")
    kept = weakref.ref(vectors)
    del vectors
    assert kept() is None


def test_encoders_of_before_are_given_back(monkeypatch):
    class Model:
        def __init__(self, *_):
            self.card = [self]
            loaded.add(self)

    loaded = weakref.WeakSet()
    monkeypatch.setattr(session, "Explainer", Model)
    asked = session.Session(Here(), None, command=click.Context(click.Command("explore")))
    for name in "abcdefgh":
        asked.explainer_of(name)
    assert len(loaded) == 3


def test_requests_at_once_for_other_encoders_each_have_their_own(monkeypatch):
    class Model:
        def __init__(self, _, name):
            self.name = name
            together.wait()

    names = [f"encoder-{number}" for number in range(24)]
    together = threading.Barrier(len(names))
    monkeypatch.setattr(session, "Explainer", Model)
    asked = session.Session(Here(), None, command=click.Context(click.Command("explore")))
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(names)) as threads:
            assert [each.name for each in threads.map(asked.explainer_of, names)] == names
    finally:
        sys.setswitchinterval(usual)


def address_of(**values):
    return urlencode(values)
