"""The page of a build: correct after every kind of end, complete in a browser, readable with hundreds of shards."""

import json
import re
from itertools import pairwise

import pytest

from features.core.types import RejectCode
from flows.pages.build_facts import _quality_entry
from flows.pages.build_page import Bar, draw_timeline, render_build

STAGES = ("amr", "label_vectors", "metrics")


def shard(stage, number, state="committed", *, begun=1000.0, worker="worker-0", **more):
    outcome = "failed" if state == "failed" else "made"
    attempts = [{"worker": worker, "begun": begun, "heard": begun + 8, "outcome": outcome}]
    made = state in {"committed", "made"}
    return {
        "stage": stage,
        "shard": f"sentences-{number:05d}",
        "rows": 100,
        "why": "new",
        "state": state,
        "rejects": 2 if made else None,
        "seconds": 5.0 if made else None,
        "error": "no <graph> & nothing else" if state == "failed" else "",
        "attempts": attempts if made or state == "failed" else [],
        **more,
    }


def facts(state="done", shards=(), **more):
    return {
        "format": 1,
        "project": "two-cats",
        "store": "store",
        "run_id": "20260301T090500-ab12",
        "process": "host:4711",
        "started": "2026-03-01T09:05:00+00:00",
        "state": state,
        "written": "2026-03-01T09:06:00+00:00",
        "finished": None,
        "message": "Published release 4: `rows`.",
        "release": 4,
        "before": 3,
        "ingest": {"rows": 900, "rejected": 9, "new_sentences": 3, "new_pairs": 4, "new_labels": 0},
        "wall": {"start": 1.0, "stages": 8.0, "total": 9.0},
        "stages": [{"stage": stage, "shards": 200, "planned": 150, "why": f"{stage}: why"} for stage in STAGES],
        "shards": list(shards),
        "quality": [
            {"stage": "amr", "rows": 900, "rejected": 90, "share": 0.1, "limit": 0.05, "codes": {"no_graph": 90}}
        ],
        "tables": [{"table": "pairs", "before": 800, "now": 900}],
        "recipes": ["amr: parameters.max_words 512 → 100"],
        **more,
    }


def row(page, name):
    """Return the cells of the row of a table that begins with a name."""
    found = re.search(rf"<tr><td>{name}</td>(.*?)</tr>", page)
    assert found, name
    return re.findall(r"<td[^>]*>(.*?)</td>", found[1])


def test_the_stages_add_up_to_what_was_planned():
    shards = [shard("amr", n, state) for n, state in enumerate(("committed", "committed", "failed", "made", "waiting"))]
    page = render_build(facts("partly", [*shards, shard("metrics", 0, "left out")]))
    # shards, to make, committed, failed, left out, not made, rows, rejected, worker s, rows/s
    assert row(page, "amr") == ["200", "150", "2", "1", "–", "2", "300", "6", "15.0", "20"]
    assert row(page, "metrics") == ["200", "150", "–", "–", "1", "–", "–", "–", "–", "–"]
    assert "no &lt;graph&gt; &amp; nothing else" in page
    assert "no_graph 90; over the limit" in page
    assert row(page, "pairs") == ["800", "900", "+100"]
    assert "facetflow diff 3 4" in page


def test_rows_that_are_left_out_for_the_sake_of_evaluation_are_counted_and_are_over_no_limit():
    codes = {RejectCode.BAD_LABEL: 9, RejectCode.LEAKED: 300, RejectCode.JOINS_SPLITS: 200}
    page = render_build(facts("done", quality=[_quality_entry("ingest", 900, codes, 0.05)]))
    assert row(page, "ingest") == [
        "900",
        "9",
        "1.00%",
        "5.0%",
        "bad_label 9, leaked 300 (left out, not wrong), joins_splits 200 (left out, not wrong)",
    ]


