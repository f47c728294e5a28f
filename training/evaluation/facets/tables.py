"""The scores of facets as a table, with notes for the reader."""

from collections.abc import Mapping
from typing import Any

from training.evaluation.bootstrap import tell_verdict
from training.evaluation.facets.limits import tell_counts, warn_of_few_pairs
from training.evaluation.seen import tell_seen
from training.evaluation.tables import UNDEFINED, ScoreTable, ends, hundred


def facet_table(facets: Mapping[str, Any]) -> ScoreTable:
    """Return the score of each facet next to the baselines.

    Args:
        facets: result of `FacetSuite`.
    """
    rows = tuple(
        (
            row["name"],
            *(hundred(row[baseline]) for baseline in ("full", "random", "assigned")),
            hundred(row["encoder"]),
            ends(row["interval"]),
            UNDEFINED if row["encoder"] is None else tell_verdict(row["differences"]["full"]),
        )
        for row in facets["rows"]
    )
    return ScoreTable(
        title=f"Spearman × 100 of facet and metric, {facets['pairs']:,} positive pairs of {facets['split']}",
        columns=("facet", "SB-full", "SB-rand", "SB-ILP", "encoder", "95 % interval", "vs SB-full"),
        rows=rows,
        note="\n".join(sentence for sentence in _facet_notes(facets) if sentence),
    )


def _facet_notes(facets: Mapping[str, Any]) -> list[str]:
    fitting = facets["fitting_pairs"]
    assigned = f"on {fitting:,} other pairs" if fitting else "(no other pairs to assign on)"
    undefined = [row["name"] for row in facets["rows"] if row["encoder"] is None]
    baselines = (
        f"SB-full is the whole embedding of the start model, SB-rand {facets['width']} random dimensions per facet "
        f"(mean of {facets['draws']} draws), SB-ILP the dimensions that an integer programme assigns {assigned}."
    )
    verdicts = (
        "A facet is above or below where the 95 % interval of the difference, from a paired bootstrap over the pairs, "
        "excludes 0; where there is no difference, one facet in twenty is above or below by chance."
    )
    return [
        tell_seen(facets["seen"], facets["split"], facets["others"]),
        warn_of_few_pairs(facets),
        f"Against SB-full: {tell_counts(facets, 'full')}. Against SB-rand: {tell_counts(facets, 'random')}.",
        baselines,
        verdicts,
        f"{UNDEFINED}: the metric, or the facet, is the same for all pairs ({', '.join(undefined)})."
        if undefined
        else "",
    ]
