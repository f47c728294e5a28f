"""The skeleton of every page that facetflow writes: one file that opens offline, light and dark, wide and narrow.

render_page    head, style, body       the policy in its head blocks all requests and scripts
heading        title · fact · fact     what it is, of which project, from when
explained      a word with a sentence  shown on hover, focus or touch
"""

from collections.abc import Mapping
from datetime import datetime
from html import escape
from importlib.resources import files

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def render_page(title: str, body: str, style: str = "") -> str:
    """Return a page with its style embedded; nothing is fetched from anywhere.

    Args:
        title: text.
        body: HTML.
        style: rules in addition to those of every page.
    """
    rules = (files("features") / "page.css").read_text(encoding="utf-8") + style
    return _PAGE.format(title=escape(title), style=rules, body=body)


def heading(title: str, *facts: str) -> str:
    """Return the title of a page and a line below it: the project, the date and other facts.

    Args:
        title: text.
        facts: texts; empty ones are left out.
    """
    known = " · ".join(escape(fact) for fact in facts if fact)
    return f"<h1>{escape(title)}</h1>" + (f'<p class="quiet">{known}</p>' if known else "")


def tell_date(date: str) -> str:
    """Return a date in readable form.

    Args:
        date: in ISO 8601, with its time zone.

    >>> tell_date("2026-03-01T09:05:00+00:00")
    '1 March 2026, 09:05 UTC'
    """
    moment = datetime.fromisoformat(date)
    return f"{moment.day} {moment:%B %Y, %H:%M %Z}".strip()


def explained(word: str, sentence: str) -> str:
    """Return a word as HTML, with an explanation shown on hover, focus or touch.

    Args:
        word: text, such as the name of a facet.
        sentence: text; if empty, the word stands alone.
    """
    if not sentence:
        return escape(word)
    tip = f'<span class="tip" role="tooltip">{escape(sentence)}</span>'
    return f'<span class="term" tabindex="0">{escape(word)}{tip}</span>'


def folded(title: str, content: str, *, shown: bool = False) -> str:
    """Return HTML that unfolds when its title is clicked.

    Args:
        title: text.
        content: HTML.
        shown: whether it is unfolded from the start.
    """
    return f"<details{' open' if shown else ''}><summary>{escape(title)}</summary>{content}</details>"


def described(sentences: Mapping[str, str]) -> str:
    """Return a list of words, each with its sentence, as HTML."""
    items = "".join(
        f"<div><dt>{escape(word)}</dt><dd>{escape(sentence)}</dd></div>" for word, sentence in sentences.items()
    )
    return f'<dl class="described">{items}</dl>'
