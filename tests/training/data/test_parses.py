"""Trees of training sentences: found by their text, exported, identified, and read from a store."""

from dataclasses import replace

import polars as pl
import pytest
from sentences import refused

from features.core.faults import ReleaseLacks, SeveralParsers
from features.stages.stage import Recipe
from training.data.parses import Parses

PARSER = "spacy/en_core_web_md-3.8.0"
TEXTS = {"s1": "A man sleeps", "s2": "Men rest", "s3": "too long to be parsed"}
PARSING = Recipe("dependencies", {"max_words": 77})
TREES = {
    "s1": {"tokens": ["A", "man", "sleeps"], "starts": [0, 2, 6], "heads": [1, 2, 2]}
    | {"relations": ["det", "nsubj", "ROOT"]},
    "s2": {"tokens": ["Men", "rest"], "starts": [0, 4], "heads": [1, 1], "relations": ["nsubj", "ROOT"]},
}


@pytest.fixture
def parses():
    rows = [{"text": TEXTS[name], **tree} for name, tree in TREES.items()]
    return Parses(pl.DataFrame(rows).sort("text"), PARSER, 512)


def rows_of(parser):
    words = {"lemmas": [], "tags": []}
    return [
        {"sentence_id": name, "parser": parser if name == "s1" else PARSER, **tree, **words}
        for name, tree in TREES.items()
    ]


def test_a_sentence_finds_its_tree_and_one_that_was_rejected_none(parses):
    assert parses.find([TEXTS["s2"], TEXTS["s3"], TEXTS["s1"], TEXTS["s2"]]) == [
        TREES["s2"], None, TREES["s1"], TREES["s2"],
    ]  # fmt: skip
    assert parses.pipeline == "en_core_web_md"


def test_an_export_is_read_as_it_was_for_the_sentences_that_are_asked_for(parses, tmp_path):
    parses.export(tmp_path / "parses.parquet")
    assert Parses.from_file(tmp_path / "parses.parquet", list(TEXTS.values())).digest() == parses.digest()
    assert len(Parses.from_file(tmp_path / "parses.parquet", [TEXTS["s2"]])) == 1


def test_the_digest_changes_with_any_head_and_with_the_parser(parses):
    moved = parses.table.with_columns(heads=pl.Series([[1, 2, 1], [1, 1]]))
    others = [replace(parses, table=moved), replace(parses, parser=f"{PARSER}1"), replace(parses, max_words=1)]
    assert len({one.digest() for one in (parses, *others)}) == 4


def test_trees_of_a_release_are_those_of_its_table(make_parsed_store, tmp_path):
    store = make_parsed_store(tmp_path, PARSING, rows_of(PARSER))
    found = Parses.from_store(store.location, list(TEXTS.values()))
    assert (found.parser, found.max_words) == (PARSER, 77)
    assert found.find(list(TEXTS.values())) == [TREES["s1"], TREES["s2"], None]
    with refused(ReleaseLacks):
        Parses.from_store(store.location, [TEXTS["s3"]])


def test_a_release_without_trees_or_with_those_of_two_parsers_is_refused(make_parsed_store, tmp_path):
    without = make_parsed_store(tmp_path / "without", PARSING)
    mixed = make_parsed_store(tmp_path / "mixed", PARSING, rows_of("spacy/other-1.0.0"))
    with refused(ReleaseLacks):
        Parses.from_store(without.location, [TEXTS["s1"]])
    with refused(SeveralParsers):
        Parses.from_store(mixed.location, list(TEXTS.values()))


def test_the_digest_of_the_parser_is_that_of_the_recipe_and_empty_where_nobody_says_it(make_parsed_store, tmp_path):
    for number, (weights, said) in enumerate((("ab12", "ab12"), (None, ""))):
        recipe = Recipe("dependencies", {"max_words": 77}, "1", weights)
        store = make_parsed_store(tmp_path / str(number), recipe, rows_of(PARSER))
        parses = Parses.from_store(store.location, None)
        assert parses.weights == Parses.from_store(store.location, None, release=1).weights == said
        parses.export(tmp_path / "parses.parquet")
        assert Parses.from_file(tmp_path / "parses.parquet", None).weights == ""
