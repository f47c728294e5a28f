import io

import pytest
from rich.console import Console

from flows.console.explanation_table import print_explanations
from flows.console.tables import print_tables
from training.encoders.s3bert.encoder_facts import EncoderFacts
from training.encoders.s3bert.explain import Explanation
from training.encoders.s3bert.facet_reading import FacetReading
from training.evaluation.tables import ScoreTable


def printed(*graphs):
    facets = (FacetReading("smatch", 0.5, 0.6, 0.25),)
    explanations = [Explanation(f"first {n}", f"second {n}", 0.5, None, facets) for n in range(len(graphs))]
    console = Console(file=io.StringIO(), width=80)
    print_explanations(explanations, EncoderFacts("s3bert/1", "s3bert/1/encoder"), graphs, console)
    return console.file.getvalue()


@pytest.mark.parametrize("pairs", [1, 3])
def test_what_columns_mean_and_where_graphs_come_from_is_said_once_below_all_pairs(pairs):
    text = printed(*["graphs of the store"] * pairs)

    assert text.count("second") == pairs
    for once in ("predicted   what", "encoder  s3bert/1", "graphs   graphs of the store"):
        assert text.count(once) == 1
        assert text.index(once) > text.rindex("second")


def test_where_graphs_come_from_is_said_of_each_pair_where_one_has_none():
    text = printed("graphs of the store", "this pair has none")

    assert text.index("graphs   graphs of the store") < text.index("first 1")
    assert text.index("first 1") < text.index("graphs   this pair has none")
    assert text.count("graphs   ") == 2


def test_control_characters_of_sentences_are_shown():
    explanation = Explanation("\x1b[2Ja", "\u202eb", 0.5, None, (), words="only \x07 differs")
    console = Console(file=io.StringIO(), width=80)
    print_explanations([explanation], EncoderFacts("s3bert/1", "s3bert/1/encoder"), ["graphs of the store"], console)
    text = console.file.getvalue()
    assert [part for part in ("a  \\u001b[2Ja", "b  \\u202eb", "only \\u0007 differs") if part not in text] == []


def test_control_characters_in_tables_are_shown(capsys):
    print_tables([ScoreTable("Scores", ("name", "score"), (("\x1b[2J", "1"),))])
    assert "\\u001b[2J" in capsys.readouterr().out
