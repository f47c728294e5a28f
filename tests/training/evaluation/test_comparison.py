"""Two encoders side by side: on common pairs, judged by drawn pairs or by seeds, or by nothing."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from features.errors import InputError
from features.metrics.corpus_scores import Bootstrap
from training.evaluation.comparison import compare_runs, comparison_table

PAIRS = 200
DRAWS = Bootstrap(resamples=200)


@pytest.fixture
def evaluated(tmp_path):
    """Return what writes an evaluation whose similarities follow what was measured, with some noise."""
    measured = np.random.default_rng(0).random((2, PAIRS))

    def write(name, noise, *, seed=1, first=0, facets=("smatch", "negations"), ratings=True):
        random = np.random.default_rng(seed)
        folder = tmp_path / name
        folder.mkdir()
        columns = {"pair_id": [f"p{row:03d}" for row in range(PAIRS)]}
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
        return folder

    return write


def by_name(comparison):
    return {score.name: score for score in comparison.scores}


def test_single_runs_are_judged_by_the_pairs_drawn_again(evaluated):
    good, bad = evaluated("good", 0.1), evaluated("bad", 2.0)
    found = compare_runs([bad], [good], DRAWS)
    assert found.basis == "pairs"
    assert [score.name for score in found.scores] == ["smatch", "negations", "mean", "sts"]
    for score in found.scores:
        assert (score.pairs, score.difference.verdict, score.a.deviation, score.p) == (PAIRS, "above", None, None)
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
    assert found["smatch"].pairs == 150
    assert found["smatch"].a.mean == pytest.approx(expected)
    assert found["mean"].a.mean == pytest.approx((found["smatch"].a.mean + found["negations"].a.mean) / 2)


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


def test_the_table_says_what_its_verdicts_rest_on(evaluated):
    one, two = evaluated("one", 0.1), evaluated("two", 2.0, ratings=False)
    table = comparison_table(compare_runs([one], [two], DRAWS), "one", "two")
    assert (table.title, table.columns[1:]) == ("A: one, B: two", ("A", "B", "B − A", "95 % interval", "B is"))
    assert [row[0] for row in table.rows] == ["facets: smatch", "facets: negations", "facets: mean"]
    assert "paired bootstrap over the pairs" in table.note
    assert "Of 3 comparisons at 95 % one in twenty is above or below by chance." in table.note
    assert f"Pairs in common: facets {PAIRS}." in table.note
    assert "Left out, because not every run has them: sts." in table.note


def test_encoders_without_a_common_pair_or_with_other_metrics_are_not_compared(evaluated, tmp_path):
    one, two = evaluated("one", 0.5), evaluated("two", 0.5)
    table = pl.read_parquet(two / "pairs.parquet")
    table.with_columns(pl.col("smatch_measured") / 2).write_parquet(two / "pairs.parquet")
    with pytest.raises(InputError, match="other metrics in the releases"):
        compare_runs([one], [two], DRAWS)
    table.with_columns(pl.col("pair_id") + "x").write_parquet(two / "pairs.parquet")
    with pytest.raises(InputError, match="evaluated on different pairs; evaluate both on one release and split"):
        compare_runs([one], [two], DRAWS)
    (two / "pairs.parquet").write_text("no table")
    with pytest.raises(InputError, match=r"two/pairs.parquet' cannot be read; evaluate the encoder again"):
        compare_runs([one], [two], DRAWS)


def test_ratings_that_have_changed_are_not_compared(evaluated):
    one, two = evaluated("one", 0.5), evaluated("two", 0.5)
    table = _ratings(two)
    table.with_columns(pl.col("score") + 1).write_parquet(two / "ratings.parquet")
    with pytest.raises(InputError, match="The ratings 'sts' have changed between the evaluations"):
        compare_runs([one], [two], DRAWS)
