import io
import re

import pytest
from rich.console import Console

from flows.console.explaining import Explained
from flows.console.explanation_table import print_explanations
from flows.console.tables import print_tables
from training.encoders.s3bert.explain import EncoderFacts, Explanation
from training.encoders.s3bert.facet_reading import FacetReading
from training.evaluation.tables import ScoreTable


def printed(*graphs, width=80):
    facets = (FacetReading("smatch", 0.5, 0.6, 0.25),)
    explanations = [Explanation(f"first {n}", f"second {n}", 0.5, None, facets) for n in range(len(graphs))]
    explained = [Explained(each, None, origin) for each, origin in zip(explanations, graphs, strict=True)]
    console = Console(file=io.StringIO(), width=width)
    print_explanations(explained, EncoderFacts("s3bert/1", "s3bert/1/encoder"), console)
    return console.file.getvalue()


def test_a_narrow_terminal_cuts_no_number():
    assert "predicted similarity" in printed("the store", width=30)
    assert re.search(r"smatch +– +0\.60 +0\.50", printed("the store", width=30))


@pytest.mark.parametrize("pairs", [1, 3])
def test_what_columns_mean_and_where_graphs_come_from_is_said_once_below_all_pairs(pairs):
    text = printed(*["the store"] * pairs)

    assert text.count("second") == pairs
    for once in ("predicted   what", "encoder  s3bert/1", "graphs   the store"):
        assert text.count(once) == 1
        assert text.index(once) > text.rindex("second")


def test_where_graphs_come_from_is_said_of_each_pair_where_one_has_none():
    text = printed("the store", "this pair has none")

    assert text.index("graphs   the store") < text.index("first 1")
    assert text.index("first 1") < text.index("graphs   this pair has none")
    assert text.count("graphs   ") == 2


def test_control_characters_of_sentences_are_shown():
    explanation = Explanation("\x1b[2Ja", "\u202eb", 0.5, None, (), words="only \x07 differs")
    console = Console(file=io.StringIO(), width=80)
    explained = Explained(explanation, None, "the store")
    print_explanations([explained], EncoderFacts("s3bert/1", "s3bert/1/encoder"), console)
    text = console.file.getvalue()
    assert [part for part in ("a  \\u001b[2Ja", "b  \\u202eb", "only \\u0007 differs") if part not in text] == []


@pytest.mark.parametrize("spearman", [0.1, 0.9])
def test_control_characters_of_an_encoder_and_of_the_names_of_files_are_shown(spearman):
    facets = (FacetReading("\x1b[2Jf", 0.5, 0.6, 0.25, spearman),)
    console = Console(file=io.StringIO(), width=80)
    explained = Explained(Explanation("a", "b", 0.5, None, facets), None, "graphs of \x1b[3J.amr")
    print_explanations([explained], EncoderFacts("\x1b[4J", "s3bert/1/encoder"), console)
    assert "\x1b" not in console.file.getvalue()


def test_control_characters_in_tables_are_shown(capsys):
    print_tables([ScoreTable("\x1b[0J", ("\x1b[1J", "\x1b[2J"), (("\x1b[3J", "1"),), "\x1b[4J")])
    shown = capsys.readouterr().out
    assert [part for part in (f"\\u001b[{number}J" for number in range(5)) if part not in shown] == []


def test_facets_that_rank_dev_pairs_poorly_are_folded_into_one_line_and_the_rest_say_what_they_compare():
    facets = (
        FacetReading("named_entities", 0.5, 0.6, 0.25, 0.4, measured=1.0, blind=True),
        FacetReading("max_degree", 0.5, 0.6, 0.25, 0.19, measured=0.3),
        FacetReading("max_indegree", 0.5, 0.6, 0.25, -0.1, measured=1.0, vacuous=True),
        FacetReading("root", 0.5, 0.6, 0.25, None),
    )
    told = {}
    for unfold in (False, True):
        console = Console(file=io.StringIO(), width=80)
        explained = [Explained(Explanation("first", "second", 0.5, None, facets), None, "x")]
        print_explanations(explained, EncoderFacts("s3bert/1", "s3bert/1"), console, unfold=unfold)
        told[unfold] = console.file.getvalue()
    assert "ρ below 0.2, folded (--verbose): max_degree 0.30, max_indegree (1.00)" in told[False]
    assert not re.search(r"^ *max_degree", told[False], re.MULTILINE)
    assert re.search(r"^ *max_degree +0\.30 ", told[True], re.MULTILINE)
    assert "folded" not in told[True]
    assert re.search(r"^ *named_entities +1\.00 .* blind", told[False], re.MULTILINE)
    assert re.search(r"^ *root +– ", told[False], re.MULTILINE), "what is not known is not poor"
    assert "named_entities  kinds of names, not the names" in told[False]
    console = Console(file=io.StringIO(), width=80)
    folded = Explained(Explanation("first", "second", 0.5, None, facets[1:3]), None, "x")
    print_explanations([folded], EncoderFacts("s3bert/1", "s3bert/1"), console)
    assert "what the metrics compare" not in console.file.getvalue(), "nothing would follow"
