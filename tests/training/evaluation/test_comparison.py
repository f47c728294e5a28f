"""Two encoders side by side: on common pairs, compared by drawn pairs, by seeds, or not at all."""

import json
import sys

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sentences import refused

from features.core.faults import NoScores, ScoredDifferently
from features.metrics.bootstrap import Bootstrap
from training.evaluation.bars import Bar, draw_bars
from training.evaluation.bootstrap import Difference
from training.evaluation.comparison import _welch, compare_runs, comparison_table, signed, tell_difference
from training.evaluation.items import Aligned, ItemScores, align
from training.evaluation.run import FORMAT
from training.evaluation.suites import SUITES
from training.evaluation.tables import hundred
from training.writing import write_json

PAIRS = 200
DRAWS = Bootstrap(resamples=200)


@pytest.fixture
def evaluated(tmp_path):
    """Return a function that writes an evaluation whose similarities follow the measured values, with some noise."""
    measured = np.random.default_rng(0).random((2, PAIRS))

    def write(name, noise, *, seed=1, first=0, facets=("smatch", "negations"), ratings=True, **suites):
        random = np.random.default_rng(seed)
        folder = tmp_path / name
        folder.mkdir()
        columns = {
            "pair_id": [f"p{row:03d}" for row in range(PAIRS)],
            "text_a": [f"text {row}" for row in range(PAIRS)],
        }
        for values, facet in zip(measured, facets, strict=True):
            columns[f"{facet}_measured"] = values
            columns[f"{facet}_similarity"] = values + noise * random.normal(size=PAIRS)
        pl.DataFrame(columns)[first:].sample(fraction=1, shuffle=True, seed=seed).write_parquet(
            folder / "pairs.parquet"
        )
        if ratings:
            texts = [f"text {row}" for row in range(PAIRS)]
            similar = measured[0] + noise * random.normal(size=PAIRS)
            columns = {
                "set": ["sts"] * PAIRS,
                "text_a": texts,
                "text_b": texts,
                "score": measured[0],
                "similarity": similar,
            }
            pl.DataFrame(columns).write_parquet(folder / "ratings.parquet")
            suites["ratings"] = {"rows": [{"name": "sts", "encoder": 0.5, "pairs": PAIRS}], "data": {"sts": "0"}}
        suites["facets"] = {"rows": [{"name": facet, "encoder": 0.5} for facet in facets], "data": "d"}
        ordered = {suite: suites[suite] for suite in SUITES if suite in suites}
        write_json(folder / "metrics.json", {"format": FORMAT, "suites": ordered})
        return folder

    return write


def by_name(comparison):
    return {score.name: score for score in comparison.scores}


def test_single_runs_are_judged_by_the_pairs_drawn_again(evaluated):
    good, bad = evaluated("good", 0.1), evaluated("bad", 2.0)
    found = compare_runs([bad], [good], DRAWS)
    assert found.basis == "items"
    assert [score.name for score in found.scores] == ["smatch", "negations", "mean", "sts"]
    for score in found.scores:
        assert (score.items, score.difference.verdict, score.a.deviation, score.p) == (PAIRS, "above", None, None)
        assert score.difference.low <= score.b.mean - score.a.mean <= score.difference.high
    assert all(score.difference.verdict == "below" for score in compare_runs([good], [bad], DRAWS).scores)


def test_an_encoder_beside_its_like_is_not_different(evaluated):
    found = compare_runs([evaluated("one", 0.5)], [evaluated("two", 0.5, seed=2)], DRAWS)
    assert {score.difference.verdict for score in found.scores} == {"unclear"}


def test_the_scores_are_those_of_spearman_on_the_pairs_of_both(evaluated):
    all_of_them, fewer = evaluated("all", 0.5), evaluated("fewer", 0.5, seed=2, first=50)
    found = by_name(compare_runs([all_of_them], [fewer], DRAWS))
    table = pl.read_parquet(all_of_them / "pairs.parquet").sort("pair_id")[50:]
    expected = stats.spearmanr(table["smatch_measured"], table["smatch_similarity"]).statistic
    assert found["smatch"].items == 150
    assert found["smatch"].a.mean == pytest.approx(expected)
    assert found["mean"].a.mean == pytest.approx((found["smatch"].a.mean + found["negations"].a.mean) / 2)


