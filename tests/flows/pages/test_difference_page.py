"""The page of two releases: its content, and its layout in a browser."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

from features.store.differences import (
    PartDifference,
    RejectDifference,
    ReleaseDifference,
    TableDifference,
    ValueDifference,
)
from features.store.drift import compare_values
from features.store.fingerprints import Change, RecipeChange
from flows.commands.status import diff
from flows.pages.difference import render_difference

DATES = ("2026-03-01T09:05:00+00:00", "2026-03-02T09:05:00+00:00")


@pytest.fixture(scope="module")
def found():
    random = np.random.default_rng(0)
    values = random.beta(5, 2, 4000)
    return ReleaseDifference(
        old=3,
        new=7,
        tables=(TableDifference("pairs", 4000, 4400, 400), TableDifference("metrics", 3990, 4380, 400, 10, 3980)),
        parts=(PartDifference("pairs", "my-<b>corpus</b>", "train", 400, 0),),
        rejects=(RejectDifference("amr", "no_graph", 10, 20),),
        recipes=(RecipeChange("metrics", "changed", (Change("algorithm", "1", "2"),)),),
        values=(ValueDifference("metrics", "smatch", 3980, 0.1),),
        drift=(
            compare_values("root", values, values),
            compare_values("smatch", values, np.clip(values + 0.15, 0, 1)),
            compare_values("own_<i>metric</i>", 40 * values, 40 * values + 1),
        ),
    )


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "difference.html"
    path.write_text(render_difference(found, "two-<i>cats</i>", *DATES))
    return path


class Tags(HTMLParser):
    """Checks that elements are closed."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_metric_is_drawn_as_it_was_and_as_it_is_those_that_moved_most_first(page, found):
    text = page.read_text()
    parsed = Tags()
    parsed.feed(text)
    assert parsed.open == []
    assert re.findall(r'aria-label="([^:"]+): ([^,]+) drift', text) == [
        ("smatch", "large"),
        ("own_&lt;i&gt;metric&lt;/i&gt;", "moderate"),
        ("root", "none"),
    ]
    smatch, own, root = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    old, new = found.drift[1].old.shares, found.drift[1].new.shares
    assert re.findall(r'bottom:[\d.]+%">([^<]+)<', smatch)[-1] == "40"
    lefts = [float(x) for x in re.findall(r"M([\d.]+) 100H", re.search(r'"box"[^>]* d="([^"]+)"', smatch)[1])]
    filled = [position for position, share in enumerate(new) if share]
    assert lefts == pytest.approx([4 * position for position in filled])
    assert filled != list(range(len(filled)))  # an empty part leaves a gap
    stairs = re.search(r'"b" d="M([^"]+)"', smatch)[1].split("L")
    heights = [100 - float(point.split()[1]) for point in stairs[::2]]
    assert heights == pytest.approx([100 * share / 0.4 for share in old], abs=0.01)
    assert re.findall(r'left:[\d.]+%">([^<]+)<', smatch) == ["0.0", "0.5", "1.0"]
    assert re.findall(r'left:[\d.]+%">([^<]+)<', own)[-1] == "40"
    assert "mean 0.7" in root


def test_the_page_says_what_is_different_and_escapes_what_comes_from_data(page):
    text = page.read_text()
    assert "<h1>Release 7 compared with release 3</h1>" in text
    assert "release 3 of 1 March 2026, 09:05 UTC, release 7 of 2 March 2026, 09:05 UTC" in text
    assert "<li>metrics: algorithm 1 → 2</li>" in text
    assert "<td>amr: no_graph</td><td>10</td><td>20</td>" in text
    assert "my-&lt;b&gt;corpus&lt;/b&gt;" in text
    assert not re.search(r"<b>|<i>|https?:", text)


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(page, browser):
    assert browser.find_faults(page) == []


@pytest.mark.slow
def test_diff_writes_the_page_and_nothing_to_standard_output(built, tmp_path):
    def run(*words):
        return CliRunner().invoke(diff, ["1", "1", *words], obj=built.folder / "facetflow.toml")

    page = tmp_path / "new" / "page.html"
    done = run("--html", str(page))
    assert (done.stdout, done.stderr) == ("", f"Wrote the comparison of releases 1 and 1 to {page}.\n")
    assert "<p>Both have the same rows, rejected rows and recipes.</p>" in page.read_text()
    assert run("--html", "-").stdout == page.read_text()
    assert "both write to standard output" in run("--html", "-", "--json").stderr
