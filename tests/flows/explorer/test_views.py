"""The views of pairs, searches and maps on a real server: pages and JSON, wrong questions, sentences as markup."""

import json
import re
from dataclasses import replace

import markupsafe
import pyarrow as pa
import pytest
from sentence_transformers import SentenceTransformer
from sentences import refused

from features import models
from features.core.faults import (
    EmptyText,
    TooFewTexts,
    UnknownName,
    UnknownTexts,
    VectorsWrong,
    WrongValue,
)
from features.models import BUNDLED_ENCODER
from features.sentences import normalise
from flows.explorer.views import Query
from tests.flows.explorer.conftest import HOSTILE, address_of
from training.encoded_files import encode_file
from training.encoders.s3bert.facet_reading import FacetReading
from training.search.texts import SearchedTexts

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
        ("/search?q=cats&k=many", WrongValue),
        ("/search?q=cats&w_srl=nan", WrongValue),
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
    whole = anywhere.session.explainer_of("").reader.encode

    def encode(texts, *arguments, **options):
        embedded.extend(texts)
        return whole(texts, *arguments, **options)

    monkeypatch.setattr(anywhere.session.explainer_of("").reader, "encode", encode)
    answer = anywhere.json(f"/map?{address_of(among=str(tmp_path / 'many.txt'), points='20')}")
    assert (len(answer["points"]), answer["of"], len(set(embedded))) == (20, 200, 20)
    assert answer == anywhere.json(f"/map?{address_of(among=str(tmp_path / 'many.txt'), points='20')}")


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
    name = in_project.session.explainer.facts.name
    assert f"by {name}" in page
    assert f"<small>{name}</small>" in in_project.page("/search?q=cats")
    assert plain["encoder"] == in_project.json("/search?q=cats")["encoder"]
    assert markupsafe.escape(f"{HOSTILE}prices") in page
    assert "<script>alert" not in page


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ("points=9999999", WrongValue),
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


def test_a_number_that_is_too_large_is_told_its_limits():
    with refused(WrongValue):
        Query({"w_srl": "1e20"}).number("w_srl")


def test_where_there_is_nothing_to_choose_from_that_is_said():
    with refused(UnknownName):
        Query({"run": "zzz"}).choice("run", [])
    with refused(UnknownName):
        Query({"encoder": "zzz"}).choice("encoder", [], called="encoder with facets")


def test_tabs_and_bookmarks_are_told_apart_by_what_was_asked(in_project):
    pages = [in_project.page(f"/pair?{address_of(a=text)}", 400) for text in ("A cat.", "A dog.", HOSTILE)]
    titles = [re.search("<title>(.*)</title>", page)[1] for page in pages]
    assert [title.split(" · ")[0] for title in titles[:2]] == ["Pair: A cat.", "Pair: A dog."]
    assert "<" not in titles[2]


def test_an_address_keeps_a_word_that_looks_like_nothing():
    assert Query({"q": "None", "page": "2"}).changed(page=None, k=3) == "?q=None&k=3"
