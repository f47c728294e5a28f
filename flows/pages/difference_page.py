"""The comparison page of two releases: rows, rejects, recipes, and the distribution of each metric in both.

smatch                 moderate
▁▁▂▂▃▅█▇▄▂▁▁▁    filled: the newer release, line: the older one
0           1
mean 0.612 → 0.648 · distance 0.071
"""

from collections.abc import Sequence

from features.core.pages import render, tell_date
from features.metrics.registry import METRICS
from features.store.differences import ReleaseDifference
from features.store.drift import LARGE, SMALL, Size
from flows.pages.difference_tables import difference_tables, drift_table

_ORDER: Sequence[Size] = ("large", "moderate", "small", "within chance", "none")


def render_difference(difference: ReleaseDifference, project: str, old_created: str, new_created: str) -> str:
    """Return the page of a comparison; times are ISO 8601 with time zone."""
    old, new = difference.old, difference.new
    return render(
        "flows.pages/difference.html",
        title=f"Releases {old} and {new}",
        project=project,
        old=old,
        new=new,
        releases=f"release {old} of {tell_date(old_created)}, release {new} of {tell_date(new_created)}",
        same=difference.none,
        recipes=difference.recipes,
        tables=[] if difference.none else list(difference_tables(difference)),
        drift=sorted(difference.drift, key=lambda moved: (_ORDER.index(moved.size), -moved.distance)),
        numbers=drift_table(difference.drift),
        questions={name: metric.question for name, metric in METRICS.items()},
        small=SMALL,
        large=LARGE,
    )
