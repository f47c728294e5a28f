"""The views on a real server: pages and JSON, what was asked wrongly, and sentences that are markup."""

import threading
from html import escape
from urllib.parse import urlencode

import pytest

from features.core.faults import EmptyText, OutOfRange, UnknownName, UnknownTexts
from flows.explorer.background import Background, Working

HOSTILE = "<script>alert(1)</script> \"' onmouseover=alert(1) "
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


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("/pair?a=One+sentence", EmptyText),
        (f"{PAIR}&facet=colour", UnknownName),
        ("/search?q=cats&among=nowhere.txt", UnknownTexts),
        ("/search?q=cats", UnknownTexts),
        ("/search?q=cats&k=many", OutOfRange),
        ("/search?q=cats&w_srl=nan", OutOfRange),
    ],
)
def test_what_is_asked_wrongly_is_said_in_a_sentence(anywhere, address, fault):
    error = anywhere.json(address, 400)["error"]
    assert error["code"] == fault.code
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


def test_a_search_by_facets_is_beside_that_of_the_plain_encoder(anywhere, tmp_path):
    (tmp_path / "a.txt").write_text("The doctor thanked the boy.\nPrices fell.\nThe girl did not sleep.\n")
    (tmp_path / "b.tsv").write_text("text\nThe lawyer sued the banker.\n")
    query = {"q": "The boy thanked the doctor.", "among": str(tmp_path)}
    whole = anywhere.json(f"/search?{address_of(**query)}")
    assert whole["among"]["texts"] == 4
    assert whole["found"][0]["text"] == "The doctor thanked the boy."
    assert [row["rank"] for row in whole["plain"]] == [1, 2, 3, 4]
    assert "By the plain encoder" in anywhere.page(f"/search?{address_of(**query)}")
    by_facet = anywhere.json(f"/search?{address_of(**query, w_srl='1')}")
    for row in by_facet["found"]:
        assert row["similarity"] == pytest.approx(row["facets"][0]["similarity"], abs=1e-3)
    turned = anywhere.json(f"/search?{address_of(**query, w_srl='-1')}")
    assert [row["text"] for row in turned["found"]] == [row["text"] for row in by_facet["found"]][::-1]
    assert "facet=srl" in anywhere.page(f"/search?{address_of(**query, w_srl='1')}")


@pytest.mark.parametrize("view", ["data", "runs"])
def test_without_a_project_a_view_says_what_to_do(anywhere, view):
    assert "facetflow new" in anywhere.page(f"/{view}")


def test_pairs_are_filtered_and_sorted_by_a_metric(in_project):
    every = in_project.json("/data?sort=smatch&order=falling")
    assert [row["smatch"] for row in every["found"]] == [0.75, 0.5, 0.25]
    assert every["found"][0]["text_a"] == "Two cats look."
    low = in_project.json("/data?metric=smatch&high=0.5&sort=smatch&order=rising")
    assert [row["pair_id"] for row in low["found"]] == ["p2", "p3"]
    assert in_project.json("/data?split=dev&text=CATS")["rows"] == 1
    assert in_project.json("/data?table=sentences")["rows"] == 4
    page = in_project.page("/data?sort=smatch")
    assert 'aria-sort="descending"' in page
    assert escape("<script>alert(1)</script>") in page
    assert "<script>" not in page


def test_rejected_rows_have_their_file_and_line(in_project):
    (row,) = in_project.json("/data?table=rejects")["found"]
    assert (row["file"], row["line"], row["code"]) == ("pairs.tsv", 2, "empty_sentence")


@pytest.mark.parametrize(
    "asked", ["release=7", "table=colours", "sort=colour", "metric=corpus&low=1", "page=0", "low=x&metric=smatch"]
)
def test_a_table_asked_for_wrongly(in_project, asked):
    assert in_project.json(f"/data?{asked}", 400)["error"]["code"].startswith("FF")
    assert "Traceback" not in in_project.page(f"/data?{asked}", 400)


def test_runs_say_how_to_train_the_first_and_reports_are_those_of_runs_alone(in_project):
    assert "facetflow train" in in_project.page("/runs")
    assert in_project.page("/report?run=../../facetflow.toml", 404)
    assert in_project.json("/runs?run=../..", 400)["error"]["code"] == UnknownName.code


def test_a_page_says_what_is_being_done():
    background, begun, may_end = Background(), threading.Event(), threading.Event()

    def job(tell):
        tell("Reading line 7")
        begun.set()
        may_end.wait()
        return 7

    with pytest.raises(Working):
        background.result_of("a", job, "Reading", patience=0)
    begun.wait()
    with pytest.raises(Working, match="Reading line 7"):
        background.result_of("b", lambda _: 8, "Waiting", patience=0)
    may_end.set()
    assert background.result_of("a", job, "Reading") == 7
    assert background.result_of("b", lambda _: 8, "Waiting") == 8


def test_a_failed_job_is_tried_again():
    background, answers = Background(), iter([ValueError("no"), 3])

    def job(_):
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    with pytest.raises(ValueError, match="no"):
        background.result_of("a", job, "Trying")
    assert background.result_of("a", job, "Trying") == 3


def address_of(**values):
    return urlencode(values)
