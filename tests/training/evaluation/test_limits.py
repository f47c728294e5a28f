"""What the numbers of an evaluation do and do not show, in its words, tables and bars."""

import re

import pytest

from flows.console.tables import print_tables
from training.evaluation.bars import Bar, Mark, draw_bars, tell_verdict
from training.evaluation.facets.suite import chart_facets, warn_of_few_pairs
from training.evaluation.ratings import RatingSuite
from training.evaluation.suites import score_tables
from training.evaluation.tables import ScoreTable, as_frame, fit


def score(name, encoder, half, *, lead=0.0):
    """Return a row of metrics.json whose intervals reach so far to each side."""
    verdict = "above" if lead - half > 0 else "below" if lead + half < 0 else "unclear"
    difference = {"low": lead - half, "high": lead + half, "verdict": verdict}
    return {
        "name": name,
        "about": f"Is {name} the same?",
        "encoder": encoder,
        **dict.fromkeys(("full", "random", "assigned", "bundled"), encoder - lead),
        "agreeing": 0.5,
        "encoder_interval": {"low": encoder - half, "high": encoder + half},
        "differences": dict.fromkeys(("full", "random", "assigned", "bundled"), difference),
    }


def evaluation(rows, pairs, ratings=()):
    verdicts = [row["differences"]["full"]["verdict"] for row in rows]
    counts = {verdict: verdicts.count(verdict) for verdict in ("above", "below", "unclear")}
    facets = {"split": "dev", "corpora": ["mine"], "pairs": pairs, "fitting_pairs": 0, "width": 16, "draws": 10}
    facets |= {"rows": rows, "verdicts": dict.fromkeys(("full", "random", "assigned", "bundled"), counts)}
    facets |= {"seen": None, "others": {}}
    found = {"facets": facets}
    if ratings:
        predicted = {"negations": 0.1, "residual": 0.6}
        found["ratings"] = {"rows": list(ratings), "mean": None, "chosen_by": []}
        rows = [
            {"name": f"{facet} on {each['name']}", "facet": facet, "set": each["name"], "encoder": value}
            for each in ratings
            for facet, value in predicted.items()
        ]
        found["predictors"] = {"about": {}, "sets": {each["name"]: 400 for each in ratings}, "rows": rows}
    return {"suites": found}


def rating(name, encoder=0.8, start=0.7):
    ends = {"low": encoder - 0.05, "high": encoder + 0.05}
    return {
        "name": name,
        "pairs": 400,
        "encoder": encoder,
        "start": start,
        "encoder_interval": ends,
        "start_interval": None,
        "difference": {"low": 0.01, "high": 0.2, "verdict": "above"},
    }


def test_few_pairs_are_warned_of_with_what_may_be_chance_and_what_it_takes():
    few = evaluation([score("negations", 0.1, 0.3), score("srl", 0.2, 0.2), score("root", 0.2, 0.4)], 12)
    warning = warn_of_few_pairs(few["suites"]["facets"])
    assert "12 dev pairs are few" in warning
    assert "by less than 30 may do so by chance" in warning
    assert "detecting differences of 5 takes about 400 pairs" in warning  # 12 · (30 / 5)²
    assert score_tables(few)[0].note.startswith(warning)


def test_it_is_the_intervals_that_decide_not_the_number_of_pairs():
    assert warn_of_few_pairs(evaluation([score("srl", 0.2, 0.09)], 12)["suites"]["facets"]) == ""
    assert warn_of_few_pairs(evaluation([score("srl", 0.2, 0.3)], 5000)["suites"]["facets"]) != ""
    row = score("srl", 0.2, 0.3) | {"differences": dict.fromkeys(("full", "random", "assigned", "bundled"))}
    nothing = evaluation([score("srl", 0.2, 0.3)], 2)["suites"]["facets"] | {"rows": [row]}
    assert "2 dev pairs are too few, or differ too little, for any interval" in warn_of_few_pairs(nothing)
    single = nothing | {"pairs": 1}
    assert "The 1 dev pair is too few for any interval" in warn_of_few_pairs(single)
    assert "1 positive pair of dev" in score_tables({"suites": {"facets": single}})[0].title


def test_a_facet_is_above_its_baseline_only_where_the_paired_interval_says_so():
    rows = [score("a", 0.5, 0.1, lead=0.2), score("b", 0.5, 0.3, lead=0.2), score("c", 0.5, 0.1, lead=-0.2)]
    table = score_tables(evaluation(rows, 100))[0]
    assert [row[-1] for row in table.rows] == ["above", "unclear", "below"]
    assert "Against SB-full: 1 above, 1 below, 1 unclear." in table.note
    assert tell_verdict(None) == "unclear"


