"""Retrieval results as tables of text."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.evaluation.bootstrap import FEWEST, tell_verdict
from training.evaluation.seen import tell_seen
from training.evaluation.tables import UNDEFINED, ScoreTable, ends, hundred

RANKINGS = {"encoder": "encoder", "start": "start model", "bm25": "BM25", "tfidf": "TF-IDF"}
"""Key of a ranking → its display name."""
_NAMED = 10  # labels that are named in a sentence
_MEASURES = {"precision": "P", "recall": "R", "mrr": "MRR", "ndcg": "nDCG", "map": "MAP"}


def retrieval_tables(result: Mapping[str, Any]) -> list[ScoreTable]:
    """Return the scores of each ranking by group; by frequency, unseen labels and routes where these are known.

    Args:
        result: result of `RetrievalSuite`.
    """
    tables = [_by_ranking(result), _measures(result), _bands(result), _unseen(result), _routes(result), _maps(result)]
    return [table for table in tables if table.rows]


def tell_seen_texts(result: Mapping[str, Any]) -> str:
    """Return a caveat where the texts were used in the training; nothing where they were not."""
    return tell_seen(result["seen"], result["split"], result["others"], unit="texts", chosen="on")


def tell_unasked(result: Mapping[str, Any]) -> list[str]:
    """Return for each aspect the labels held out of training that no query has, a sentence each.

    Args:
        result: result of `RetrievalSuite`.
    """
    sentences = []
    for aspect, labels in result["unasked"].items():
        more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
        sentences.append(
            f"Labels held out of training in {aspect}: {len(labels):,} ({', '.join(labels[:_NAMED])}{more}); no query "
            f"of {result['split']} has one."
        )
    return sentences


def tell_way(group: Mapping[str, Any]) -> str:
    """Describe which texts belong together in a group."""
    first, *second = group["aspects"]
    if group["way"] == "one":
        return f"shares a label in {first}"
    if group["way"] == "both":
        return f"shares a label in {first} and one in {second[0]}"
    return f"shares a label in {first}, or one in {second[0]}"


def tell_band(band: Mapping[str, Any]) -> str:
    """Return a band of frequencies: "5–9 texts", "100 texts and more"."""
    if band["most"] is None:
        return f"{band['least']} texts and more"
    return f"{band['least']}–{band['most']} texts"


def _by_ranking(result: Mapping[str, Any]) -> ScoreTable:
    known = _known(result)
    others = [name for name in known if name != "encoder"]
    rows = tuple(
        (
            group["name"],
            f"{group['queries']:,}",
            *(_value(group, name, "mrr") for name in others),
            _value(group, "encoder", "mrr"),
            ends(group["rankings"]["encoder"]["mrr"]),
            tell_verdict(group["rankings"][others[0]]["difference"]["mrr"]),
        )
        for group in result["groups"]
    )
    columns = ("queries by", "queries", *(RANKINGS[name] for name in others), "encoder", "95 % interval")
    title = f"MRR@{result['k']} × 100 among the {result['texts']:,} texts of {result['split']}"
    return ScoreTable(title, (*columns, f"vs {RANKINGS[others[0]]}"), rows, _note(result))


def _note(result: Mapping[str, Any]) -> str:
    k, groups = result["k"], result["groups"]
    without = {group["name"]: group["without"] for group in groups if group["without"]}
    left_out = ", ".join(f"{name} {count:,}" for name, count in without.items())
    meaning = (
        "Each text is a query and is left out of its own results; a text that shares a label with it is relevant. "
        "Texts without a label in an aspect are left out of that aspect. "
        f"MRR@{k}: 1 / rank of the first relevant text among the {k} nearest, 0 where there is none. Equally similar "
        "texts are ranked alphabetically."
    )
    verdicts = (
        "Intervals, and whether the encoder is above or below, come from a bootstrap over the queries (paired, at "
        "95 %); where there is no difference, one comparison in twenty is above or below by chance."
    )
    sentences = [
        tell_seen_texts(result),
        meaning,
        f"Queries left out because no other text is relevant to them: {left_out}." if left_out else "",
        verdicts,
        *result["skipped"],
        *tell_unasked(result),
    ]
    if result["routes"]:
        routes = ", ".join(result["routes"][0]["mrr"])
        sentences.append(
            f"The encoder has routes ({routes}): each aspect is queried by its own route, two aspects by both "
            "together, and an aspect without a route by all."
        )
    return "\n".join(sentence for sentence in sentences if sentence)


def _measures(result: Mapping[str, Any]) -> ScoreTable:
    k = result["k"]
    rows = []
    for group in result["groups"]:
        rows += [
            (f"{group['name']}: {RANKINGS[name]}", *(_value(group, name, measure) for measure in _MEASURES))
            for name in _known(result)
        ]
        rows.append((f"{group['name']}: random order", *(hundred(group["random"][measure]) for measure in _MEASURES)))
    columns = ("queries by: ranking", *(f"{short}@{k}" for short in _MEASURES.values()))
    fewer = f", of {k} also where there are fewer" if any(group["texts"] <= k for group in result["groups"]) else ""
    note = (
        f"P: share of the {k} nearest texts that are relevant{fewer}. R: share of the relevant texts that are among "
        f"them. nDCG weights hits by their rank. MAP: sum of P at the rank of each hit, divided by the most that is "
        f"possible, min({k}, relevant texts), not by {k} nor by the number of hits. Random order: what is expected of "
        "texts in random order. All × 100."
    )
    return ScoreTable(f"The {k} nearest texts", columns, tuple(rows), note)


def _bands(result: Mapping[str, Any]) -> ScoreTable:
    known = _known(result)
    rows = tuple(
        (
            f"{group['name']}, {tell_band(band)}",
            f"{band['labels']:,}",
            f"{band['queries']:,}",
            *(_value(band, name, "mrr") for name in known),
        )
        for group in result["groups"]
        for band in group.get("bands", ())
    )
    columns = ("frequency of the label", "labels", "queries", *(RANKINGS[name] for name in known))
    note = "A query counts for the rarest of its labels that another text has. With few queries these say little."
    return ScoreTable(f"MRR@{result['k']} × 100 by label frequency", columns, rows, note)


def _unseen(result: Mapping[str, Any]) -> ScoreTable:
    known = _known(result)
    rows = tuple(
        (
            row["name"],
            f"{row['labels']:,}",
            f"{row['queries']:,}",
            *(_value(row, name, "mrr") for name in known),
            ends(row["rankings"]["encoder"]["mrr"]),
        )
        for row in result["unseen"]
    )
    columns = ("aspect", "labels", "queries", *(RANKINGS[name] for name in known), "95 % interval")
    note = (
        "Texts with such a label are queries for the others with it, among all texts: does the aspect generalise? "
        f"Labels are drawn for the interval, each with its queries; fewer than {FEWEST} have none."
    )
    return ScoreTable(f"MRR@{result['k']} × 100 by labels not seen in training", columns, rows, note)


def _routes(result: Mapping[str, Any]) -> ScoreTable:
    names = list(result["routes"][0]["mrr"]) if result["routes"] else []
    rows = tuple((row["name"], *(hundred(row["mrr"][name]) for name in names)) for row in result["routes"])
    return ScoreTable(f"MRR@{result['k']} × 100 by each route of the encoder", ("queries by", *names), rows)


def _maps(result: Mapping[str, Any]) -> ScoreTable:
    sides = list(dict.fromkeys(side for drawn in result["maps"] for side in drawn["sides"]))
    rows = tuple(
        (
            drawn["name"],
            f"{drawn['points']:,}",
            *(hundred(drawn["sides"][side]["agreement"]) for side in sides),
            *(_silhouette(drawn["sides"][side]["silhouette"]) for side in sides),
        )
        for drawn in result["maps"]
    )
    columns = ("aspect", "texts", *(f"{what}: {RANKINGS[s]}" for what in ("agree", "silhouette") for s in sides))
    k = result["k"]
    fewer = f" (of all others on maps of {k} or fewer)" if any(drawn["points"] <= k for drawn in result["maps"]) else ""
    note = (
        f"Agree: share of the {k} nearest texts{fewer} in the full space that share a label, × 100. Silhouette of "
        "the most frequent labels, in [−1, 1]: how much closer texts are to their own label than to the next."
    )
    return ScoreTable("Neighbours and clusters", columns, rows, note)


def _known(result: Mapping[str, Any]) -> Sequence[str]:
    return [name for name in RANKINGS if name in result["groups"][0]["rankings"]]


def _value(row: Mapping[str, Any], ranking: str, measure: str) -> str:
    return hundred(row["rankings"][ranking][measure]["value"])


def _silhouette(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}".replace("-", "−")
