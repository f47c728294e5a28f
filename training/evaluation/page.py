"""Parts of evaluation pages: the frame, tables and lists. Every text from data is escaped."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from features.core import page
from training.evaluation.tables import ScoreTable


def render_page(title: str, body: str) -> str:
    """Return a page with its style inline; nothing is fetched from anywhere.

    Args:
        title: text.
        body: HTML.
    """
    # Imported here, because it compiles, and `facetflow status` draws no page.
    from features.metrics.explanation.legend import facet_rules

    return page.render_page(title, body, facet_rules(), "report")


def tables_html(tables: Sequence[ScoreTable]) -> str:
    """Return the tables one below the other, each with its title above and its note below."""
    return "".join(map(_table, tables))


def listed(values: Mapping[str, str]) -> str:
    """Return terms with their descriptions."""
    return f"<dl>{''.join(f'<dt>{escape(k)}</dt><dd>{escape(v)}</dd>' for k, v in values.items())}</dl>"


def facts(values: Mapping[str, Any]) -> str:
    """Return names with their values as code."""
    items = "".join(f"<dt>{escape(str(k))}</dt><dd><code>{escape(str(v))}</code></dd>" for k, v in values.items())
    return f"<dl>{items}</dl>"


def _table(table: ScoreTable) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="scroll"><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )
