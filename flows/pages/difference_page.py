"""The comparison page of two releases: rows, rejects, recipes, and the distribution of each metric in both.

    smatch                 moderate
    ▁▁▂▂▃▅█▇▄▂▁▁▁    filled: the newer release, line: the older one
    0           1
    mean 0.612 → 0.648 · distance 0.071

All text is escaped.
"""

from collections.abc import Sequence
from html import escape

from features.core.page import explained, folded, heading, render_page, tell_date
from features.metrics.registry import METRICS
from features.store.differences import ReleaseDifference
from features.store.drift import LARGE, SMALL, Drift, Size
from flows.pages.difference_tables import difference_tables, drift_table
from training.evaluation.page import tables_html

_WIDTH, _HEIGHT = 240, 64
_ORDER: Sequence[Size] = ("large", "moderate", "small", "within chance", "none")
_NOTE = (
    f"Distance: the largest difference of the shares of pairs below any value (Kolmogorov-Smirnov); moderate from "
    f"{SMALL}, large from {LARGE}. Within chance: two samples of this size from one distribution differ by less in "
    "99 of 100 cases."
)


def render_difference(found: ReleaseDifference, project: str, old_created: str, new_created: str) -> str:
    """Return the page of a comparison.

    Args:
        found: the difference of two releases.
        project: name of the project.
        old_created: when the older release was published, ISO 8601 with time zone.
        new_created: when the newer one was.
    """
    releases = f"release {found.old} of {tell_date(old_created)}, release {found.new} of {tell_date(new_created)}"
    body = [heading(f"Release {found.new} compared with release {found.old}", project, releases)]
    if found.none:
        body.append("<p>Both have the same rows, rejected rows and recipes.</p>")
    if found.recipes:
        lines = "".join(f"<li>{escape(str(change))}</li>" for change in found.recipes)
        body.append(f'<h2>Changed recipes</h2><ul class="lines">{lines}</ul>')
    if not found.none:
        body.append(f"<h2>Rows</h2>{tables_html(list(difference_tables(found)))}")
    if found.drift:
        body.append(f"<h2>Metrics</h2>{_drift(found)}")
    return render_page(f"Releases {found.old} and {found.new} · {project} · facetflow", "\n".join(body))


def _drift(found: ReleaseDifference) -> str:
    """Return one picture per metric, those that moved most first, and the numbers."""
    ordered = sorted(found.drift, key=lambda moved: (_ORDER.index(moved.size), -moved.distance))
    pictures = "".join(map(_picture, ordered))
    keys = (
        f'<p class="keys"><span><i class="new"></i> release {found.new}</span>'
        f'<span><i class="old"></i> release {found.old}</span></p>'
    )
    table = folded("The numbers", tables_html([drift_table(found.drift)]))
    return f'{keys}<div class="pictures tips">{pictures}</div><p class="note">{escape(_NOTE)}</p>{table}'


def _picture(moved: Drift) -> str:
    """Return the distribution of one metric in both releases, with its name above and its range below."""
    low, high = moved.range
    top = max(*moved.old.shares, *moved.new.shares)
    about = METRICS[moved.metric].question if moved.metric in METRICS else ""
    means = f"mean {moved.old.mean:.3f} → {moved.new.mean:.3f}"
    said = f"{moved.metric}: {moved.size} drift, {means}, distance {moved.distance:.3f}"
    return (
        f'<figure class="{moved.size.split()[0]}"><figcaption>{explained(moved.metric, about)}'
        f"<strong>{escape(moved.size)}</strong></figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{escape(said)}">'
        f"{_bars(moved.new.shares, top)}{_steps(moved.old.shares, top)}</svg>"
        f'<div class="range"><span>{low:.3g}</span><span>{high:.3g}</span></div>'
        f'<p class="quiet">{means} · distance {moved.distance:.3f}</p></figure>'
    )


def _bars(shares: Sequence[float], top: float) -> str:
    width = _WIDTH / len(shares)
    return "".join(
        f'<rect class="new" x="{width * place:.1f}" y="{_HEIGHT * (1 - share / top):.1f}" width="{width:.1f}" '
        f'height="{_HEIGHT * share / top:.1f}"/>'
        for place, share in enumerate(shares)
        if share
    )


def _steps(shares: Sequence[float], top: float) -> str:
    """Return the outline of bars."""
    width = _WIDTH / len(shares)
    path = [f"M0 {_HEIGHT}"]
    for place, share in enumerate(shares):
        path.append(f"V{_HEIGHT * (1 - share / top):.1f}H{width * (place + 1):.1f}")
    return f'<path class="old" d="{"".join(path)}V{_HEIGHT}"/>'