def test_rows_that_are_left_out_by_design_are_told_with_the_reasons():
    ingest = {"rows": 900, "rejected": 9, "skipped": {"debatable": 102, "no <label>": 1000}}
    page = render_build(facts("done", ingest=ingest))
    assert "by design and not wrong, 1,102 left out: 102 debatable, 1,000 no &lt;label&gt;." in page
    assert "left out:" not in render_build(facts("done"))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("running", "still running when this was written, at 1 March 2026, 09:06 UTC"),
        ("failed", "Failed."),
        ("interrupted", "Interrupted."),
        ("killed", "Killed."),
    ],
)
def test_every_end_is_said_also_where_nothing_was_planned(state, said):
    page = render_build(facts(state, stages=[], quality=[], tables=[], recipes=[], wall={}, release=None))
    assert said in page
    assert "Shards over time" not in page
    assert "facetflow diff" not in page


def test_hundreds_of_shards_stay_bars_and_thousands_are_joined():
    def drawn(count):
        bars = [Bar("worker-0", "amr", float(n), n + 0.9, "made", f"shard {n}") for n in range(count)]
        return draw_timeline(bars, STAGES, float(count))

    assert drawn(400).count("<title>") == 400
    many = drawn(20_000)
    assert many.count("<title>") < 1000
    joined = [int(number) for number in re.findall(r"<title>(\d+) shards of amr", many)]
    assert sum(joined) + many.count("<title>shard ") == 20_000


def test_workers_are_in_the_order_of_their_numbers():
    bars = [Bar(f"worker-{n}", "amr", 0.0, 1.0, "made", "") for n in (10, 9, 0)]
    names = re.findall(r'class="name">(.*?)<', draw_timeline(bars, STAGES, 1.0))
    assert names == ["worker-0", "worker-9", "worker-10"]


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(browser, tmp_path):
    shards = [
        shard(stage, n, "failed" if n == 70 else "committed", begun=1000 + 7 * (n // 6), worker=f"tcp://10.0.0.{n % 6}")
        for stage in STAGES
        for n in range(150)
    ]
    shards[5]["attempts"].insert(0, {"worker": "", "begun": 1000.0, "heard": 1090.0, "outcome": "lost"})
    page = tmp_path / "build.html"
    page.write_text(render_build(facts("partly", json.loads(json.dumps(shards)))))
    assert browser.find_faults(page) == []
    assert browser.run("return document.querySelectorAll('.lane').length") == 7
    browser.show(page, width=380)
    ticks = (
        "return [...document.querySelectorAll('.ticks span')].map(e => e.getBoundingClientRect()).filter(e => e.width);"
    )
    assert all(one["right"] + 4 < other["left"] for one, other in pairwise(browser.run(ticks)))


def test_pairs_that_were_too_hard_to_align_are_told():
    assert "too hard" not in render_build(facts("done"))
    page = render_build(facts("done", unproven=2))
    assert "2 pairs too hard to align exactly: their values are lower bounds where <code>smatch_optimal</code>" in page


def test_nothing_of_a_build_becomes_a_tag_or_an_attribute():
    hostile = '<script>x</script>" onload="x'
    shards = [
        shard("amr", 0, "failed", worker=hostile, error=hostile),
        shard(hostile, 1, worker=hostile, why=hostile, shard=hostile),
    ]
    page = render_build(
        facts(
            "failed",
            shards,
            project=hostile,
            message=hostile,
            run_id=hostile,
            wall={hostile: 1.0, "total": 2.0},
            stages=[{"stage": hostile, "shards": 2, "planned": 1, "why": hostile}],
            quality=[{"stage": hostile, "rows": 9, "rejected": 9, "share": 1.0, "limit": 0.1, "codes": {hostile: 9}}],
            tables=[{"table": hostile, "before": 1, "now": 2}],
            recipes=[hostile],
        )
    )
    assert "<script" not in page
    assert '" onload' not in page
    assert page.count("&lt;script&gt;x&lt;/script&gt;") > 15
