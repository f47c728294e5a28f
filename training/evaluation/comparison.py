"""Two encoders side by side: the same scores on the same pairs, and whether they differ by more than chance.

    one run each         pairs are drawn again with replacement, for both alike    (paired bootstrap, `bootstrap`)
    several seeds each   seeds as mean ± deviation; Welch's t-test of the two means
    one against several  a difference, and nothing to judge it by

All scores are computed anew from what evaluations left (pairs.parquet, ratings.parquet), on the pairs that all runs
have in common: evaluations of different releases or sets would compare different questions.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.errors import InputError
from features.metrics.corpus_scores import Bootstrap
from training.correlation import spearman
from training.evaluation.bootstrap import Difference, Verdict, compare, draw_spearman
from training.evaluation.facets.suite import PAIRS_FILE
from training.evaluation.ratings import RATINGS_FILE
from training.evaluation.tables import UNDEFINED, ScoreTable, hundred

Basis = Literal["pairs", "seeds", "nothing"]
"""What a verdict rests on."""
_SIGNIFICANT = 0.05
_MEASURED, _SIMILARITY = "_measured", "_similarity"


@dataclass(frozen=True, slots=True)
class Spread:
    """One score of the runs of a side.

    Args:
        mean: over the runs, in [-1, 1]; None where a run has none.
        deviation: standard deviation over the runs, with n - 1; None for a single run.
    """

    mean: float | None
    deviation: float | None


@dataclass(frozen=True, slots=True)
class ComparedScore:
    """One score of both sides.

    Args:
        suite: `facets` or `ratings`.
        name: of the facet or of the set of ratings; `mean` is that of all facets.
        pairs: how many it was computed on.
        a: of the first side.
        b: of the second.
        difference: b less a, with the ends of its 95 % interval; None where nothing can be said.
        p: of Welch's test; None where the basis is no test.
    """

    suite: str
    name: str
    pairs: int
    a: Spread
    b: Spread
    difference: Difference | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides.

    Args:
        runs: how many each side has.
        basis: of the verdicts.
        scores: those that both sides have.
        only: names of scores that one side has alone.
    """

    runs: tuple[int, int]
    basis: Basis
    scores: tuple[ComparedScore, ...]
    only: tuple[str, ...]


def compare_runs(a: Sequence[Path], b: Sequence[Path], bootstrap: Bootstrap | None = None) -> Comparison:
    """Compare the evaluated runs of two sides.

    Args:
        a: folders of the evaluations of the first side.
        b: of the second.
        bootstrap: how pairs are drawn; by default as in an evaluation.

    Raises:
        InputError: they have no pair in common, or the evaluations are of a version that left no pairs.
    """
    bootstrap = bootstrap or Bootstrap()
    basis: Basis = "nothing"
    if len(a) == len(b) == 1:
        basis = "pairs"
    elif min(len(a), len(b)) > 1:
        basis = "seeds"
    folders = [*a, *b]
    facets = [_read(file, "pair_id") for folder in folders if (file := folder / PAIRS_FILE).exists()]
    ratings = [_sets(folder) for folder in folders]
    names = [{*_named(table, _SIMILARITY)} & {*_named(table, _MEASURED)} for table in facets]
    # An encoder without facets leaves no pairs, and can be compared by ratings all the same.
    of_first = _named(facets[0], _MEASURED) if len(facets) == len(folders) else []
    shared = [name for name in of_first if all(name in known for known in names)]
    judge = functools.partial(_judge, sides=(len(a), len(b)), basis=basis, bootstrap=bootstrap)
    found = []
    if shared:
        measured, similarities = _aligned_facets(facets, shared)
        # (n_facets, resamples, n_runs): the same draws for every facet, so that their mean is one of draws
        draws = _draws(measured, similarities, bootstrap) if basis == "pairs" else None
        scores = np.array([_spearman(similarities[k], measured[k]) for k in range(len(shared))])
        mean_draws = None if draws is None else draws.mean(axis=0)
        found = [
            judge("facets", name, measured.shape[1], scores[k], None if draws is None else draws[k])
            for k, name in enumerate(shared)
        ]
        found.append(judge("facets", "mean", measured.shape[1], scores.mean(axis=0), mean_draws))
    sets = [name for name in ratings[0] if all(name in known for known in ratings)]
    for name in sets:
        human, similarity = _aligned_ratings(name, [known[name] for known in ratings])
        of_set = _draws(human[None], similarity[None], bootstrap)[0] if basis == "pairs" else None
        found.append(judge("ratings", name, len(human), _spearman(similarity, human), of_set))
    if not found:
        raise InputError("The encoders have no score in common; evaluate both again: `facetflow evaluate`.")
    every = {name for known in (*names, *ratings) for name in known}
    return Comparison((len(a), len(b)), basis, tuple(found), tuple(sorted(every - {*shared, *sets})))


def comparison_table(comparison: Comparison, a: str, b: str) -> ScoreTable:
    """Return a comparison as a table, with what its verdicts rest on.

    Args:
        comparison: the scores.
        a: name of the first side.
        b: name of the second.
    """
    rows = tuple(
        (
            f"{score.suite}: {score.name}",
            _spread(score.a),
            _spread(score.b),
            _signed(None if score.a.mean is None or score.b.mean is None else score.b.mean - score.a.mean),
            UNDEFINED
            if score.difference is None
            else f"{_signed(score.difference.low)} to {_signed(score.difference.high)}",
            "" if score.difference is None else score.difference.verdict,
        )
        for score in comparison.scores
    )
    columns = ("Spearman × 100", "A", "B", "B − A", "95 % interval", "B is")
    return ScoreTable(f"A: {a}, B: {b}", columns, rows, _note(comparison))


def _note(comparison: Comparison) -> str:
    """Return what a reader must know about the verdicts."""
    first, second = comparison.runs
    said = {
        "pairs": "One run each: intervals are of a paired bootstrap over the pairs. They say nothing about other "
        "seeds; train some more with --seeds to know how much these change.",
        "seeds": f"{first} seeds of A, {second} of B, as mean ± standard deviation; intervals are Welch's for the "
        "difference of two means. They say nothing about other pairs.",
        "nothing": f"{first} run{'s' if first > 1 else ''} of A against {second} of B: a verdict needs one run of "
        "each, or several of both (--seeds).",
    }[comparison.basis]
    judged = sum(score.difference is not None for score in comparison.scores)
    if judged > 1:
        said += f"\nOf {judged} comparisons at 95 % one in twenty is above or below by chance."
    pairs = dict.fromkeys(
        (score.suite if score.suite == "facets" else score.name, score.pairs) for score in comparison.scores
    )
    said += f"\nPairs in common: {', '.join(f'{name} {count:,}' for name, count in pairs)}."
    if comparison.only:
        said += f"\nLeft out, because not every run has them: {', '.join(comparison.only)}."
    return said


def _signed(difference: float | None) -> str:
    return UNDEFINED if difference is None else f"{100 * difference:+.1f}"


def _spread(spread: Spread) -> str:
    deviation = "" if spread.deviation is None else f" ± {100 * spread.deviation:.1f}"
    return f"{hundred(spread.mean)}{deviation}"


def _judge(
    suite: str,
    name: str,
    pairs: int,
    scores: NDArray[np.float64],
    draws: NDArray[np.float64] | None,
    *,
    sides: tuple[int, int],
    basis: Basis,
    bootstrap: Bootstrap,
) -> ComparedScore:
    """Return one score of both sides.

    Args:
        suite: of the score.
        name: of the score.
        pairs: how many it was computed on.
        scores: of the runs of the first side and then of the second, (n_runs,); NaN where undefined.
        draws: of the two runs, (resamples, 2), where pairs are the basis.
        sides: how many runs each side has.
        basis: of the verdict.
        bootstrap: how the draws were made.
    """
    a, b = scores[: sides[0]], scores[sides[0] :]
    difference, p = None, None
    if not np.isnan(scores).any():
        if basis == "pairs" and draws is not None:
            difference = compare(draws[:, 1], draws[:, 0], bootstrap)
        elif basis == "seeds":
            difference, p = _welch(a, b)
    return ComparedScore(suite, name, pairs, _spread_of(a), _spread_of(b), difference, p)


