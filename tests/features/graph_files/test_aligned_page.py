"""The page of aligned graphs: contents, sentences as headings, every graph whole, in a browser."""

import dataclasses
from datetime import UTC, datetime

import pytest
from markupsafe import escape

from features.graph_files.aligned import AlignedFiles, align_files, render_aligned
from features.metrics.explanation.drawing import show_pair

HOSTILE = '<script>document.title = "attacked"</script>'
LONG = "a-rather-long-concept-" * 12 + "01"
BRANCHES = " ".join(f":op{n} (t{n} / thing-{n} :ARG0-of (d{n} / do-01 :quant {n}))" for n in range(1, 25))
PAIRS = (
    (
        "A boy sleeps.",
        "(s / sleep-01 :ARG0 (b / boy))",
        "A girl doesn't.",
        "(s / sleep-01 :ARG0 (g / girl) :polarity -)",
    ),
    (HOSTILE, '(s / sleep-01 :mod "<script>document.title=1</script>")', HOSTILE, "(s / sleep-01)"),
    ("One word" + "x" * 300, "(a / apple)", "", "(p / pear)"),
    (
        "Fifty nodes.",
        f"(a / and {BRANCHES} :mod a)",
        "Long names.",
        f'(l / {LONG} :wiki "{"long_" * 60}" :very-{LONG} l)',
    ),
    ("الولد نائم", "(ن / نام-01 :ARG0 (و / ولد))", "猫が眠る", "(n / 眠る-01 :ARG0 (m / 猫))"),
)


@pytest.fixture(scope="module")
def aligned(tmp_path_factory) -> AlignedFiles:
    folder = tmp_path_factory.mktemp("aligned")
    for name, side in (("a.amr", 0), ("b.amr", 2)):
        blocks = [f"# ::snt {pair[side]}\n{pair[side + 1]}\n" for pair in PAIRS]
        (folder / name).write_text("\n".join(blocks), encoding="utf-8")
    return align_files(folder / "a.amr", folder / "b.amr")


@pytest.fixture(scope="module")
def page(aligned, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "aligned.html"
    file.write_text(render_aligned(aligned, datetime(2026, 3, 1, 9, 5, tzinfo=UTC)), encoding="utf-8")
    return file


def test_sentences_are_headings_and_the_contents_lead_to_them(page):
    html = page.read_text()
    assert "<h1>a.amr | b.amr</h1>" in html
    assert "5 pairs of graphs · 1 March 2026, 09:05 UTC" in html
    for number, (left, _, right, _) in enumerate(PAIRS, start=1):
        assert f'<a href="#pair-{number}">' in html
        heading = html[html.index(f'<h2 id="pair-{number}">') :].partition("</h2>")[0]
        for sentence in (left, right or "a graph without a sentence"):
            assert escape(sentence) in heading


def test_a_single_pair_needs_no_contents(aligned):
    html = render_aligned(AlignedFiles(aligned.files, aligned.pairs[:1]))
    assert "<nav" not in html
    assert "1 pair of graphs" in html


def test_a_pair_without_a_graph_keeps_its_place_and_says_why(aligned):
    reason = "a.amr, graph at line 7: <not> closed"
    wrong = dataclasses.replace(aligned.pairs[0], number=2, graphs=None, wrong=(reason,))
    html = render_aligned(AlignedFiles(aligned.files, (aligned.pairs[0], wrong)))
    assert "1 pair of graphs" in html
    assert "pair 2: a.amr, graph at line 7: &lt;not&gt; closed" in html
    assert '<h2 id="pair-2">' in html
    assert "Not aligned: a.amr, graph at line 7: &lt;not&gt; closed" in html


def test_rules_stand_once_on_a_page_however_many_pairs_it_shows(aligned):
    assert "<style" not in show_pair(aligned.pairs[0].graphs, ("", ""), "p1")
    assert render_aligned(aligned).count("<style") == 1


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(browser, page):
    assert browser.find_faults(page) == []
    assert browser.run("return document.title") == "a.amr | b.amr · facetflow"


def test_choosing_a_facet_by_keyboard_colours_what_it_reads_and_says_what_it_asks(browser, page):
    browser.show(page)
    colours = "return [...document.querySelectorAll('#pair-1 ~ .pair rect')].map(e => getComputedStyle(e).stroke)"
    before = browser.run(colours)
    browser.run("document.getElementById('p1-smatch').focus()")
    chosen = []
    while "negations" not in chosen[-1:]:
        browser.press("ArrowRight")
        chosen.append(browser.run("return document.activeElement.id").removeprefix("p1-"))
        assert len(chosen) < 15, chosen
    assert browser.run(colours) != before
    asks = "return getComputedStyle(document.querySelector('#pair-1 ~ .pair .asks'), '::before').content"
    assert browser.run(asks) == '"negations: Is the same thing negated?"'


def test_narrow_the_graphs_stand_below_each_other(browser, page):
    tops = "return [...document.querySelectorAll('#pair-1 ~ .pair figure')].map(e => e.getBoundingClientRect().top)"
    browser.show(page, width=1280)
    left, right = browser.run(tops)
    assert left == right
    browser.show(page, width=220)
    left, right = browser.run(tops)
    assert left < right
