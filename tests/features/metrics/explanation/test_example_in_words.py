"""Pairs of the example corpus in words: what each was written to differ in is named, and a facet sees what is named."""

from collections import Counter
from importlib.resources import files

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.graph_files.sentence_graphs import parsed_graphs
from features.graphs.penman_files import read_blocks
from features.metrics.explanation.comparing import REMARKS
from features.metrics.explanation.pair import explain_graphs
from features.metrics.explanation.words import SAME_TEXT, SAME_WORDS, describe

EXAMPLE = files("features.corpora.example")
MEANT = {
    "negation": {"negation"},
    "quantity": {"quantity"},
    "roles": {"role"},
    "names": {"name"},
    "coreference": {"coreference"},
    "modality": {"modality", "mood"},
    "modifier": {"word", "quantity"},
    "root": {"order"},
    "specificity": {"word", "quantity"},
    "frames": {"word"},
}
"""Contrast of the example corpus → aspects of which one has to be told. Paraphrases and tenses are below."""
CLAIMS = {"negation", "role", "name", "coreference", "mood", "modality"}
"""Aspects that a paraphrase or another tense does not differ in."""
NEEDED = 85


@pytest.fixture(scope="module")
def contrasts():
    return pl.read_csv((EXAMPLE / "pairs.tsv").read_bytes(), separator="\t", quote_char=None)


def sentences_of(contrasts):
    return list(zip(contrasts["sentence_a"], contrasts["sentence_b"], strict=True))


def by_hand():
    sides = [[block.graph for block in read_blocks(EXAMPLE / f"graphs_{side}.amr")] for side in "ab"]
    return explain_graphs(list(zip(*sides, strict=True)))


def count_right(contrasts, pairs):
    right = Counter()
    for difference, pair, sentences in zip(contrasts["difference"], pairs, sentences_of(contrasts), strict=True):
        aspects = {found.aspect for found in describe(pair, sentences).differences}
        right[difference] += bool(aspects & MEANT[difference]) if difference in MEANT else not aspects & CLAIMS
    return right


def assert_agrees(pair, sentences):
    words, scores = describe(pair, sentences), {facet.name: facet.score for facet in pair.facets}
    if words.sentence in {SAME_TEXT, SAME_WORDS}:
        assert scores["smatch"] == 1
    main = [found for found in words.differences if found.aspect not in REMARKS]
    assert len(main) < 2 or len(main) == len(words.differences), "nobody asks for remarks beside two differences"
    for found in words.differences:
        if found.facet is not None:
            unmatched = [i for f in pair.facets if f.name == found.facet for i in (*f.left, *f.right) if not i.matched]
            assert unmatched, found
            assert scores[found.facet] is None or scores[found.facet] < 1
        else:
            assert found.aspect in REMARKS or scores["smatch"] == 1


def test_what_a_pair_was_written_to_differ_in_is_named_on_the_example_by_hand(contrasts):
    right = count_right(contrasts, by_hand())
    assert right.total() >= NEEDED, right
    assert all(right[difference] for difference in MEANT)


def test_what_a_pair_was_written_to_differ_in_is_named_on_graphs_of_the_embedded_parser(contrasts):
    texts = sentences_of(contrasts)
    graphs, _ = parsed_graphs([text for pair in texts for text in pair])
    right = count_right(contrasts, explain_graphs([(graphs[a], graphs[b]) for a, b in texts]))
    assert right.total() >= NEEDED, right


def test_each_difference_of_the_example_names_a_facet_that_sees_it(contrasts):
    for pair, sentences in zip(by_hand(), sentences_of(contrasts), strict=True):
        assert_agrees(pair, sentences)


@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_sentences_of_any_graphs_can_be_described(data, graph_pairs):
    words = ["the", "dog", "cat", "not", "no", "two", "9:30", "Paris", "himself", "bit", "was", "by", "?", "can"]
    text = st.lists(st.sampled_from(words)).map(" ".join)
    for pair in explain_graphs(data.draw(graph_pairs)):
        assert_agrees(pair, (data.draw(text), data.draw(text)))