def _welch(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[Difference | None, float | None]:
    """Return how the mean of b differs from that of a, by Welch's t-test; None where no seed differs from another."""
    from scipy import stats

    if not a.std() and not b.std():
        return None, None
    test = stats.ttest_ind(b, a, equal_var=False)
    ends = test.confidence_interval(1 - _SIGNIFICANT)
    verdict: Verdict = "above" if ends.low > 0 else "below" if ends.high < 0 else "unclear"
    return Difference(float(ends.low), float(ends.high), verdict), float(test.pvalue)


def _spread_of(scores: NDArray[np.float64]) -> Spread:
    if np.isnan(scores).any():
        return Spread(None, None)
    return Spread(float(scores.mean()), float(scores.std(ddof=1)) if len(scores) > 1 else None)


def _spearman(similarities: NDArray[np.float64], measured: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the score of each run, (n_runs,), NaN where it is undefined; similarities are (n_pairs, n_runs)."""
    found = spearman(similarities, np.repeat(measured[:, None], similarities.shape[1], axis=1))
    return np.array([np.nan if score is None else score for score in found])


def _draws(
    measured: NDArray[np.float64], similarities: NDArray[np.float64], bootstrap: Bootstrap
) -> NDArray[np.float64]:
    """Return (n_scores, resamples, n_runs) of measured values (n_scores, n_pairs) and similarities."""
    return np.stack([draw_spearman(each, known, bootstrap) for known, each in zip(measured, similarities, strict=True)])


def _read(file: Path, *columns: str) -> pl.DataFrame:
    """Read what an evaluation left.

    Raises:
        InputError: it left nothing that can be compared.
    """
    try:
        table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{str(file)!r} cannot be read; evaluate the encoder again: `facetflow evaluate`.") from error
    if missing := [column for column in columns if column not in table.columns]:
        raise InputError(
            f"{str(file)!r} has no column {missing[0]!r}; evaluate the encoder again: `facetflow evaluate`."
        )
    return table


def _named(table: pl.DataFrame, ending: str) -> list[str]:
    return [name.removesuffix(ending) for name in table.columns if name.endswith(ending)]


def _sets(folder: Path) -> Mapping[str, pl.DataFrame]:
    """Return name → pairs of the sets of ratings of an evaluation; one of the version before left none."""
    file = folder / RATINGS_FILE
    if not file.exists():
        return {}
    table = _read(file, "set", "text_a", "text_b", "score", "similarity")
    return {str(name): rows for (name,), rows in table.group_by("set", maintain_order=True)}


def _aligned_facets(
    tables: Sequence[pl.DataFrame], names: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return measured values (n_facets, n_pairs) and similarities (n_facets, n_pairs, n_runs) of common pairs.

    Raises:
        InputError: there are none, or the same pair was measured in two ways.
    """
    common: Any = functools.reduce(lambda known, more: known & more, (set(table["pair_id"]) for table in tables))
    if not common:
        raise InputError("The encoders were evaluated on different pairs; evaluate both on one release and split.")
    kept = [table.filter(pl.col("pair_id").is_in(sorted(common))).sort("pair_id") for table in tables]
    measured = [_columns(table, names, _MEASURED) for table in kept]
    if any(not np.allclose(measured[0], other, atol=1e-6) for other in measured[1:]):
        raise InputError(
            "The same pairs have other metrics in the releases that the encoders were evaluated on; train and evaluate "
            "both on one release."
        )
    return measured[0], np.stack([_columns(table, names, _SIMILARITY) for table in kept], axis=2)


def _columns(table: pl.DataFrame, names: Sequence[str], ending: str) -> NDArray[np.float64]:
    return table.select(pl.col([f"{name}{ending}" for name in names]).cast(pl.Float64)).to_numpy().T


def _aligned_ratings(name: str, tables: Sequence[pl.DataFrame]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return human scores (n_pairs,) and similarities (n_pairs, n_runs) of a set of ratings.

    Raises:
        InputError: the set was another for one of them.
    """
    same = ["text_a", "text_b", "score"]
    if any(not table.select(same).equals(tables[0].select(same)) for table in tables[1:]):
        raise InputError(f"The ratings {name!r} have changed between the evaluations; evaluate both again.")
    return (
        tables[0]["score"].cast(pl.Float64).to_numpy(),
        np.stack([table["similarity"].cast(pl.Float64).to_numpy() for table in tables], axis=1),
    )
