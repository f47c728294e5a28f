"""The page of an explanation: facets, graphs where there are any, every text escaped."""

from features.graphs.graph import decode
from features.metrics.explanation.pair import explain_graphs
from training.explain import Explanation, FacetReading
from training.explanation_page import render_explanations

HOSTILE = "A <b>boy</b> & a girl"


def explanation(a, b):
    facets = (
        FacetReading("smatch", 0.8, 0.75, 0.5, "highest"),
        FacetReading("negations", 0.1, 0.2, None, "lowest"),
        FacetReading("own", 0.3, 0.3, 0.2),
    )
    return Explanation(a, b, 0.7, 0.6, facets)


def test_a_page_has_the_facets_and_draws_the_graphs_of_those_that_have_them():
    (pair,) = explain_graphs([(decode("(s / sleep-01 :ARG0 (b / boy))"), decode("(s / sleep-01 :ARG0 (g / girl))"))])
    page = render_explanations([explanation("a", "b"), explanation("c", "d")], {1: pair}, "my run", "graphs of x.amr")
    assert page.count("<svg") == 2
    assert page.index("<svg") > page.index("<p>c</p>")
    assert "Encoder my run; graphs of x.amr" in page
    assert "similarity 0.70; highest smatch, lowest negations" in page
    first, second = page.split("<p>c</p>")
    row = "<td>0.80</td><td>0.75</td>"
    assert f"{row}<td>–</td>" in first
    assert f"{row}<td>0.75</td>" in second
    assert 'id="pair1-smatch" checked' in second


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(browser, tmp_path):
    (pair,) = explain_graphs([(decode("(s / sleep-01 :ARG0 (b / boy))"), decode("(s / sleep-01 :polarity -)"))])
    page = tmp_path / "explained.html"
    page.write_text(render_explanations([explanation("A boy sleeps.", HOSTILE)], {0: pair}, HOSTILE, HOSTILE))
    assert browser.find_faults(page) == []


def test_every_text_is_escaped_and_nothing_is_fetched():
    page = render_explanations([explanation(HOSTILE, HOSTILE)], {}, HOSTILE, HOSTILE)
    assert "<b>boy" not in page
    assert page.count("A &lt;b&gt;boy&lt;/b&gt; &amp; a girl") == 4
    assert "://" not in page
    assert "<script" not in page
