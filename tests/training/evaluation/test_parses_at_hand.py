"""An encoder gets the trees of a release only if its own parser made them."""

from types import SimpleNamespace

import polars as pl
import pytest
from sentence_transformers import SentenceTransformer

from training.data.parses import Parses
from training.evaluation.parses_at_hand import parses_at_hand
from training.modules.parsing_transformer import ParsingTransformer

PARSER = "spacy/en_toy-1.0"
TREE = {"tokens": ["two", "cats"], "starts": [0, 4], "heads": [1, 1], "relations": ["num", "ROOT"]}


@pytest.mark.parametrize(
    ("parser", "of_release", "of_encoder", "told"),
    [
        (PARSER, "a1", "a1", True),
        (PARSER, "a1", "b2", False),
        (PARSER, "", "b2", True),
        (PARSER, "a1", "", True),
        ("spacy/en_toy-2.0", "a1", "a1", False),
    ],
    ids=["the same", "other weights", "a release without digest", "an encoder without digest", "another version"],
)
def test_trees_are_told_where_name_and_weights_are_the_same(tiny_encoder, parser, of_release, of_encoder, told):
    source = SimpleNamespace(
        read_parses=lambda texts: Parses(pl.DataFrame([{"text": "two cats", **TREE}]), parser, 512),
        tree_weights=lambda: of_release,
    )
    transformer = ParsingTransformer(
        str(tiny_encoder), parser="nobody", parser_identity=PARSER, parser_weights=of_encoder, labels=["num"]
    )
    parses_at_hand(source, SentenceTransformer(modules=[transformer], device="cpu"))(["two cats"])
    assert ("two cats" in transformer._parses) is told
