"""Markdown of model cards."""

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; pipes and line breaks in cells are escaped."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def with_section(text: str, title: str, paragraphs: Sequence[str]) -> str:
    """Return Markdown with a second-level section of paragraphs, in the place of the one of the same title."""
    section = "\n\n".join(part for part in (f"## {title}", *paragraphs) if part) + "\n"
    before, found, rest = f"\n{text}".partition(f"\n## {title}\n")
    _, following, after = rest.partition("\n## ") if found else ("", "", "")
    head = f"{before.strip()}\n\n" if before.strip() else ""
    return f"{head}{section}" + (f"\n## {after.lstrip()}" if following else "")