def test_a_facet_whose_metric_never_changes_is_not_part_of_the_mean(evaluated):
    folders = [evaluated(name, 0.5, seed=seed, facets=("smatch", "negations")) for seed, name in enumerate("ab")]
    for folder in folders:
        constant = [pl.lit(1.0).alias(f"frames_{what}") for what in ("measured", "similarity")]
        pl.read_parquet(folder / "pairs.parquet").with_columns(*constant).write_parquet(folder / "pairs.parquet")
        scores = json.loads((folder / "metrics.json").read_text())
        scores["suites"]["facets"]["rows"].append({"name": "frames", "encoder": None})
        write_json(folder / "metrics.json", scores)
    comparison = compare_runs(folders[:1], folders[1:], DRAWS)
    found = by_name(comparison)
    assert found["frames"].a.mean is None
    assert found["mean"].a.mean == pytest.approx((found["smatch"].a.mean + found["negations"].a.mean) / 2)
    assert found["mean"].difference is not None
    assert comparison.left_out == {"facets frames": "it is undefined, and not part of the mean"}


def test_ratings_without_a_score_are_left_out_of_no_mean_where_there_is_none(evaluated):
    folders = [evaluated(name, 0.5, seed=seed) for seed, name in enumerate("ab")]
    for folder in folders:
        _ratings(folder).with_columns(score=pl.lit(1.0)).write_parquet(folder / "ratings.parquet")
    comparison = compare_runs(folders[:1], folders[1:], DRAWS)
    assert by_name(comparison)["sts"].a.mean is None
    assert comparison.left_out == {}


def test_pairs_of_one_sentence_are_drawn_together(evaluated):
    folders = [evaluated("bad", 0.6), evaluated("good", 0.5, seed=2)]
    apart = by_name(compare_runs(folders[:1], folders[1:], DRAWS))["smatch"].difference
    for folder in folders:
        table = pl.read_parquet(folder / "pairs.parquet").sort("pair_id")
        table.with_columns(text_a=pl.Series([f"text {row // 50}" for row in range(PAIRS)])).write_parquet(
            folder / "pairs.parquet"
        )
    assert by_name(compare_runs(folders[:1], folders[1:], DRAWS))["smatch"].difference is None  # of four sentences
    assert apart is not None


def test_seeds_are_compared_by_their_means(evaluated):
    bad = [evaluated(f"bad-{seed}", 1.0, seed=seed) for seed in range(3)]
    good = [evaluated(f"good-{seed}", 0.5, seed=10 + seed) for seed in range(4)]
    found = compare_runs(bad, good, DRAWS)
    assert (found.basis, found.runs) == ("seeds", (3, 4))
    score = by_name(found)["sts"]
    each = [
        [stats.spearmanr(table["score"], table["similarity"]).statistic for table in map(_ratings, side)]
        for side in (bad, good)
    ]
    assert (score.a.mean, score.a.deviation) == pytest.approx((np.mean(each[0]), np.std(each[0], ddof=1)))
    test = stats.ttest_ind(each[1], each[0], equal_var=False)
    assert score.p == pytest.approx(test.pvalue)
    assert (score.difference.low, score.difference.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert score.difference.verdict == "above"


def _ratings(folder):
    return pl.read_parquet(folder / "ratings.parquet")


def test_one_run_against_several_is_judged_by_nothing(evaluated):
    found = compare_runs([evaluated("one", 2.0)], [evaluated("a", 0.1), evaluated("b", 0.1, seed=3)], DRAWS)
    assert found.basis == "nothing"
    assert all(score.difference is None for score in found.scores)
    note = comparison_table(found, "one", "two").note
    assert "1 run of A against 2 of B: a verdict needs one run of each, or several of both (--seeds)." in note


def test_what_is_zero_when_it_is_rounded_has_no_sign():
    values = (-0.0004, 0.0004, -0.0, -0.0006, 0.0006)
    assert [signed(value) for value in values] == ["0.0", "0.0", "0.0", "-0.1", "+0.1"]
    assert tell_difference(None, None, Difference(-0.0001, 0.0002, "unclear"))[1] == "0.0 to 0.0"
    assert tell_difference(None, None, Difference(0.0001, 0.048, "above"))[1] == "+0.0 to +4.8"
    assert tell_difference(None, None, Difference(-0.048, -0.0001, "below"))[1] == "-4.8 to -0.0"
    assert tell_difference(0.5, None, None) == tell_difference(None, 0.5, None) == ("–", "–", "")
    assert [hundred(value) for value in (-0.0004, -0.0006)] == ["0.0", "-0.1"]
    drawn = draw_bars([Bar(name="all", about="", value=-0.04, interval=(-0.04, 0.3), verdict="")], of="B", axis="x")
    assert "\u22120.0" not in drawn


def test_the_table_says_what_its_verdicts_rest_on(evaluated):
    one, two = evaluated("one", 0.1), evaluated("two", 2.0, ratings=False)
    table = comparison_table(compare_runs([one], [two], DRAWS), "one", "two")
    assert (table.title, table.columns[1:]) == ("A: one, B: two", ("A", "B", "B − A", "95 % interval", "B is"))
    assert [row[0] for row in table.rows] == ["facets: smatch", "facets: negations", "facets: mean"]
    assert "paired bootstrap over the pairs" in table.note
    assert "Of 3 comparisons at 95 %, about one in twenty is above or below by chance." in table.note
    assert f"In common: facets {PAIRS} pairs." in table.note
    assert "Left out because not every run has a score for it: ratings." in table.note


def test_a_side_whose_training_used_what_it_is_scored_on_is_named(evaluated):
    a, b, none = evaluated("a", 0.5), evaluated("b", 0.5, seed=2), evaluated("none", 0.5, seed=3)
    for folder, sets in ((a, []), (b, ["sts"])):
        scores = json.loads((folder / "metrics.json").read_text())
        scores["suites"]["ratings"]["chosen_by"] = sets
        scores["suites"]["facets"] |= {"seen": {"part": "learnt", "corpora": ["mine"]}, "split": "train"}
        write_json(folder / "metrics.json", scores)
    found = compare_runs([a], [b], DRAWS)
    assert found.caveats == (
        "A and B were trained on the split train of mine: their scores there may be higher than on other data.",
        "B was chosen on sts: its scores there may be higher than on other data.",
    )
    note = comparison_table(found, "one", "two").note
    assert all(caveat in note.splitlines() for caveat in found.caveats)
    assert compare_runs([none], [evaluated("other", 0.5)], DRAWS).caveats == ()


def test_encoders_without_a_common_pair_or_with_other_metrics_are_not_compared(evaluated, tmp_path):
    one, two = evaluated("one", 0.5), evaluated("two", 0.5)
    table = pl.read_parquet(two / "pairs.parquet")
    table.with_columns(pl.col("smatch_measured") / 2).write_parquet(two / "pairs.parquet")
    with refused(ScoredDifferently):
        compare_runs([one], [two], DRAWS)
    table.with_columns(pl.col("pair_id") + "x").write_parquet(two / "pairs.parquet")
    found = compare_runs([one], [two], DRAWS)
    assert [score.suite for score in found.scores] == ["ratings"]
    assert found.left_out == dict.fromkeys(
        ("facets smatch", "facets negations"), "the runs were evaluated on different pairs"
    )
    (two / "pairs.parquet").write_text("no table")
    with refused(NoScores):
        compare_runs([one], [two], DRAWS)


def test_without_any_score_in_common_it_is_said_why(evaluated):
    one, two = evaluated("one", 0.5, ratings=False), evaluated("two", 0.5, facets=("frames", "srl"), ratings=False)
    with refused(ScoredDifferently):
        compare_runs([one], [two], DRAWS)


def test_ratings_that_have_changed_are_not_compared(evaluated):
    one, two = evaluated("one", 0.5), evaluated("two", 0.5)
    table = _ratings(two)
    table.with_columns(pl.col("score") * -1).write_parquet(two / "ratings.parquet")
    with refused(ScoredDifferently):
        compare_runs([one], [two], DRAWS)


# Of a suite that nothing else knows of: how many texts are classified rightly, with and without what it left of each.
CLASSES = """
import numpy as np

from training.evaluation.items import ItemScores, read_items
from training.evaluation.suites import Suite


class ClassSuite(Suite):
    name = "classes"
    title = "Classes"
    needs = "texts"
    measure = "accuracy"

    of = score = tables = None


    @classmethod
    def items(cls, folder, result):
        file = folder / "classes.parquet"
        if not file.exists():
            return []
        table = read_items(file, "text", "right")
        return [ItemScores("mr", table["text"].to_list(), table["right"].cast(float).to_numpy(), unit="texts")]
"""


@pytest.fixture
def classes(tmp_path, monkeypatch):
    """Add a suite with one file and one line."""
    (tmp_path / "class_suite.py").write_text(CLASSES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SUITES, "classes", "class_suite:ClassSuite")
    yield
    sys.modules.pop("class_suite", None)


def test_a_new_suite_is_compared_by_what_it_left_of_each_item(classes, evaluated):
    sides = []
    for name, share in (("one", 0.3), ("two", 0.9)):
        folder = evaluated(name, 0.5, classes={"rows": [{"name": "mr", "encoder": share}], "data": "0"})
        right = np.arange(100) < 100 * share
        texts = [f"text {number}" for number in range(100)]
        pl.DataFrame({"text": texts, "right": right}).write_parquet(folder / "classes.parquet")
        sides.append(folder)
    found = compare_runs(sides[:1], sides[1:], DRAWS)
    score = by_name(found)["mr"]
    assert (score.suite, score.measure, score.items, score.unit) == ("classes", "accuracy", 100, "texts")
    assert (score.a.mean, score.b.mean, score.difference.verdict) == (0.3, 0.9, "above")
    assert 0.4 < score.difference.low < 0.6 < score.difference.high < 0.8
    table = comparison_table(found, "one", "two")
    assert table.columns[0] == "score × 100"
    assert table.rows[-1][:4] == ("classes: mr, accuracy", "30.0", "90.0", "+60.0")
    assert "paired bootstrap over the pairs and texts" in table.note
    assert f"In common: facets {PAIRS} pairs, ratings {PAIRS} pairs, classes 100 texts." in table.note


@pytest.fixture
def of_sets(tmp_path):
    """Return a function that writes an evaluation on two sets of judged pairs of equal size."""

    def write(name, noise, *, same=False):
        random = np.random.default_rng(3)
        folder = tmp_path / name
        folder.mkdir()
        tables, corpora = [], []
        for number, corpus in enumerate(("one", "two")):
            # Without a number in the texts both sets are of the same pairs.
            texts = [f"text {row}{'' if same else f' of {number}'}" for row in range(100)]
            positive = np.arange(100) % 2 == 0
            called = positive ^ (random.random(100) < noise)
            columns = {"set": [corpus] * 100, "text_a": texts, "text_b": texts}
            labels = {"label": np.where(positive, "1", "0"), "predicted": np.where(called, "1", "0")}
            tables.append(pl.DataFrame({**columns, **labels, "score": called + 0.01 * random.random(100)}))
            about = {"labels": {"positive": "1", "negative": "0"}, "scored_by": "cosine"}
            corpora.append({"name": corpus, "encoder": 0.5, **about})
        pl.concat(tables).write_parquet(folder / "paraphrase.parquet")
        write_json(
            folder / "metrics.json", {"format": FORMAT, "suites": {"paraphrase": {"rows": corpora, "data": "d"}}}
        )
        return folder

    return write


def test_sets_of_as_many_pairs_are_two_sets_and_the_same_pairs_are_one(of_sets):
    found = compare_runs([of_sets("a", 0.1)], [of_sets("b", 0.2)], DRAWS)
    assert {name: score.items for name, score in by_name(found).items()} == {"one": 100, "two": 100, "mean F1": 200}
    said = "In common: one 100 pairs, two 100 pairs, mean F1 200 pairs."
    table = comparison_table(found, "a", "b")
    assert said in table.note
    assert table.rows[-1][0] == "paraphrase: mean, F1"
    found = compare_runs([of_sets("c", 0.1, same=True)], [of_sets("d", 0.2, same=True)], DRAWS)
    assert by_name(found)["mean F1"].items == 100
    assert "In common: paraphrase 100 pairs." in comparison_table(found, "c", "d").note


def test_draws_of_other_items_are_independent_and_those_of_the_same_ones_are_the_same():
    random = np.random.default_rng(0)
    values = random.random((200, 2))
    one, same, other = (
        Aligned("x", [f"{name} {row}" for row in range(200)], values).draw(Bootstrap(500)).draws[:, 0]
        for name in ("one", "one", "other")
    )
    assert np.array_equal(one, same)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.15
    mean = np.std((one + other) / 2)
    assert mean == pytest.approx(np.std(one) / 2**0.5, rel=0.1)  # were they the same draws, it would be that of one


def test_items_are_aligned_by_what_names_them():
    one = ItemScores("s", ["a", "b", "c"], np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))
    two = ItemScores("s", ["c", "x", "a"], np.array([30.0, 0.0, 10.0]), np.array([0.3, 0.9, 0.1]))
    found = align([one, two])
    assert found.predicted.tolist() == [[1, 10], [3, 30]]
    assert found.expected.tolist() == [0.1, 0.3]
    assert align([one, ItemScores("s", ["x"], np.ones(1), np.ones(1))]) is None


