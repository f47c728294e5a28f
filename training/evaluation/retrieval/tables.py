"""Retrieval results as tables."""

from collections.abc import Mapping
from typing import Any

from training.evaluation.bootstrap import FEWEST
from training.evaluation.paired import tell_verdict
from training.evaluation.seen import tell_seen
from training.evaluation.tables import UNDEFINED, Column, ScoreTable, count, ends, hundred, lines, table
from training.ranking import MEASURES

Row = Mapping[str, Any]
RANKINGS = {"encoder": "encoder", "start": "start model", "bm25": "BM25", "tfidf": "TF-IDF"}
"""Key of a ranking → its display name."""
_NAMED = 10  # labels that are named in a sentence
_SHORT = dict(zip(MEASURES, ("P", "R", "MRR", "nDCG", "MAP"), strict=True))


def retrieval_tables(result: Row) -> list[ScoreTable]:
    """Return the scores of each ranking by group; by frequency, unseen labels and routes where these are known.

    Args:
        result: result of `RetrievalSuite`.
    """
    k, groups = result["k"], result["rows"]
    rankings = [name for name in RANKINGS if name in groups[0]["rankings"]]
    of_each = [_mrr(RANKINGS[name], name) for name in rankings]
    of_encoder, *of_others = of_each
    interval = Column("95 % interval", "rankings.encoder.mrr", ends)
    queries = Column("queries", "queries", count)
    labels = Column("labels", "labels", count)
    first = rankings[1]
    against = Column(f"vs {RANKINGS[first]}", f"rankings.{first}.difference.mrr", tell_verdict)
    bands = [{**band, "name": f"{row['name']}, {tell_band(band)}"} for row in groups for band in row.get("bands", ())]
    routes = list(result["routes"][0]["mrr"]) if result["routes"] else []
    mrr = f"MRR@{k} × 100"
    tables = [
        table(
            f"{mrr} among the {result['texts']:,} texts of {result['split']}",
            [Column("queries by", "name"), queries, *of_others, of_encoder, interval, against],
            groups,
            _note(result),
        ),
        table(
            f"The {k} nearest texts",
            [Column("queries by: ranking", "name"), *(_measure(name, k) for name in MEASURES)],
            _by_ranking(result, rankings),
            _note_on_measures(result),
        ),
        table(
            f"{mrr} by label frequency",
            [Column("frequency of the label", "name"), labels, queries, *of_each],
            bands,
            "A query counts for the rarest of its labels that another text has. With few queries these say little.",
        ),
        table(
            f"{mrr} by labels not seen in training",
            [Column("aspect", "name"), labels, queries, *of_each, interval],
            result["unseen"],
            "Texts with such a label are queries for the others with it, among all texts: does the aspect generalise? "
            f"Labels are drawn for the interval, each with its queries; fewer than {FEWEST} have none.",
        ),
        table(
            f"{mrr} by each route of the encoder",
            [Column("queries by", "name"), *(Column(name, f"mrr.{name}", hundred, higher=True) for name in routes)],
            result["routes"],
        ),
        _maps(result),
    ]
    return [each for each in tables if each.rows]


def tell_seen_texts(result: Row) -> str:
    """Return a caveat where the texts were used in the training; nothing where they were not."""
    return tell_seen(result["seen"], result["split"], result["others"], unit="texts", chosen="on")


def tell_unasked(result: Row) -> list[str]:
    """Return for each aspect the labels held out of training that no query has, a sentence each."""
    sentences = []
    for aspect, labels in result["unasked"].items():
        more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
        sentences.append(
            f"Labels held out of training in {aspect}: {len(labels):,} ({', '.join(labels[:_NAMED])}{more}); no query "
            f"of {result['split']} has one."
        )
    return sentences


def tell_way(group: Row) -> str:
    """Describe which texts belong together in a group."""
    first, *second = group["aspects"]
    if group["way"] == "one":
        return f"shares a label in {first}"
    if group["way"] == "both":
        return f"shares a label in {first} and one in {second[0]}"
    return f"shares a label in {first}, or one in {second[0]}"


def tell_band(band: Row) -> str:
    """Return a band of frequencies: "5–9 texts", "100 texts and more"."""
    if band["most"] is None:
        return f"{band['least']} texts and more"
    return f"{band['least']}–{band['most']} texts"


def _mrr(title: str, ranking: str) -> Column:
    return Column(title, f"rankings.{ranking}.mrr.value", hundred, higher=True)


def _measure(name: str, k: int) -> Column:
    return Column(f"{_SHORT[name]}@{k}", name, hundred, higher=True)


def _by_ranking(result: Row, rankings: list[str]) -> list[Row]:
    """Return all measures of each group by each ranking, and of texts in random order."""
    rows: list[Row] = []
    for group in result["rows"]:
        for ranking in rankings:
            values = {name: group["rankings"][ranking][name]["value"] for name in MEASURES}
            rows.append({**values, "name": f"{group['name']}: {RANKINGS[ranking]}"})
        rows.append({**group["random"], "name": f"{group['name']}: random order"})
    return rows


def _note(result: Row) -> str:
    k = result["k"]
    left_out = ", ".join(f"{row['name']} {row['without']:,}" for row in result["rows"] if row["without"])
    routes = ", ".join(result["routes"][0]["mrr"]) if result["routes"] else ""
    return lines(
        tell_seen_texts(result),
        "Each text is a query and is left out of its own results; a text that shares a label with it is relevant. "
        "Texts without a label in an aspect are left out of that aspect. "
        f"MRR@{k}: 1 / rank of the first relevant text among the {k} nearest, 0 where there is none. Equally similar "
        "texts are ranked alphabetically.",
        f"Queries left out because no other text is relevant to them: {left_out}." if left_out else "",
        "Intervals, and whether the encoder is above or below, come from a bootstrap over the queries (paired, at "
        "95 %); where there is no difference, one comparison in twenty is above or below by chance.",
        *result["skipped"],
        *tell_unasked(result),
        f"The encoder has routes ({routes}): each aspect is queried by its own route, two aspects by both "
        "together, and an aspect without a route by all."
        if routes
        else "",
    )


def _note_on_measures(result: Row) -> str:
    k = result["k"]
    fewer = f", of {k} also where there are fewer" if any(group["texts"] <= k for group in result["rows"]) else ""
    return (
        f"P: share of the {k} nearest texts that are relevant{fewer}. R: share of the relevant texts that are among "
        f"them. nDCG weights hits by their rank. MAP: sum of P at the rank of each hit, divided by the most that is "
        f"possible, min({k}, relevant texts), not by {k} nor by the number of hits. Random order: what is expected of "
        "texts in random order. All × 100."
    )


def _maps(result: Row) -> ScoreTable:
    sides = list(dict.fromkeys(side for drawn in result["maps"] for side in drawn["sides"]))
    forms = {"agree": ("agreement", hundred), "silhouette": ("silhouette", _silhouette)}
    columns = [
        Column(f"{title}: {RANKINGS[side]}", f"sides.{side}.{key}", form, higher=True)
        for title, (key, form) in forms.items()
        for side in sides
    ]
    k = result["k"]
    fewer = f" (of all others on maps of {k} or fewer)" if any(drawn["points"] <= k for drawn in result["maps"]) else ""
    return table(
        "Neighbours and clusters",
        [Column("aspect", "name"), Column("texts", "points", count), *columns],
        result["maps"],
        f"Agree: share of the {k} nearest texts{fewer} in the full space that share a label, × 100. Silhouette of "
        "the most frequent labels, in [−1, 1]: how much closer texts are to their own label than to the next.",
    )


def _silhouette(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}".replace("-", "−")
