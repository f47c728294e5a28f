"""A comparison of two encoders as a table, with the basis of its verdicts."""

from training.evaluation.bootstrap import Difference
from training.evaluation.comparison import Comparison, Spread
from training.evaluation.tables import UNDEFINED, ScoreTable, hundred


def comparison_table(comparison: Comparison, a: str, b: str) -> ScoreTable:
    """Return a comparison as a table.

    Args:
        comparison: the scores.
        a: name of the first side.
        b: name of the second.
    """
    measures = {score.measure for score in comparison.scores}
    rows = tuple(
        (
            f"{score.suite}: {score.name}{f', {score.measure}' if len(measures) > 1 else ''}",
            _spread(score.a),
            _spread(score.b),
            signed(None if score.a.mean is None or score.b.mean is None else score.b.mean - score.a.mean),
            signed_ends(score.difference),
            "" if score.difference is None else score.difference.verdict,
        )
        for score in comparison.scores
    )
    (first, *_) = measures
    columns = (f"{first if len(measures) == 1 else 'score'} × 100", "A", "B", "B − A", "95 % interval", "B is")
    return ScoreTable(f"A: {a}, B: {b}", columns, rows, _note(comparison))


def _note(comparison: Comparison) -> str:
    """Return what a reader must know about the verdicts."""
    first, second = comparison.runs
    scores = comparison.scores
    units = list(dict.fromkeys(score.unit for score in scores if score.items is not None))
    of = " and ".join(units)
    by_items = (
        f"One run each: intervals come from a paired bootstrap over the {of}. They say nothing about other seeds; "
        "train more runs with --seeds to see how much scores vary."
        if units
        else "One run each, of suites that keep no single items: a verdict needs several runs of both (--seeds)."
    )
    said = {
        "items": by_items,
        "seeds": f"{first} seeds of A, {second} of B, as mean ± standard deviation; intervals are Welch's for the "
        f"difference of two means. They say nothing about other {of or 'data'}.",
        "nothing": f"{first} run{'s' if first > 1 else ''} of A against {second} of B: a verdict needs one run of "
        "each, or several of both (--seeds).",
    }[comparison.basis]
    taken = dict.fromkeys(score.suite for score in scores if score.items is None)
    if units and taken and comparison.basis == "items":
        said += f"\nNo verdict on {', '.join(taken)}: that needs several runs of both (--seeds)."
    judged = sum(score.difference is not None for score in scores)
    if judged > 1:
        said += f"\nOf {judged} comparisons at 95 %, about one in twenty is above or below by chance."
    said += "".join(f"\n{caveat}" for caveat in comparison.caveats)
    if units:
        said += f"\nIn common: {', '.join(_in_common(comparison))}."
    if comparison.left_out:
        reasons: dict[str, list[str]] = {}
        for name, reason in comparison.left_out.items():
            reasons.setdefault(reason, []).append(name)
        said += "".join(f"\nLeft out because {reason}: {', '.join(names)}." for reason, names in reasons.items())
    return said


def _in_common(comparison: Comparison) -> list[str]:
    """Return the number of common items of each score; once per suite where all of its scores have the same items."""
    counts: dict[str, dict[str, str]] = {}
    for score in comparison.scores:
        if score.items is not None:
            counts.setdefault(score.suite, {})[score.name] = f"{score.items:,} {score.unit}"
    return [
        f"{name} {count}"
        for suite, of in counts.items()
        for name, count in ({suite: next(iter(of.values()))} if suite in comparison.same_items else of).items()
    ]


def signed(difference: float | None) -> str:
    """Return a difference of two scores times 100 with its sign and one digit, or a dash where it is undefined.

    >>> signed(0.012), signed(-0.0004)
    ('+1.2', '0.0')
    """
    if difference is None:
        return UNDEFINED
    said = f"{100 * difference:+z.1f}"
    return "0.0" if said == "+0.0" else said


def signed_ends(difference: Difference | None) -> str:
    """Return the ends of a difference's interval times 100, with signs, or a dash where it is undefined."""
    return UNDEFINED if difference is None else f"{signed(difference.low)} to {signed(difference.high)}"


def _spread(spread: Spread) -> str:
    deviation = "" if spread.deviation is None else f" ± {100 * spread.deviation:.1f}"
    return f"{hundred(spread.mean)}{deviation}"
