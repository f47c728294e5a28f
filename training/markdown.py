"""Markdown of model cards."""

import re
from collections.abc import Sequence
from typing import Any

from features.core.pages import render
from training.runs import flattened


def render_card(template: str, **values: Any) -> str:
    """Return a model card from a template; blank lines that an empty part leaves are removed."""
    return re.sub(r"\n{3,}", "\n\n", render(template, row=row, flattened=flattened, **values).strip()) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; pipes and line breaks in cells are escaped."""
    return "\n".join([row(header), "|" + "---|" * len(header), *map(row, rows)])


def row(cells: Sequence[object]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def with_section(text: str, title: str, paragraphs: Sequence[str]) -> str:
    """Return Markdown with a second-level section of paragraphs, in the place of the one of the same title."""
    section = "\n\n".join(part for part in (f"## {title}", *paragraphs) if part) + "\n"
    before, heading, rest = f"\n{text}".partition(f"\n## {title}\n")
    _, following, after = rest.partition("\n## ") if heading else ("", "", "")
    head = f"{before.strip()}\n\n" if before.strip() else ""
    return f"{head}{section}" + (f"\n## {after.lstrip()}" if following else "")
