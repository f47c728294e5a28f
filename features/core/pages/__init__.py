"""Pages from templates: each is one file that opens offline, light and dark, wide and narrow.

    <package>/templates/<page>.html ──────────┐ gathered values
    features/core/pages/templates/page.html   ├──render──> one HTML file, its style inline
                                 /style.css   │            no request, no script; every text from data is escaped
                                 /macros.html ┘

    <package>/templates/<notes>.txt: {% macro note(it) %}a sentence{% endmacro %} ──tell──> text, a sentence a line

A template is named by its package and file, `flows.pages/build.html`. Values are escaped unless they are `Markup`, as
what `render` returns is, and not at all in Markdown and text; a name that is not passed is an error. Filters beside
Jinja's own:

    {{ "2026-03-01T09:05:00+00:00" | date }}   1 March 2026, 09:05 UTC
    {{ 1234.5 | number(1) }}                   1,234.5; a None is "–"
    {{ "run `facetflow build`" | code }}       run <code>facetflow build</code>
    {{ 3 | counted("pair") }}                  3 pairs; `all_of`, `clipped`, `repr` likewise
"""

import re
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from features.core.wording import all_of, clipped, counted

if TYPE_CHECKING:
    from jinja2 import Environment

UNDEFINED = "–"
"""What a page shows instead of a number that does not exist."""


def render(template: str, **values: Any) -> Markup:
    """Return a page, or a part of one, from a template such as `flows.pages/build.html` and its values."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704  # the template escaped them


def tell(notes: str, note: str, *values: Any, **named: Any) -> str:
    """Render a macro of a template, such as `features.ingest/reports.txt`, as text.

    Its lines are joined by spaces; an empty line is a line break.
    """
    made: str = getattr(_environment().get_template(notes).module, note)(*values, **named)
    lines = (" ".join(filter(None, line.split("\n"))) for line in made.split("\n\n"))
    return "\n".join(filter(None, lines))


def tell_date(date: str | datetime | None = None) -> str:
    """Return a date with its time zone, ISO 8601 if it is text, in readable form; now when None.

    >>> tell_date("2026-03-01T09:05:00+00:00")
    '1 March 2026, 09:05 UTC'
    """
    moment = datetime.fromisoformat(date) if isinstance(date, str) else date or datetime.now(UTC)
    return f"{moment.day} {moment:%B %Y, %H:%M %Z}".strip()


def tell_number(value: float | None, digits: int = 0) -> str:
    """Return a number with separators of thousands, a minus sign, and `digits` after the point.

    >>> tell_number(-1234.5, 1)
    '−1,234.5'
    """
    return UNDEFINED if value is None else f"{value:z,.{digits}f}".replace("-", "−")


def mark_code(text: str) -> Markup:
    """Return a text with commands in backticks marked as code.

    >>> mark_code("run `facetflow build` & wait")
    Markup('run <code>facetflow build</code> &amp; wait')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped before


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=select_autoescape(disabled_extensions=("md", "txt"), default_for_string=True, default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"date": tell_date, "number": tell_number, "code": mark_code}
    environment.filters |= {"counted": counted, "all_of": all_of, "clipped": clipped, "repr": repr}
    return environment


def _read(template: str) -> tuple[str, str, None]:
    """Return the text of a template and the name that an error shows."""
    package, _, name = template.partition("/")
    return (files(package) / "templates" / name).read_text(encoding="utf-8"), template, None
