"""The view of releases: their tables, page by page, filtered and sorted, and the rows that were rejected.

    pairs ⋈ metrics ── filter ── sort ── 50 rows ── texts of these          lazily, at the versions of the release

Only the columns that a filter or the order needs are read of all rows.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup

from features.core.faults import EmptySetting
from features.core.pages.plots import Axis, bars, draw_plot
from features.core.wording import clipped, counted
from features.ingest.rejected_rows import rejected_rows
from features.sentences import normalise
from features.store.differences import compare_releases
from features.store.reader import decoding
from features.store.releases import Release
from features.store.store import Store
from flows.explorer.runs import project_of
from flows.explorer.views import Answer, Parameter, Query, View
from flows.pages.difference import difference_values

ROWS = 50
"""Rows of a page."""
REJECTS = "rejects"
JOINED = "pairs and metrics"
"""How an error names the tables whose rows are read together."""
_KEYS = ("pair_id", "label_id", "sentence_id")
_ORDERS = ("rising", "falling")
_MOST_PAGES = 10**9
_BINS = 24
_TEXTS = {"sentence_a": "text_a", "sentence_b": "text_b", "sentence_id": "sentence", "sentence": "sentence"}
"""Columns of ids of sentences, whose texts are in a table of their own → what the texts are called."""


class DataView(View):
    """Tables of a release."""

    name = "data"
    title = "Data"
    gives = "rows of a table, with the texts of their sentences; with `against`, what differs between two releases"
    parameters = (
        Parameter("release", "number of a release; the newest by default", "integer"),
        Parameter("against", "number of a release to compare it with, in place of rows", "integer"),
        Parameter("table", "a table of the release, or `rejects`"),
        Parameter("corpus", "only rows of this corpus"),
        Parameter("split", "only rows of this split"),
        Parameter("text", "only rows with this in a text"),
        Parameter("metric", "a column of numbers to filter by"),
        Parameter("low", "its lowest value", "number"),
        Parameter("high", "its highest value", "number"),
        Parameter("sort", "column to sort by"),
        Parameter("order", "rising, or falling"),
        Parameter("page", "number of a page of 50 rows", "integer"),
    )

    def answer(self, query: Query) -> Answer | None:
        """Read a page of a table."""
        if self.session.here.store is None:
            return None
        store, releases = self.session.releases()
        if store is None or not releases:
            return Answer({"releases": [], "rows": [], "shown": ""}, {"releases": []})
        numbered = [str(each.number) for each in releases]
        release = store.release(int(query.choice("release", numbered, numbered[-1])))
        tables = [name for name in release.versions if name != REJECTS] + [REJECTS]
        filled = (name for name in ("pairs", "labels", *tables) if release.rows.get(name))
        name = query.choice("table", tables, next(filled, tables[0]))
        asked = {"releases": releases, "release": release, "tables": tables, "shown": name, "drift": None}
        read = partial(self.session.reading.result_of, patience=query.patience)
        if against := query.choice("against", numbered):
            old = store.release(int(against))
            key = ("difference", old.number, release.number)
            difference = read(key, lambda _: compare_releases(store, old, release), "Comparing two releases")
            empty = {"choices": {}, "numbers": [], "sort": ""}
            return Answer(asked | empty | {"drift": difference_values(difference)}, difference.as_json())
        if name == REJECTS:
            project = project_of(self.session)
            # Those of the newest state; finding their lines reads the corpora.
            rejects = read(
                (REJECTS, store.versions()[REJECTS]),
                lambda _: rejected_rows(store, project.corpora, project.base),
                "Looking up the lines of rejected rows",
            )
            frame = rejects.lazy()
        elif name == "pairs":
            frame = _pairs(store, release)
        else:
            frame = store.scan(name, release.versions[name])
        with decoding(JOINED if name == "pairs" else name, store.location):
            values, rows = _page(frame, store, release, query)
        data = {"rows": values["total"], "page": values["page"], "found": rows.to_dicts()}
        return Answer(asked | values, {"release": release.number, "table": name} | data)


def _page(every: pl.LazyFrame, store: Store, release: Release, query: Query) -> tuple[dict[str, Any], pl.DataFrame]:
    """Return what the template shows of a table, and the rows of the page with the texts of their sentences."""
    page, frame = query.count("page", 1, _MOST_PAGES), _filtered(every, store, release, query)
    columns = frame.collect_schema()
    numbers = _numbers(columns)
    sortable = [column for column, kind in columns.items() if not kind.is_nested()]
    sort, falling = query.choice("sort", sortable), query.choice("order", _ORDERS, "falling") == "falling"
    # In the same order for every page, also among equal values: else rows are on two pages, or on none.
    ordered = frame.sort(sort, descending=falling, nulls_last=True, maintain_order=True) if sort else frame
    some = ordered.slice((page - 1) * ROWS, ROWS)
    if key := next((name for name in _KEYS if name in columns), None):
        ids = some.select(key).collect()  # a join would read all columns of all rows, if these were asked for
        some = ids.lazy().join(every.filter(pl.col(key).is_in(ids[key].implode())), on=key, maintain_order="left")
    rows = _with_texts(some.select(columns.names()).collect(), store, release)
    total = int(frame.select(pl.len()).collect().item())
    drawn = sort or query.text("metric")
    values = {
        "columns": [column for column in rows.columns if column not in {"text_a", "text_b"}],
        "numbers": numbers,
        "sortable": sortable,
        "choices": {c: every.select(c).unique().collect()[c].sort() for c in ("corpus", "split") if c in columns},
        "sort": sort,
        "falling": falling,
        "rows": [{key: _shown(value) for key, value in row.items()} for row in rows.to_dicts()],
        "total": total,
        "page": page,
        "pages": max(1, -(-total // ROWS)),
        "spread": _spread(frame, drawn) if drawn in numbers else None,
    }
    return values, rows


def _pairs(store: Store, release: Release) -> pl.LazyFrame:
    """Return the pairs with their metrics, and the ids of their sentences."""
    hidden = ["shard_a", "shard_b", "positive_id"]
    pairs = store.scan("pairs", release.versions["pairs"]).drop(hidden, strict=False)
    if "metrics" in release.versions:
        metrics = store.scan("metrics", release.versions["metrics"])
        pairs = pairs.join(metrics, on="pair_id", how="left", maintain_order="left")
    return pairs.select(pl.exclude("pair_id"), "pair_id")


def _filtered(frame: pl.LazyFrame, store: Store, release: Release, query: Query) -> pl.LazyFrame:
    """Return the rows that were asked for: of a corpus or split, with a text, within a range of a metric."""
    columns = frame.collect_schema()
    for name in ("corpus", "split"):
        if (value := query.text(name)) and name in columns:
            frame = frame.filter(pl.col(name) == value)
    low, high = query.number("low"), query.number("high")
    if metric := query.choice("metric", _numbers(columns)):
        frame = frame if low is None else frame.filter(pl.col(metric) >= low)
        frame = frame if high is None else frame.filter(pl.col(metric) <= high)
    elif (low, high) != (None, None):
        raise EmptySetting("No metric is chosen that the numbers limit: choose one, or leave both empty.")
    if text := normalise(query.text("text")).lower():
        words, own = (pl.col(name).str.to_lowercase().str.contains(text, literal=True) for name in ("text", pl.String))
        parts = [] if "sentence_a" in columns else [own]
        if ends := _ends(columns):
            sentences = store.read("sentences", release.versions["sentences"], where=words)
            parts.append(pl.col(ends).is_in(sentences["sentence_id"].implode()))
        frame = frame.filter(pl.any_horizontal(parts))
    return frame


def _numbers(columns: pl.Schema) -> list[str]:
    return [name for name, kind in columns.items() if kind.is_numeric()]


def _ends(columns: Collection[str]) -> list[str]:
    return [name for name in _TEXTS if name in columns and "text" not in columns]


def _with_texts(rows: pl.DataFrame, store: Store, release: Release) -> pl.DataFrame:
    """Return rows with the texts of their sentences, if they have ids of sentences."""
    present = {name: _TEXTS[name] for name in _ends(rows.columns)}
    if not present:
        return rows
    wanted = pl.col("sentence_id").is_in(pl.concat([rows[name] for name in present]).unique().implode())
    sentences = store.read("sentences", release.versions["sentences"], columns=["sentence_id", "text"], where=wanted)
    text_of = dict(sentences.iter_rows())
    texts = [pl.col(name).replace_strict(text_of, default=None).alias(text) for name, text in present.items()]
    return rows.select(*texts, pl.exclude(*present))


def _spread(frame: pl.LazyFrame, column: str) -> Markup | None:
    """Draw how the values of a column are distributed; not where all are equal."""
    finite = frame.select(pl.col(column).cast(pl.Float64)).filter(pl.col(column).is_finite())
    values = finite.collect()[column].to_numpy()
    if not len(values) or values.min() == values.max():
        return None
    counts, edges = np.histogram(values, _BINS)
    label = f"{column}: distribution of {counted(len(values), 'value')}, {edges[0]:.3g} to {edges[-1]:.3g}"
    up = Axis.over("rows", [0, counts.max()], 3)
    return draw_plot(label, Axis(column, edges[0], edges[-1]), up, boxes={1.0: bars(edges, counts)})


def _shown(value: Any) -> Any:
    """Return a cell as shown: numbers with three digits, long values cut."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        value = f"{len(value)}: " + ", ".join(map(str, value[:12]))
    return clipped(str(value))
