"""Parts of pages as text, for pages that are not made from templates yet (`features.core.pages`)."""

from collections.abc import Mapping
from html import escape

from markupsafe import Markup

from features.core.pages import render, tell_date

__all__ = ["described", "explained", "folded", "heading", "render_page", "tell_date"]


def render_page(title: str, body: str, style: str = "", kind: str = "") -> str:
    """Return a page with its style embedded; nothing is fetched from anywhere.

    Args:
        title: text.
        body: HTML.
        style: rules in addition to those of every page.
        kind: classes of the body.
    """
    values = {"title": title.removesuffix(" · facetflow"), "body": Markup(body), "style": Markup(style), "kind": kind}  # noqa: S704
    return render("features.core.pages/page.html", **values)


def heading(title: str, *facts: str) -> str:
    """Return the title of a page and a line below it; empty facts are left out."""
    known = " · ".join(escape(fact) for fact in facts if fact)
    return f"<h1>{escape(title)}</h1>" + (f'<p class="quiet">{known}</p>' if known else "")


def explained(word: str, sentence: str) -> str:
    """Return a word as HTML, with an explanation shown on hover, focus or touch."""
    if not sentence:
        return escape(word)
    tip = f'<span class="tip" role="tooltip">{escape(sentence)}</span>'
    return f'<span class="term" tabindex="0">{escape(word)}{tip}</span>'


def folded(title: str, content: str, *, shown: bool = False) -> str:
    """Return HTML that unfolds when its title is clicked."""
    return f"<details{' open' if shown else ''}><summary>{escape(title)}</summary>{content}</details>"


def described(sentences: Mapping[str, str]) -> str:
    """Return a list of words, each with its sentence, as HTML."""
    items = "".join(
        f"<div><dt>{escape(word)}</dt><dd>{escape(sentence)}</dd></div>" for word, sentence in sentences.items()
    )
    return f'<dl class="described">{items}</dl>'
