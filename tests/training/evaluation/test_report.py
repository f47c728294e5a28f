"""The page of an evaluation: self-contained, escapes what comes from data, and says what it is about."""

import re
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

from sentences import refused

from features.core.faults import NoScores
from features.core.pages import render, tell_date
from features.metrics.registry import METRICS
from training.evaluation.bars import Bar, draw_bars
from training.evaluation.report import render_report
from training.evaluation.run import evaluate, write_report
from training.evaluation.suites import Chapter, score_tables


class Page(HTMLParser):
    """Collects what a browser would load, and checks that elements are closed."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})

    def __init__(self):
        super().__init__()
        self.references, self.open, self.ids, self.tags = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "xlink:href", "srcset", "data", "action"}:
                self.references.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()


def test_the_report_stands_alone(scores, job):
    text = (job.output / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
    assert not re.search(r"https?:|//\w|url\((?!#)|@import", text)
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert text.count("<svg") >= 3


def test_the_report_escapes_what_comes_from_data(scores, job):
    text = (job.output / "report.html").read_text()
    assert "my-<b>" not in text
    assert "my-&lt;b&gt;project" in text


def test_the_report_says_of_which_project_encoder_and_data_it_is(scores, job, tiny_encoder):
    text = (job.output / "report.html").read_text()
    assert "<h1>my-&lt;b&gt;project&lt;/b&gt; · encoder one</h1>" in text
    assert f"evaluated on {tell_date(scores['date'])}" in text
    assert f"<dt>Encoder</dt><dd>one, from {tiny_encoder}</dd>" in text
    assert re.search(r"<dt>Trained on</dt><dd>left \(\d+ pairs\), right .*; an exported table</dd>", text)
    assert "12 positive pairs of dev (left, right)" in text


def test_the_time_of_training_is_that_of_all_its_parts(scores, job):
    training = {"seconds": 100, "pairs_per_second": 24.0, "map": {"steps": 9, "seconds": 20.0}, "dev": {"loss": 0.1}}
    text = render_report(scores, training, job.output)
    assert re.search(r"2\.0 min.*steps of training, 24 pairs/s", text, re.DOTALL)


def test_report_terminal_and_card_say_that_the_model_was_chosen_by_the_split_that_is_scored(scores, job, tmp_path):
    said = (
        "The model was chosen by its loss on the dev pairs of left, right: on pairs that its training did not use, "
        "its scores may be lower. To evaluate on others, use --split with test (12 pairs)."
    )
    assert scores["suites"]["facets"]["seen"] == {"part": "chosen", "corpora": ["left", "right"]}
    assert score_tables(scores)[0].note.startswith(said)
    assert f'<p class="warning">{said}</p>' in (job.output / "report.html").read_text()
    assert said in (job.encoder / "README.md").read_text()
    others = evaluate(job.model_copy(update={"split": "test", "output": tmp_path, "ratings": ()}))
    assert others["suites"]["facets"]["seen"] is None
    assert "chosen by" not in score_tables(others)[0].note + (tmp_path / "report.html").read_text()


def test_every_facet_is_explained_where_it_is_measured_and_in_a_legend(scores, job):
    text = (job.output / "report.html").read_text()
    for name, metric in METRICS.items():
        question = escape(metric.question)
        assert f'{name}<span class="tip" role="tooltip">{question}</span>' in text
        assert f"<dt>{name}</dt><dd>{question}</dd>" in text


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(scores, job, browser):
    assert browser.find_faults(job.output / "report.html") == []


def test_what_a_facet_asks_is_shown_on_focus_within_a_narrow_window(scores, job, browser):
    browser.show(job.output / "report.html", width=420)
    shown = """
        return [...document.querySelectorAll('.term')].map(term => {
            const tip = term.querySelector('.tip');
            const before = tip.getClientRects().length;
            term.focus();
            const box = tip.getBoundingClientRect();
            return [before, box.left >= 0 && box.right <= innerWidth && box.width > 100 && box.height > 10];
        });"""
    found = browser.run(shown)
    assert len(found) > 45
    assert {tuple(pair) for pair in found} == {(0, True)}


def test_two_charts_of_a_suite_have_room_for_their_axes(browser, tmp_path):
    bar = Bar("trec", "", 50.0, (40.0, 70.0), verdict="unclear")
    charts = {name: draw_bars([bar], of="this encoder", axis="accuracy") for name in ("one", "other")}
    page = tmp_path / "report.html"
    nothing = dict.fromkeys(("rules", "date"), "") | dict.fromkeys(("warnings", "figures"), ())
    chapter = ({"title": "Classification"}, [], Chapter(charts=charts))
    report = {
        "title": "report",
        "heading": "report",
        "subject": {},
        "origin": {},
        "chapters": [chapter],
        "settings": None,
    }
    page.write_text(render("training.evaluation/report.html", **nothing | report))
    browser.show(page)
    ends = """
        const ends = box => [box.left, box.right];
        return [...document.querySelectorAll('.ticks')].map(axis =>
            [...axis.children].map(tick => ends(tick.getBoundingClientRect())));
    """
    axes = browser.run(ends)
    assert len(axes) == 2
    assert all(left[1] + 6 < right[0] for ticks in axes for left, right in pairwise(ticks))


def test_the_report_is_the_same_every_time(scores, job):
    first = (job.output / "report.html").read_text()
    assert write_report(job.output, job.encoder).read_text() == first
    assert not re.search(r"\bnan\b", first)


def test_a_report_before_an_evaluation_is_an_error(job, tmp_path):
    with refused(NoScores):
        write_report(tmp_path, job.encoder)
