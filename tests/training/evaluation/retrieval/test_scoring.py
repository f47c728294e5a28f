"""Ranking metrics against other ways to compute them, and which texts belong together."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import average_precision_score, ndcg_score

from features.metrics.bootstrap import Bootstrap
from training.data.labelled_texts import LabelledTexts
from training.evaluation.retrieval.asking import (
    ask,
    ask_for,
    band_of,
    bm25,
    count_words,
    products_of,
    summarise,
    tfidf,
)
from training.evaluation.retrieval.groups import groups_of
from training.nearest import cosines_of, find_nearest, unit
from training.ranking import MEASURES, expected_at_random, judge, measure

ROWS = [
    ("a", "country", "France"),
    ("a", "industry", "banks"),
    ("b", "country", "France"),
    ("b", "industry", "banks"),
    ("c", "country", "France"),
    ("d", "country", "Japan"),
    ("d", "industry", "banks"),
    ("d", "industry", "trade"),
    ("e", "country", "Japan"),
    ("e", "industry", "trade"),
]


def labelled(rows, corpus="wiki"):
    table = pl.DataFrame(rows, schema=["text", "aspect", "label"], orient="row")
    return LabelledTexts.from_table(table.with_columns(corpus=pl.lit(corpus), split=pl.lit("test")), source={})


def related(group, data):
    block = group.relevant(slice(0, len(group)))
    names = [data.texts[place] for place in group.texts]
    return {
        name: {other for other, known in zip(names, row, strict=True) if known}
        for name, row in zip(names, block, strict=True)
    }


@pytest.mark.parametrize("k", [1, 3, 10])
def test_what_a_random_order_is_expected_to_have_is_the_mean_over_all_orders(k):
    others = 6
    for relevant in range(others + 1):
        truth = np.arange(others) < relevant
        orders = np.array([truth[list(order)] for order in permutations(range(others))])
        mean = measure(orders[:, :k], np.full(len(orders), relevant), k).mean(axis=0)
        expected = expected_at_random(np.array([relevant]), others + 1, k)
        np.testing.assert_allclose(expected, mean[None], atol=1e-12)


def test_two_texts_can_be_ranked_at_random():
    np.testing.assert_array_equal(expected_at_random(np.array([1]), 2, 10), [[0.1, 1.0, 1.0, 1.0, 1.0]])


def test_texts_belong_together_by_one_aspect_by_both_or_by_any():
    data = labelled(ROWS)
    found = {group.name: related(group, data) for group in groups_of(data)}
    assert found == {
        "country": {"a": {"b", "c"}, "b": {"a", "c"}, "c": {"a", "b"}, "d": {"e"}, "e": {"d"}},
        "industry": {"a": {"b", "d"}, "b": {"a", "d"}, "d": {"a", "b", "e"}, "e": {"d"}},
        "country and industry": {"a": {"b"}, "b": {"a"}, "d": {"e"}, "e": {"d"}},
        "country or industry": {"a": {"b", "d"}, "b": {"a", "d"}, "d": {"a", "b", "e"}, "e": {"d"}},
    }
    (_, industry, *_) = groups_of(data)
    again = np.concatenate([industry.relevant(slice(start, start + 1)) for start in range(4)])
    np.testing.assert_array_equal(again, industry.relevant(slice(0, 4)))


def test_labels_of_two_corpora_are_not_compared():
    data = LabelledTexts.from_table(
        pl.DataFrame(
            [("a", "mr", "test", "class", "1"), ("b", "mr", "test", "class", "1"), ("c", "cr", "test", "class", "1")],
            schema=["text", "corpus", "split", "aspect", "label"],
            orient="row",
        ),
        source={},
    )
    found = {group.name: related(group, data) for group in groups_of(data)}
    assert found == {"cr: class": {"c": set()}, "mr: class": {"a": {"b"}, "b": {"a"}}}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("a", "x", "1")], "only one text has a label, so there is none to find"),
        ([("a", "x", "1"), ("b", "x", "2")], "no two of 2 texts share a label, so there is none to find"),
        ([("a", "x", "1"), ("b", "x", "1")], "all 2 texts have the label '1', so every ranking of them is right"),
        (
            [("a", "x", "1"), ("a", "x", "2"), ("b", "x", "2")],
            "all 2 texts have the label '2', so every ranking of them is right",
        ),
        ([("a", "x", "1"), ("b", "x", "1"), ("c", "x", "2")], ""),
    ],
    ids=["one text", "one text a label", "one label", "one of all", "two labels"],
)
def test_what_cannot_be_asked_is_said(rows, said):
    (group,) = groups_of(labelled(rows))
    assert group.lacks == said


def test_two_aspects_that_no_text_has_together_are_not_asked():
    by_name = {group.name: group.lacks for group in groups_of(labelled([("a", "x", "1"), ("b", "y", "1")]))}
    assert by_name["x and y"] == by_name["x or y"] == "no text has labels in both aspects"


def test_two_aspects_that_no_two_texts_share_together_are_not_asked_but_each_of_them_is():
    rows = [
        (text, aspect, label)
        for text, labels in PAIRED.items()
        for aspect, label in zip("xyz", (*labels, text), strict=True)
    ]
    by_name = {group.name: group.lacks for group in groups_of(labelled(rows))}
    assert by_name["x and y"] == "no two of 4 texts share a label in both aspects, so there is none to find"
    assert [by_name[name] for name in ("x", "y", "x or y", "x or z")] == [""] * 4


def test_an_aspect_that_all_texts_share_says_nothing_beside_another_either():
    rows = [(f"t{n}", aspect, label) for n in range(4) for aspect, label in (("x", f"{n % 2}"), ("y", "all"))]
    by_name = {group.name: group.lacks for group in groups_of(labelled(rows))}
    assert by_name["y"] == by_name["x or y"] == "all 4 texts have the label 'all', so every ranking of them is right"
    assert by_name["x"] == ""
    assert by_name["x and y"] == "all 4 texts have the label 'all' in y, so the same ones belong together as by x alone"


def test_an_aspect_that_all_texts_with_both_share_is_asked_where_it_leaves_texts_out():
    rows = [(f"t{n}", "x", f"{n % 2}") for n in range(6)] + [(f"t{n}", "y", "all") for n in range(4)]
    by_name = {group.name: group for group in groups_of(labelled(rows))}
    assert by_name["x and y"].lacks == ""
    assert (len(by_name["x"]), len(by_name["x and y"])) == (6, 4)


def test_two_aspects_in_which_all_texts_are_alike_say_nothing_together():
    rows = [(f"t{n}", aspect, "all") for n in range(4) for aspect in "xy"]
    said = {group.lacks for group in groups_of(labelled(rows))}
    assert said == {"all 4 texts have the label 'all', so every ranking of them is right"}


PAIRED = {"a": "12", "b": "11", "c": "21", "d": "22"}
rankings_with_hits = st.integers(2, 9).flatmap(
    lambda n: st.tuples(
        arrays(np.bool_, (4, n)), arrays(np.float64, (4, n), elements=st.integers(0, 1000), unique=True)
    )
)


@given(drawn=rankings_with_hits, k=st.integers(1, 10))
def test_measures_are_those_of_sentence_transformers_and_scikit_learn(drawn, k):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    relevant, similarities = drawn
    order = np.argsort(-similarities, axis=1, kind="stable")
    counts = relevant.sum(axis=1)
    values = measure(np.take_along_axis(relevant, order, axis=1)[:, :k], counts, k)
    assert ((values >= 0) & (values <= 1 + 1e-12)).all()
    n = relevant.shape[1]
    for query in np.flatnonzero(counts):
        gold = relevant[query].astype(int)
        if n > 1:
            assert values[query, MEASURES.index("ndcg")] == pytest.approx(
                ndcg_score([gold], [similarities[query]], k=k)
            )
        if k >= n:
            expected = average_precision_score(gold, similarities[query])
            assert values[query, MEASURES.index("map")] == pytest.approx(expected)
    asked = [str(query) for query in np.flatnonzero(counts)]
    if not asked:
        return
    evaluator = InformationRetrievalEvaluator(
        queries={query: query for query in asked},
        corpus={str(place): str(place) for place in range(n)},
        relevant_docs={query: {str(place) for place in np.flatnonzero(relevant[int(query)])} for query in asked},
        mrr_at_k=[k],
        ndcg_at_k=[k],
        accuracy_at_k=[k],
        precision_recall_at_k=[k],
        map_at_k=[k],
    )
    found = [
        [{"corpus_id": str(place), "score": float(similarities[int(query), place])} for place in order[int(query)]]
        for query in evaluator.queries_ids
    ]
    theirs = evaluator.compute_metrics(found)
    keys = ("precision@k", "recall@k", "mrr@k", "ndcg@k", "map@k")
    for column, key in enumerate(keys):
        assert values[counts > 0, column].mean() == pytest.approx(theirs[key][k]), key


@given(hits=arrays(np.bool_, (1, 6)), more=st.integers(0, 5), k=st.integers(1, 6), place=st.integers(0, 4))
def test_a_hit_one_rank_higher_is_never_worse(hits, more, k, place):
    relevant = hits.sum(axis=1) + more
    before = measure(hits[:, :k], relevant, k)
    higher = hits.copy()
    if hits[0, place + 1] and not hits[0, place]:
        higher[0, [place, place + 1]] = True, False
    assert (measure(higher[:, :k], relevant, k) >= before - 1e-12).all()


def test_queries_without_a_relevant_text_are_counted_and_judged_in_blocks_alike(monkeypatch):
    data = labelled([*ROWS, ("f", "country", "Peru")])
    (country, *_) = groups_of(data)
    vectors = unit(np.random.default_rng(0).standard_normal((len(country), 4)).astype(np.float32))
    ranking = find_nearest(cosines_of(vectors, vectors), queries=6, texts=6, k=3, themselves=True).positions
    counts, values = judge(country.relevant, {"it": ranking}, texts=6, k=3)
    assert counts.tolist() == [2, 2, 2, 1, 1, 0]
    assert values["it"][-1].tolist() == [0] * 5
    _, score, *_ = ask(country, {"encoder": vectors}, list("abcdef"), 3, Bootstrap(2))
    assert (score["queries"], score["without"]) == (5, 1)
    at_random = expected_at_random(counts[:5], 6, 3).mean(axis=0)
    assert list(score["random"].values()) == pytest.approx(at_random.tolist())
    monkeypatch.setattr("training.ranking._CELLS_AT_ONCE", 6)
    again = judge(country.relevant, {"it": ranking}, texts=6, k=3)
    np.testing.assert_array_equal(again[1]["it"], values["it"])


def test_intervals_hold_the_mean_and_a_better_ranking_is_above():
    random = np.random.default_rng(0)
    good, bad = random.uniform(0.5, 1, (80, 5)), random.uniform(0, 0.5, (80, 5))
    found = summarise({"encoder": good, "start": bad, "same": good}, Bootstrap(200))
    for column, name in enumerate(MEASURES):
        score = found["encoder"][name]
        assert score["low"] < score["value"] < score["high"]
        assert score["value"] == pytest.approx(good[:, column].mean())
        assert found["start"]["difference"][name]["verdict"] == "above"
        assert found["same"]["difference"][name] == {"low": 0, "high": 0, "verdict": "unclear"}
    assert "difference" not in found["encoder"]


@pytest.mark.parametrize(("of_label", "worse", "verdict"), [(1, 5, "unclear"), (1, 6, "above"), (2, 10, "unclear")])
def test_a_ranking_that_differs_in_few_queries_or_labels_is_not_told_apart(of_label, worse, verdict):
    encoder = np.full((80, 5), 0.8)
    start = np.where(np.arange(80) < worse, 0.2, 0.8)[:, None] * np.ones(5)
    values, labels = {"encoder": encoder, "start": start}, np.arange(80) // of_label
    found = summarise(values, Bootstrap(400), labels)["start"]["difference"]
    assert {found[name]["verdict"] for name in MEASURES} == {verdict}


def test_labels_are_drawn_with_all_of_their_queries():
    random = np.random.default_rng(0)
    of_label = np.repeat(random.uniform(0.2, 0.8, 8), 10)
    values = {"encoder": np.repeat(of_label[:, None], 5, axis=1) + random.normal(0, 0.05, (80, 5))}
    labels = np.repeat(np.arange(8) * 3, 10)
    by_query, by_label = summarise(values, Bootstrap(400)), summarise(values, Bootstrap(400), labels)

    def width(found):
        return found["encoder"]["mrr"]["high"] - found["encoder"]["mrr"]["low"]

    assert by_label["encoder"]["mrr"]["value"] == pytest.approx(by_query["encoder"]["mrr"]["value"])
    assert width(by_label) > 2 * width(by_query)
    few = summarise(values, Bootstrap(400), np.repeat(np.arange(4), 20))["encoder"]["mrr"]
    assert (few["low"], few["high"]) == (None, None)


def test_a_label_that_no_other_text_has_neither_counts_nor_stands_for_a_query():
    rows = [(f"t{n}", "x", label) for n in range(8) for label in (f"alone {n}", "together")]
    (group,) = groups_of(labelled([*rows, ("t8", "x", "seen"), ("t9", "x", "seen")]))
    ranking = {"encoder": np.array([[n + 1 if n < 9 else 0] for n in range(10)])}
    held_out = ["together", *(f"alone {n}" for n in range(8))]

    found = ask_for(held_out, group, ranking, 1, Bootstrap(50))
    assert (found["labels"], found["queries"]) == (1, 8)
    mrr = found["rankings"]["encoder"]["mrr"]
    assert mrr == {"value": 7 / 8, "low": None, "high": None}  # one label says nothing of others
    assert ask_for(held_out[1:], group, ranking, 1, Bootstrap(50)) is None


def test_a_query_belongs_to_its_rarest_label_that_another_text_has():
    rows = [(f"t{n}", "x", "often") for n in range(6)]
    rows += [("t0", "x", "twice"), ("t1", "x", "twice"), ("t2", "x", "once"), ("t6", "x", "alone")]
    ((labels,),) = [group.labels.values() for group in groups_of(labelled(rows))]
    assert band_of(labels).tolist() == [0, 0, 1, 1, 1, 1, -1]


def test_bands_of_frequencies_meet_at_their_bounds():
    rows = [(f"{n} {size}", "x", f"{size}") for size in (2, 4, 5, 9, 10, 24, 25, 99, 100) for n in range(size)]
    (group,) = groups_of(labelled(rows))
    _, score, _, _ = ask(group, {"encoder": np.ones((278, 1), np.float32)}, [row[0] for row in rows], 10, Bootstrap(2))
    assert [tuple(band[key] for key in ("least", "most", "labels", "queries")) for band in score["bands"]] == [
        (2, 4, 2, 6), (5, 9, 2, 14), (10, 24, 2, 34), (25, 99, 2, 124), (100, None, 1, 100)]  # fmt: skip


def test_tfidf_is_scikit_learns_and_bm25_the_sum_over_common_words():
    texts = ["red cat cat", "the cat", "the the dog runs", ""]
    counts = count_words(texts)
    weights = tfidf(counts)
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    assert lengths[:3] == pytest.approx(1)
    found = products_of(*bm25(counts))(slice(0, 4))

    def expected(query, text):
        words, score = [each.split() for each in texts], 0.0
        mean = sum(map(len, words)) / 4
        for word in set(words[query]):
            times, having = words[text].count(word), sum(word in of for of in words)
            idf = np.log(1 + (4 - having + 0.5) / (having + 0.5))
            score += idf * times * 2.5 / (times + 1.5 * (0.25 + 0.75 * len(words[text]) / mean))
        return score

    for query in range(4):
        for text in range(4):
            assert found[query, text] == pytest.approx(expected(query, text), rel=1e-5)


def test_texts_without_a_word_are_like_nothing():
    counts = count_words(["…", "?"])
    assert products_of(*bm25(counts))(slice(0, 2)).tolist() == [[0, 0], [0, 0]]
    assert tfidf(counts).shape[0] == 2
