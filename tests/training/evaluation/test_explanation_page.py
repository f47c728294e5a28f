"""The page of an explanation: facets, graphs if there are any, every text escaped."""

import re
from dataclasses import replace

from features.graphs.graph import decode
from features.metrics.explanation.pair import explain_graphs
from training.encoders.s3bert.explain import EncoderFacts, Explanation, with_graphs
from training.encoders.s3bert.facet_reading import FacetReading
from training.evaluation.facets.explanations import render_explanations

HOSTILE = "A <b>boy</b> & a girl"
FACTS = EncoderFacts("my run", "runs/my run/encoder", "mini", ("stsb",), 3, 1200, 500)


def explanation(a, b):
    facets = (
        FacetReading("smatch", 0.8, 0.95, 0.5, 0.7, (0.6, 0.8), reliable=True),
        FacetReading("frames", 0.9, 0.5, 0.4, 0.7, (0.6, 0.8), reliable=True),
        FacetReading("negations", 0.1, 0.2, None, 0.1, (-0.1, 0.3)),
        FacetReading("own", 0.3, None, 0.2),
    )
    return Explanation(a, b, 0.7, 0.6, facets, headline="By the encoder alone.")


def test_a_page_has_the_facets_and_draws_the_graphs_of_those_that_have_them():
    (pair,) = explain_graphs([(decode("(s / sleep-01 :ARG0 (b / boy))"), decode("(s / sleep-01 :ARG0 (g / girl))"))])
    page = render_explanations(
        [explanation("a", "b"), with_graphs(explanation("c", "d"), pair)],
        {1: pair},
        FACTS,
        "x.amr",
        project="mine",
    )
    date = r"\d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d UTC"
    assert re.search(rf'<h1>How two sentences are similar</h1>\n<p class="quiet">mine · {date}</p>', page)
    assert "<title>How two sentences are similar · mine · facetflow</title>" in page
    assert page.count("<svg") == 2
    assert page.index("<svg") > page.index('<p dir="auto">c</p>')
    about = "my run: mini, trained on 1,200 pairs of stsb, release 3; 500 dev pairs"
    assert f"Encoder {about}. Graphs: x.amr." in page
    first, second = page.split('<p dir="auto">c</p>')
    assert "By the encoder alone. Similarity of the whole embeddings 0.70." in first
    words = "They share no content word, but the encoder finds them alike (0.70)"
    assert f'<p class="words">{words}; a speaks of &#34;c&#34;, b of &#34;d&#34;.</p>' in second
    assert "Measured highest in frames (1.00), lowest in smatch (0.75). The encoder disagrees: frames 0.50" in second
    assert "<td>smatch <small>triples</small></td><td>–</td><td>0.95</td>" in first
    assert '<td><span class="lowest">smatch</span> <small>triples</small></td><td>0.75</td><td>0.95</td>' in second
    assert "<td>0.70 <small>0.60 to 0.80</small></td>" in second
    assert 'id="pair1-smatch" checked' in second


def test_a_facet_that_is_not_reliable_is_greyed_and_not_marked():
    page = render_explanations([explanation("a", "b")], {}, FACTS, "none")
    assert re.search(r'<p class="quiet">\d+ [A-Z]', page)  # no project file was read
    row = page[page.rindex("<tr", 0, page.index("<td>negations ")) :]
    assert row.startswith('<tr class="unclear" title="')
    assert page.count('<tr class="unclear"') == 2


def test_numbers_around_0_are_told_as_on_other_pages():
    facet = FacetReading("negations", 0.1, -0.001, None, 0.1, (-0.1, 0.3))
    page = render_explanations([Explanation("a", "b", -0.001, None, (facet,))], {}, FACTS, "none")
    assert "Similarity of the whole embeddings 0.00." in page
    assert "<td>0.10 <small>−0.10 to 0.30</small></td>" in page


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(browser, tmp_path):
    (pair,) = explain_graphs([(decode("(s / sleep-01 :ARG0 (b / boy))"), decode("(s / sleep-01 :polarity -)"))])
    page = tmp_path / "explained.html"
    facts = EncoderFacts(HOSTILE, HOSTILE)
    explained = with_graphs(explanation("A boy sleeps.", HOSTILE), pair)
    blind = FacetReading("quantifiers", 1.0, 1.0, 1.0, -0.2, (-0.5, -0.1), measured=1.0, blind=True)
    page.write_text(render_explanations([replace(explained, facets=(blind,))], {0: pair}, facts, HOSTILE))
    assert browser.find_faults(page) == []
    browser.show(page)
    fits = "const table = document.querySelector('.scroll'); return table.scrollWidth === table.clientWidth;"
    assert browser.run(fits)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    inside = browser.run("return getComputedStyle(document.querySelector('.example')).breakInside;")
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert inside == "auto"  # it may be longer than a sheet, and the one before it would stay empty


def test_every_text_is_escaped_and_nothing_is_fetched():
    facts = EncoderFacts(HOSTILE, HOSTILE)
    page = render_explanations([explanation(HOSTILE, HOSTILE)], {}, facts, HOSTILE)
    assert "<b>boy" not in page
    assert page.count("A &lt;b&gt;boy&lt;/b&gt; &amp; a girl") == 5
    assert "://" not in page
    assert "<script" not in page
