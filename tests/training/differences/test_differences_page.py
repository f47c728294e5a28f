"""The page of two encoders: each set in parts, moved pairs, texts unchanged, complete at every window size."""

import re
from collections import Counter

import numpy as np
import pytest

from features.metrics.bootstrap import Bootstrap
from features.parsers.settings import DependencySettings
from training.differences import page as page_module
from training.differences.page import Depths, Side, choose, differences_page
from training.differences.shared import move, shared_sets
from training.differences.views import View, draw_tree
from training.evaluation.comparison import compare_runs

DRAWS = Bootstrap(resamples=40)
ODD = ("<script>alert('\U0001f436')</script> & co", "\u732b\u5728\u516c\u56ed <b>sleeps</b>")
NOTHING = (View(), View())


@pytest.fixture
def sides(evaluated):
    """Two runs: of rated pairs, where B is better for long ones, and of judged ones of the same words."""
    random = np.random.default_rng(0)
    people = random.random(160)
    texts = [("word " * (3 + n % 8) + f"x{n}", f"other {n}") for n in range(159)] + [ODD]
    orders = [(f"a{n} sees b{n}", f"b{n} sees a{n}") for n in range(40)] + [ODD]
    runs = []
    for name in ("twin <i>1</i>", "syntax"):
        noise = np.array([1.0 if name != "syntax" or len(first) < 40 else 0.01 for first, _ in texts])
        said = people + noise * random.normal(size=160)
        rated = [(*texts[n], people[n], said[n]) for n in range(160)]
        judged = [(*pair, n % 2, random.random()) for n, pair in enumerate(orders)]
        runs.append(evaluated(name.split()[0], rated, judged))
    return tuple(
        Side(name, [run], [f"{name}/00001-aaaaaa/seed-0"])
        for name, run in zip(("twin <i>1</i>", "syntax"), runs, strict=True)
    )


@pytest.fixture
def page(monkeypatch):
    """Return a function that makes the page of two sides, of which sentences have some views and trees some depths."""

    def make(sides, depths=None, views=NOTHING):
        depths = depths or Depths({}, problem="The pipeline 'en_<x>' is not here.")
        seen = dict(zip((side.runs[0] for side in sides), views, strict=True))
        monkeypatch.setattr(page_module, "view", lambda run, _: seen[run])
        monkeypatch.setattr(page_module, "measure_depths", lambda *_: depths)
        comparison = compare_runs(sides[0].runs, sides[1].runs, DRAWS)
        return differences_page(sides, comparison, DependencySettings(), project="z<o>o", bootstrap=DRAWS)

    return make


def test_each_set_has_its_parts_with_counts_and_says_what_it_has_not(sides, page):
    html = page(sides)
    rated, judged = re.split(r"<h3>", html)[1:]
    assert rated.startswith("sts <small>Similarity against human ratings</small></h3>")
    assert "160 pairs. Spearman × 100 with human ratings." in rated
    parts = re.findall(r"<tr><td>(.*?)</td><td>(\d+)</td>", rated.partition("</details>")[0])
    assert [name for name, _ in parts] == [
        "all pairs", "4–5 words", "6–7 words", "8–9 words", "10–11 words", "fewer words in common",
    ]  # fmt: skip
    assert [int(pairs) for _, pairs in parts] == [160, 41, 40, 40, 39, 160]
    assert "Not divided by tree depth: The pipeline &#39;en_&lt;x&gt;&#39; is not here." in rated
    assert re.search(r"<td>10–11 words</td>.*?<td>above</td>", rated)
    assert re.search(r'aria-label="10–11 words \d', rated), "its bar is of B - A, above 0"
    assert "41 pairs. AUROC × 100" in judged
    assert "Not divided by length: that takes two parts of at least 30 pairs." in judged
    assert "<td>same words, other order</td><td>40</td>" in judged
    assert "Left out, with fewer than 30 pairs: fewer words in common (1)." in judged
    assert "The human place of a positive pair is 100, of a negative one 0." in judged


def test_depths_make_parts_of_the_pairs_whose_trees_are_known(sides, page):
    texts = [text for each in shared_sets(sides[0].runs, sides[1].runs) for pair in each.texts for text in pair]
    depths = Depths({text: len(text) % 3 for text in texts if text != ODD[0]}, "spacy/en_toy-1.0")
    html = page(sides, depths)
    assert "Trees are from spacy/en_toy-1.0." in html
    rated = re.split(r"<h3>", html)[1]
    known = re.findall(r"<tr><td>(.*? deep)</td><td>(\d+)</td>", rated)
    pairs_of = shared_sets(sides[0].runs, sides[1].runs)[0].texts
    expected = Counter(max(map(depths.by_text.get, pair)) for pair in pairs_of if ODD[0] not in pair)
    assert [int(pairs) for _, pairs in known] == [expected[0] + expected[1], expected[2]]
    assert "By depth, pairs with a sentence that is too long or has no word are left out: 1." in rated


