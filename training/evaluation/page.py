"""Tables of an evaluation as HTML, for its pages and those of others."""

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from features.core.pages import render
from training.evaluation.tables import ScoreTable


def render_page(title: str, body: str) -> str:
    """Return a page with its style inline; nothing is fetched from anywhere.

    Args:
        title: text.
        body: HTML.
    """
    # Imported here, because it compiles, and `facetflow status` draws no page.
    from features.metrics.explanation.legend import facet_rules

    values = {"body": Markup(body), "style": Markup(facet_rules()), "kind": "report"}  # noqa: S704
    return render("features.core.pages/page.html", title=title.removesuffix(" · facetflow"), **values)


def tables_html(tables: Iterable[ScoreTable]) -> str:
    """Return the tables one below the other, each with its title above and its note below."""
    return render("training.evaluation/tables.html", tables=list(tables))


def listed(values: Mapping[str, Any]) -> str:
    """Return terms with their descriptions."""
    return render("training.evaluation/listed.html", values=values)