def test_a_bar_whose_interval_holds_0_is_not_filled():
    drawn = draw_bars(
        [Bar("sure", "", 50.0, (20.0, 80.0)), Bar("unsure", "", 10.0, (-20.0, 40.0)), Bar("unknown", "", None, None)],
        of="this encoder",
        axis="Spearman × 100",
    )
    rows = drawn.split('<div class="row">')[1:]
    assert ['class="value sure"' in row for row in rows] == [True, False, False]
    assert ['class="value"' in row for row in rows] == [False, True, False]
    assert 'aria-label="unsure 10.0, interval −20.0 to 40.0"' in rows[1]
    assert "–</span>" in rows[2]


@pytest.mark.parametrize("rounding", [0.0, 1e-16])
def test_a_score_that_no_draw_changes_has_no_interval(rounding):
    """All right: how many of others would be right is not known to a draw of these."""
    rows = [score("srl", 0.5, rounding)]
    table = score_tables(evaluation(rows, 72))[0]
    assert table.rows[0][table.columns.index("95 %")] == "–"
    assert "interval" not in re.findall(r'aria-label="(srl[^"]*)"', chart_facets(rows))[0]


def test_every_mark_lies_on_the_axis():
    marks = (Mark("low", "circle"), Mark("high", "square"))
    drawn = draw_bars([Bar("a", "", 5.0, (-99.0, 7.0), {"low": -100.0, "high": 100.0})], marks, of="x", axis="y")
    places = [float(place) for place in re.findall(r'\b(?:x|x1|x2)="(-?[\d.]+)%"', drawn)]
    assert len(places) > 10
    assert all(0 <= place <= 100 for place in places)


def test_human_ratings_are_drawn_with_intervals_and_the_start_model(tmp_path):
    rows = [rating("sts"), rating("<b>sick</b>", 0.1) | {"encoder": None, "start": None}]
    result = {"rows": rows, "mean": None, "chosen_by": []}
    assert "(<b>sick</b>)" in RatingSuite.tables(result)[0].note, "why there is no number"
    assert not RatingSuite.tables(result | {"rows": rows[:1]})[0].note
    drawn = RatingSuite.chapter(result, tmp_path).charts[""]
    assert "sts 80.0, interval 75.0 to 85.0, start model 70.0" in drawn
    assert "<b>sick" not in drawn
    rows = evaluation([score("srl", 0.2, 0.3)], 9)["suites"]["facets"]["rows"]
    assert chart_facets(rows).count("SB-full: the whole start") == 2


@pytest.mark.parametrize("sets", [1, 9])
def test_tables_fit_80_columns_and_nothing_is_swallowed(sets, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"ratings-of-a-long-name-{n}" for n in range(sets)]
    rows = [score("negations", -0.512, 0.3), score("a_metric_of_the_project_with_a_very_long_name", 0.2, 0.3)]
    print_tables(score_tables(evaluation(rows, 12, [rating(name) for name in names])))
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    assert "…" not in said
    together = "".join(line.strip() for line in said.splitlines())
    assert all(name in together for name in names)
    assert "-81.2 to -21.2" in said
    assert "12 dev pairs are few" in said


def test_a_name_in_brackets_is_no_markup(capsys):
    print_tables(score_tables(evaluation([score("[b]x[/b]", 0.2, 0.3)], 12)))
    assert "[b]x[/b]" in capsys.readouterr().out


def test_a_wide_table_becomes_several_that_hold_every_column_once():
    table = ScoreTable("title", ("facet", *"abcdefgh"), (("x", *("1" * 20 for _ in range(8))),), "note")
    parts = fit(table, 80)
    assert [column for part in parts for column in part.columns[1:]] == list("abcdefgh")
    assert [part.note for part in parts] == ["", "", "note"]
    assert fit(table, 400) == [table]


def test_a_name_in_a_nearly_full_table_is_printed_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    print_tables([ScoreTable("title", ("corpus", "a" * 34, "b" * 36), (("mine", "1", "2"),))])
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "mine" in line]
    assert rows == [["mine", "1"], ["mine", "2"]]  # two tables: between columns there are two blanks


def test_a_title_longer_than_its_table_stays_on_one_line(capsys):
    print_tables([ScoreTable("a title of some words", ("facet", "n"), (("srl", "1"),))])
    assert capsys.readouterr().out.startswith("a title of some words\n")


def test_tables_are_exported_with_every_number_as_it_was_scored():
    rows = [score("negations", -0.51234, 0.3), score("srl", 0.2, 0.3) | {"encoder": None}]
    frame = as_frame(score_tables(evaluation(rows, 12, [rating("sts")])))
    numbers = {(row, column): ends for _, row, column, *ends in frame.rows()}
    assert numbers["negations", "encoder"] == [-0.51234, None, None]
    assert numbers["negations", "95 %"] == [None, -0.51234 - 0.3, -0.51234 + 0.3]
    assert ("srl", "encoder") not in numbers
    assert numbers["sts", "pairs"] == [400.0, None, None]
    assert numbers["sts", "start model"] == [0.7, None, None]
    assert not frame["table"].str.contains("× 100", literal=True).any()