def test_pairs_that_moved_have_both_scores_and_what_both_see(sides, page):
    shared = shared_sets(sides[0].runs, sides[1].runs)
    texts = {text for each in shared for pair in each.texts for text in pair}
    seen = View("trees", {text: f"<svg>{len(text)}</svg>" for text in texts}, "en_toy")
    html = page(sides, views=(View(), seen))
    assert html.count('<div class="card">') == 25
    assert html.count("as B sees them") == 25
    assert "as A sees" not in html
    assert "A (twin &lt;i&gt;1&lt;/i&gt;) sees no structure of a sentence. B (syntax) sees trees." in html
    both = page(sides, views=(seen, seen))
    assert both.count("as A and B see them") == 25
    assert "Scores are cosines. The place of a pair" in both
    assert "cannot be drawn: gone." in page(sides, views=(View(problem="gone."), seen))
    best = move(shared[0])
    first = best.towards()[0]
    card = html[html.index("B is closer to human judgement") :].partition("</table>")[0]
    assert f"<td>people</td><td>{shared[0].expected[first]:g}</td><td>{100 * best.wanted[first]:.0f}</td>" in card
    assert (
        f"<td>B</td><td>{shared[0].scored.predicted[first, 1]:.3f}</td><td>{100 * best.after[first]:.0f}</td>" in card
    )


def test_pairs_of_the_same_words_are_shown_however_few_and_none_twice(evaluated, page):
    texts = [(f"text {n}", f"other {n}") for n in range(30)] + [("a dog bites a man", "a man bites a dog")] * 2
    people = list(range(32))
    a = evaluated("a", [(*pair, n, -float(n)) for n, pair in zip(people, texts, strict=True)])
    b = evaluated("b", [(*pair, n, 0.5 if n == 30 else float(n)) for n, pair in zip(people, texts, strict=True)])
    (shared,) = shared_sets([a], [b])
    assert list(choose(shared).values()) == [[0, 31, 1, 2, 29], [], [30]]
    html = page((Side("a", [a], ["a"]), Side("b", [b], ["b"])))
    assert "Other pairs of the same words in another order: the pair that moved most" in html
    assert html.count('<div class="card">') == 6


def test_nothing_of_a_text_becomes_a_tag_and_no_window_shows_a_fault(sides, page, browser, tmp_path):
    shared = shared_sets(sides[0].runs, sides[1].runs)
    texts = {text for each in shared for pair in each.texts for text in pair}

    def tree(text):
        words = text.split()
        heads = [max(0, place - 2) for place in range(len(words))]
        return f'<div class="scroll" tabindex="0">{draw_tree(words, heads, ["a<b"] * len(words))}</div>'

    html = page(sides, views=(View(), View("trees", {text: tree(text) for text in texts}, "en_toy")))
    for tag in ("<script", "<b>s", "<i>", "<o>", "a<b"):
        assert tag not in html
    file = tmp_path / "page.html"
    file.write_text(html, encoding="utf-8")
    assert browser.find_faults(file) == []


def test_encoders_without_common_pairs_are_said_to_have_none_and_no_model_is_loaded(sides, monkeypatch):
    monkeypatch.setattr(page_module, "shared_sets", lambda *_: [])
    monkeypatch.setattr(page_module, "view", lambda *_: pytest.fail("a model was loaded"))
    comparison = compare_runs(sides[0].runs, sides[1].runs, DRAWS)
    html = differences_page(sides, comparison, DependencySettings())
    assert "no set of rated or judged pairs in common" in html
    assert "<h2>Scores</h2>" in html


def test_depth_is_measured_by_the_parser_of_the_encoder_with_trees_or_that_of_the_project(sides, monkeypatch):
    asked = []

    def load(settings):
        from features.core.errors import ModelError

        asked.append(settings.model)
        raise ModelError("it is not here.")

    monkeypatch.setattr("features.parsers.dependencies.load", load)
    monkeypatch.setattr(
        page_module, "view", lambda run, _: View("trees", parser="en_own") if run.name == "syntax" else View()
    )
    comparison = compare_runs(sides[0].runs, sides[1].runs, DRAWS)
    project = DependencySettings(model="en_project")
    assert "Not divided by tree depth: it is not here." in differences_page(sides, comparison, project, bootstrap=DRAWS)
    monkeypatch.setattr(page_module, "view", lambda *_: View())
    differences_page(sides, comparison, project, bootstrap=DRAWS)
    assert asked == ["en_own", "en_project"]
