"""The site: `make docs`. Its pages are plain Markdown; docs/index.md is the table of contents of both."""

import re

from sphinx.application import Sphinx

project = "facetflow"
html_title = "facetflow"
html_theme = "furo"
html_show_copyright = False
html_copy_source = False
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_heading_anchors = 4
highlight_language = "text"  # of fences without one, which are drawings and outputs
default_role = "code"  # in docstrings, as in Markdown
smartquotes_action = "D"  # dashes only: what stands between quotes may be copied
autodoc_typehints = "none"
python_display_short_literal_types = True


def setup(app: Sphinx) -> None:
    """Let the lists of docs/index.md be the navigation."""
    app.connect("source-read", _add_contents)


def _add_contents(_: Sphinx, page: str, source: list[str]) -> None:
    if page != "index":
        return
    for title, links in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", source[0], re.MULTILINE | re.DOTALL):
        pages = "\n".join(re.findall(r"\]\(([\w/]+)\.md\)", links))
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{pages}\n```\n"
