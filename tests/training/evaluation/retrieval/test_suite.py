"""The retrieval suite: what it scores, what it leaves out and reports, its baselines, its maps in the report."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import NothingToScore
from training.data.labelled_texts import LabelledTexts
from training.evaluation.comparison import compare_runs
from training.evaluation.models import Models
from training.evaluation.promotion import compare_scores, on_same_pairs
from training.evaluation.retrieval import maps
from training.evaluation.retrieval.suite import RetrievalSuite
from training.evaluation.run import evaluate, write_report
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import Subject, score_tables, suites_of
from training.jobs import EvaluationJob, Source

ANIMALS, PLACES = ("cat", "dog", "horse"), ("park", "house")
WORDS = ("red", "small", "sleeps", "runs", "eats", "sees", "two", "three", "no", "the")


def texts_with_labels(count=48, *, split="dev"):
    """Return rows: texts with an animal and a place, which are their labels, among words without information."""
    random = np.random.default_rng(3)
    rows = []
    for number in range(count):
        animal, place = ANIMALS[number % 3], PLACES[number // 3 % 2]
        others = " ".join(random.choice(WORDS, size=4).tolist())
        text = f"{animal} <{number}> {others} in {place}"
        rows += [(text, "zoo", split, "animal", animal), (text, "zoo", split, "place", f"<{place}>")]
    rows[0] = (*rows[0][:4], "unicorn")  # a query without a relevant text
    return rows


def exported(path, rows):
    table = pl.DataFrame(rows, schema=["text", "corpus", "split", "aspect", "label"], orient="row")
    LabelledTexts.from_table(table, source={}).export(path)
    return Source(texts=path)


@pytest.fixture(scope="module")
def job(tmp_path_factory, tiny_encoder):
    """Return a job about an encoder of a kind of the future, which started from another one."""
    folder = tmp_path_factory.mktemp("retrieval") / "run"
    shutil.copytree(tiny_encoder, folder / "encoder")
    training = {
        "settings": {"kind": "hyperbolic", "backbone": str(tiny_encoder), "splits": ["train", "dev"]},
        "corpora": {"zoo": {"train": 9, "dev": 48}},
        "backbone_digest": "d",
        "best_step": 1,
        "held_out_labels": {"animal": ["horse", "griffin"]},
    }
    (folder / "encoder" / "training.json").write_text(json.dumps(training))
    rows = [*texts_with_labels(), ("a dog not here", "zoo", "train", "animal", "cat")]
    return EvaluationJob(
        source=exported(folder / "texts.parquet", rows),
        encoder=folder / "encoder",
        output=folder,
        resamples=100,
        project="zoo",
    )


@pytest.fixture(scope="module")
def scores(job):
    return evaluate(job)


@pytest.fixture(scope="module")
def result(scores):
    return scores["suites"]["retrieval"]


def perfect(texts, _task=None):
    """Embed a text by its animal and place alone; the first animal is like no other."""
    known = [*ANIMALS, *PLACES, "<0>"]
    seen = [text.replace("cat", "") if "<0>" in text else text for text in texts]
    return np.array([[float(word in text) for word in known] for text in seen], np.float32)


def of_route(texts, task=None):
    columns = {"animal": [0, 1, 2, 5], "place": [3, 4]}[task]
    return perfect(texts)[:, columns]


def scored(job, models, **changes):
    return RetrievalSuite.of(Subject(job.model_copy(update=changes))).score(models)


def test_an_encoder_of_any_kind_is_scored_where_there_are_texts_with_labels(scores, result):
    assert "retrieval" in {*suites_of("")} & {*suites_of("s3bert")}
    assert list(scores["suites"]) == ["retrieval"]
    assert result["texts"] == 48  # those of the split
    assert [group["name"] for group in result["rows"]] == ["animal", "place", "animal and place", "animal or place"]
    assert {group["queries"] for group in result["rows"]} == {47, 48}
    assert result["rows"][0]["without"] == 1
    assert RetrievalSuite.numbers(result).keys() == {group["name"] for group in result["rows"]}


def test_the_start_model_and_words_stand_beside_it_and_the_same_model_is_no_better(result):
    for group in result["rows"]:
        rankings = group["rankings"]
        assert list(rankings) == ["encoder", "start", "bm25", "tfidf"]
        for measure in ("precision", "recall", "mrr", "ndcg", "map"):
            assert rankings["start"][measure] == rankings["encoder"][measure]
            assert rankings["start"]["difference"][measure] == {"low": 0, "high": 0, "verdict": "unclear"}


def test_an_encoder_that_sees_nothing_but_the_labels_is_right_and_above_words(job):
    found = scored(job, Models(perfect, None))
    for group in found["rows"]:
        assert group["rankings"]["encoder"]["mrr"]["value"] == 1
        assert "start" not in group["rankings"]
    both = found["rows"][2]
    assert both["rankings"]["encoder"]["recall"]["value"] == 1
    assert found["k"] == 10
    assert both["rankings"]["tfidf"]["difference"]["mrr"]["verdict"] == "above"
    assert [row["name"] for row in found["unseen"]] == ["animal"]
    assert found["unseen"][0]["queries"] == 16
    assert found["unseen"][0]["rankings"]["encoder"]["mrr"]["value"] == 1


def test_an_encoder_with_routes_is_asked_by_that_of_the_aspect_and_by_both_for_two(job):
    found = scored(job, Models(of_route, None, ("animal", "place")))
    by_name = {group["name"]: group["rankings"]["encoder"]["mrr"]["value"] for group in found["rows"]}
    assert by_name["animal"] == by_name["place"] == by_name["animal and place"] == 1
    routes = {row["name"]: row["mrr"] for row in found["routes"]}
    assert routes["animal"]["animal"] == routes["place"]["place"] == 1
    assert routes["place"]["animal"] < 1
    assert any(table.title.endswith("each route of the encoder") for table in RetrievalSuite.tables(found))


def test_an_encoder_with_routes_is_embedded_by_task(tmp_path, tiny_encoder):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    from training.evaluation.models import Embedder

    plain = SentenceTransformer(str(tiny_encoder), device="cpu")
    other = modules.Pooling(plain.get_embedding_dimension(), pooling_mode="cls")
    first, pooling, _ = plain.children()
    routes = {"animal": [first, pooling], "place": [first, other]}
    router = modules.Router(routes, default_route="place")
    SentenceTransformer(modules=[router], device="cpu").save_pretrained(str(tmp_path), create_model_card=False)
    embed = Embedder(tmp_path, "the encoder")
    assert embed.routes == ("animal", "place")
    assert Embedder(tiny_encoder, "a plain one").routes == ()
    texts = ["the cat", "a dog runs"]
    np.testing.assert_allclose(embed(texts), embed(texts, "place"), atol=1e-6)
    assert np.abs(embed(texts, "animal") - embed(texts, "place")).max() > 0.01


def test_what_is_asked_of_a_label_by_its_frequency_adds_up(result):
    for group in result["rows"][:2]:
        assert sum(band["queries"] for band in group["bands"]) == group["queries"]
    assert result["rows"][0]["bands"][0]["labels"] == 3
    assert result["rows"][0]["bands"][0]["least"] == 10


def test_that_the_model_was_chosen_on_these_texts_is_said(scores, result):
    note = score_tables(scores)[0].note
    assert note.startswith("The model was chosen on the dev texts of zoo: on texts that its training did not use")
    assert "no other text is relevant to them: animal 1, animal and place 1" in note
    assert result["others"] == {}


def test_scores_are_repeated_to_the_last_digit(job, scores, tmp_path):
    again = evaluate(job.model_copy(update={"output": tmp_path}))
    assert again["suites"] == scores["suites"]
    for name in ("retrieval.parquet", "maps.parquet", "report.html"):
        assert (tmp_path / name).read_bytes() == (job.output / name).read_bytes() or name == "report.html"


def test_what_two_encoders_are_compared_by_is_left_beside_the_scores(job, result):
    table = pl.read_parquet(job.output / "retrieval.parquet")
    means = dict(table.group_by("set").agg(pl.col("mrr").mean()).iter_rows())
    assert means == pytest.approx(RetrievalSuite.numbers(result))
    compared = compare_runs([job.output], [job.output]).scores
    assert {score.name: (score.a.mean, score.items, score.unit) for score in compared} == {
        group["name"]: (pytest.approx(means[group["name"]]), group["queries"], "queries") for group in result["rows"]
    }
    assert {score.difference.verdict for score in compared} == {"unclear"}
    assert list(RetrievalSuite.headline(result)) == ["animal", "place"]


def lowered(scores, *names):
    """Return scores with five points less in some groups."""
    worse = json.loads(json.dumps(scores))
    for group in worse["suites"]["retrieval"]["rows"]:
        group["encoder"] -= 0.05 * (group["name"] in names)
    return worse


def test_a_promotion_looks_at_every_aspect(scores, result):
    assert on_same_pairs(scores, scores)
    worse = lowered(scores, "animal")
    verdict = compare_scores(worse, scores, PromotionSettings(retrieval=2))
    assert not verdict.holds
    assert [reason.split(" ")[:4] for reason in verdict.reasons] == [
        ["retrieval", "(MRR)", "by", "animal"],
        ["retrieval", "(MRR)", "by", "place"],
    ]
    assert compare_scores(worse, scores, PromotionSettings(retrieval=6)).holds
    assert compare_scores(lowered(scores, "animal and place"), scores, PromotionSettings(retrieval=2)).holds
    other = json.loads(json.dumps(scores))
    other["suites"]["retrieval"]["data"]["texts"] = "another"
    assert not on_same_pairs(scores, other)


@pytest.mark.parametrize(
    ("aspects", "combine", "learnt"),
    [
        (["animal"], None, ["animal"]),
        (["animal", "place"], "routes", ["animal", "place"]),
        (["animal", "place"], "intersection", ["animal and place"]),
        (["animal", "place"], "union", ["animal or place"]),
        (["place", "colour"], "union", ["place"]),  # no text here says a colour, so that both cannot be asked
    ],
)
def test_a_promotion_lets_an_encoder_forget_what_it_was_not_trained_for(job, tmp_path, aspects, combine, learnt):
    shutil.copytree(job.encoder, tmp_path / "encoder")
    training = json.loads((job.encoder / "training.json").read_text())
    training["settings"] |= {"kind": "aspect", "aspects": aspects, "combine": combine}
    (tmp_path / "encoder" / "training.json").write_text(json.dumps(training))
    found = scored(job, Models(perfect, None), encoder=tmp_path / "encoder")
    assert found["learnt"] == learnt
    before = {"format": 3, "suites": {"retrieval": found}}
    others = {group["name"] for group in found["rows"]} - {*learnt}
    assert compare_scores(lowered(before, *others), before, PromotionSettings(retrieval=2)).holds
    for name in learnt:
        assert not compare_scores(lowered(before, name), before, PromotionSettings(retrieval=2)).holds


def test_a_split_without_texts_is_refused_with_those_that_there_are(job):
    with refused(NothingToScore):
        RetrievalSuite.of(Subject(job.model_copy(update={"split": "tset", "suites": ("retrieval",)})))


def test_where_nobody_asked_for_it_by_name_it_is_left_out_with_a_warning(job, caplog):
    assert RetrievalSuite.of(Subject(job.model_copy(update={"split": "train"}))) is None
    assert "Not scored: animal, only one text has a label, so there is none to find." in caplog.text
    assert RetrievalSuite.of(Subject(job.model_copy(update={"source": None}))) is None


def test_an_aspect_that_says_nothing_is_skipped_and_told_beside_the_others(job, tmp_path):
    rows = [*texts_with_labels(12), *((row[0], "zoo", "dev", "kind", "text") for row in texts_with_labels(12)[::2])]
    source = exported(tmp_path / "texts.parquet", rows)
    found = scored(job, Models(perfect, None), source=source)
    (first, *_) = RetrievalSuite.tables(found)
    assert (
        "Not scored: kind, animal or kind, kind or place, all 12 texts have the label 'text', so every ranking of them "
        "is right." in first.note
    )
    assert (
        "Not scored: animal and kind, all 12 texts have the label 'text' in kind, so the same ones belong together as "
        "by animal alone." in first.note
    )
    assert [group["name"] for group in found["rows"]] == ["animal", "place", "animal and place", "animal or place"]


def test_what_is_not_scored_for_the_same_reason_is_told_in_one_sentence(job, tmp_path):
    apart = [(f"text {n}", "zoo", "dev", f"aspect {n // 2}", "same") for n in range(14)]
    found = scored(
        job, Models(perfect, None), source=exported(tmp_path / "apart.parquet", [*texts_with_labels(12), *apart])
    )
    assert "more, no text has labels in both aspects." in " ".join(found["skipped"])
    assert len(found["skipped"]) < 6


def test_that_precision_is_of_ten_where_there_are_fewer_texts_is_told(job, tmp_path, result):
    few = exported(tmp_path / "texts.parquet", texts_with_labels(9))
    note = RetrievalSuite.tables(scored(job, Models(perfect, None), source=few))[1].note
    assert note.startswith("P: share of the 10 nearest texts that are relevant, of 10 also where there are fewer. R: ")
    assert "sum of P at the rank of each hit, divided by the most that is possible, min(10, relevant texts)" in note
    assert "fewer" not in RetrievalSuite.tables(result)[1].note


def test_an_aspect_in_which_no_text_of_the_split_has_a_label_is_told(job, tmp_path):
    rows = [*texts_with_labels(12), *texts_with_labels(3, split="test")]
    away = [row for row in rows if row[2:4] != ("dev", "place")]
    found = scored(job, Models(perfect, None), source=exported(tmp_path / "away.parquet", away))
    assert [group["name"] for group in found["rows"]] == ["animal"]
    assert "Not scored: place, no text of dev has a label in it." in RetrievalSuite.tables(found)[0].note
    whole = scored(job, Models(perfect, None), source=exported(tmp_path / "whole.parquet", rows))
    assert not any("has a label in it" in said for said in whole["skipped"])


def test_labels_held_out_of_training_that_no_query_has_are_told_aspect_by_aspect(job, tmp_path, result):
    assert result["unasked"] == {}
    shutil.copytree(job.encoder, tmp_path / "encoder")
    training = json.loads((job.encoder / "training.json").read_text())
    held_out = {
        "animal": ["griffin", "unicorn"],  # one text has the latter, and no other to find
        "colour": [f"colour {number:02}" for number in range(12)],
        "place": ["<park>"],
        "size": [],
    }
    (tmp_path / "encoder" / "training.json").write_text(json.dumps({**training, "held_out_labels": held_out}))
    changed = job.model_copy(update={"encoder": tmp_path / "encoder", "output": tmp_path})
    found = evaluate(changed)["suites"]["retrieval"]
    assert [row["name"] for row in found["unseen"]] == ["place"]
    assert list(found["unasked"]) == ["animal", "colour"]
    (first, *_) = RetrievalSuite.tables(found)
    names = ", ".join(f"colour {number:02}" for number in range(10))
    said = (
        "Labels held out of training in animal: 2 (griffin, unicorn); no query of dev has one.",
        f"Labels held out of training in colour: 12 ({names} and 2 more); no query of dev has one.",
    )
    for sentence in said:
        assert sentence in first.note
        assert sentence in (tmp_path / "report.html").read_text()
    assert "held out" not in RetrievalSuite.tables({**found, "unasked": {}})[0].note


def test_maps_are_drawn_by_seed_with_the_most_frequent_labels_coloured(job, monkeypatch):
    monkeypatch.setattr(maps, "MOST_POINTS", 40)
    monkeypatch.setattr(maps, "COLOURS", 2)
    subject = Subject(job)
    suite = RetrievalSuite.of(subject)
    drawn = suite.score(Models(perfect, perfect))["maps"][0]
    assert (drawn["name"], drawn["points"], drawn["of"], drawn["seed"]) == ("animal", 40, 48, 0)
    assert list(drawn["legend"]) == sorted(drawn["legend"], key=lambda label: -drawn["legend"][label])
    assert len(drawn["legend"]) == 2
    assert drawn["sides"]["encoder"]["agreement"] > 0.6
    assert drawn["sides"]["encoder"] == drawn["sides"]["start"]


def test_in_a_browser_nothing_is_wrong_with_the_maps_wide_or_narrow_light_or_dark(scores, job, browser):
    report = write_report(job.output, job.encoder)
    assert "<script" not in report.read_text()
    assert "&lt;park&gt;" in report.read_text()
    assert browser.find_faults(report) == []


def test_without_a_start_model_there_is_one_map_and_a_second_method_is_one_click_away(
    job, tiny_encoder, tmp_path, monkeypatch, browser
):
    monkeypatch.setattr(maps, "methods", lambda: {"t-SNE": maps._tsne, "UMAP": lambda vectors, _: vectors[:, 2:4]})
    evaluate(job.model_copy(update={"encoder": tiny_encoder, "output": tmp_path}))
    assert browser.find_faults(tmp_path / "report.html") == []
    browser.show(tmp_path / "report.html")
    where = "return [...document.querySelectorAll('.plane i')].map(dot => dot.getBoundingClientRect().left);"
    before = browser.run(where)
    browser.run("document.querySelectorAll('.by1').forEach(choice => choice.click())")
    after = browser.run(where)
    assert len(before) == len(after) == 96
    assert sum(a != b for a, b in zip(before, after, strict=True)) > 80


@pytest.mark.parametrize("width", [1280, 420], ids=["wide", "narrow"])
def test_the_text_of_a_point_is_shown_on_focus_and_arrow_keys_go_on(scores, job, browser, width):
    browser.show(write_report(job.output, job.encoder), width=width)
    shown = """return [...document.querySelectorAll('.plane span')].filter(e => e.getClientRects().length)
        .map(e => e.innerText);"""
    first, *others = browser.run(shown)
    assert 1 + len(others) == browser.run("return document.querySelectorAll('.plane').length"), "no room stays empty"
    browser.run("document.querySelector('.plane input').focus();")
    browser.press("ArrowRight")
    assert browser.run(shown) == [second := browser.run(shown)[0], *others]
    assert first != second
    assert "animal: " in first
    inside = """
        const frames = [...document.querySelectorAll('.plane')].map(plane =>
            [...plane.querySelectorAll('.frame')].map(frame => frame.getBoundingClientRect()));
        return [...document.querySelectorAll('.plane')].every((plane, n) =>
            [...plane.querySelectorAll('label')].every(label => [...label.querySelectorAll('i')].every((dot, side) => {
                const box = dot.getBoundingClientRect(), frame = frames[n][side];
                return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top
                    && box.bottom <= frame.bottom;
            })));"""
    assert browser.run(inside) is True