@pytest.mark.parametrize(("a", "b"), [(0.7, 0.8), (0.8123, 0.8124)])
def test_seeds_with_one_score_on_each_side_have_no_verdict_also_where_their_mean_is_rounded(a, b):
    assert _welch(np.full(3, a), np.full(3, b)) == (None, None)
    difference, p = _welch(np.full(3, a), np.array([b, b, b + 0.001]))
    assert difference is not None
    assert p is not None


def retrieved(folder, digest, mrr):
    """Write an evaluation by retrieval alone, with the reciprocal rank of each of its texts."""
    folder.mkdir()
    texts = [f"text {row}" for row in range(len(mrr))]
    pl.DataFrame({"set": "country", "text_a": texts, "text_b": None, "mrr": mrr}).write_parquet(
        folder / "retrieval.parquet"
    )
    group = {"name": "country", "way": "one", "encoder": mrr.mean()}
    result = {"rows": [group], "data": {"texts": digest, "k": 10}}
    write_json(folder / "metrics.json", {"format": FORMAT, "suites": {"retrieval": result}})
    return folder


@pytest.mark.parametrize(("better", "verdict"), [(5, "unclear"), (6, "above")])
def test_runs_that_differ_in_a_few_items_are_not_told_apart(tmp_path, better, verdict):
    one, other = (retrieved(tmp_path / name, "d", np.full(50, 0.5)) for name in "ab")
    mrr = np.where(np.arange(50) < better, 1.0, 0.5)
    two = retrieved(tmp_path / "c", "d", mrr)
    assert by_name(compare_runs([one], [two], DRAWS))["country"].difference.verdict == verdict
    assert by_name(compare_runs([one], [other], DRAWS))["country"].difference.verdict == "unclear"


def test_ranks_among_other_texts_are_not_compared(tmp_path):
    def evaluated(name, digest, mrr):
        return retrieved(tmp_path / name, digest, np.full(50, mrr))

    among_few, also, among_many = evaluated("a", "few", 0.9), evaluated("b", "few", 0.5), evaluated("c", "many", 0.5)
    assert by_name(compare_runs([among_few], [also], DRAWS))["country"].difference.verdict == "below"
    with refused(ScoredDifferently):
        compare_runs([among_few], [among_many], DRAWS)


def test_what_all_runs_have_is_counted_also_where_it_is_one(tmp_path):
    one, two = (retrieved(tmp_path / name, "d", np.full(1, 0.5)) for name in "ab")
    assert "In common: retrieval 1 item." in comparison_table(compare_runs([one], [two], DRAWS), "a", "b").note
