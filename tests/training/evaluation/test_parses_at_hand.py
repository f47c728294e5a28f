"""An encoder gets the trees of a release, or of an encoder before it, only if its own parser made them."""

from types import SimpleNamespace
from weakref import ref

import numpy as np
import polars as pl
import pytest
from sentence_transformers import SentenceTransformer
from sentences import refused

from features.core.faults import EncoderDamaged
from training.data.parses import Parses
from training.evaluation.models import Embedder, ParseCaches, Shared, reuse_parses
from training.modules.parsing_transformer import ParsingTransformer
from training.modules.trees import Trees

PARSER = "spacy/en_toy-1.0"
TREE = {"tokens": ["two", "cats"], "starts": [0, 4], "heads": [1, 1], "relations": ["num", "ROOT"]}


@pytest.mark.parametrize(
    ("parser", "of_release", "of_encoder", "reused"),
    [
        (PARSER, "a1", "a1", True),
        (PARSER, "a1", "b2", False),
        (PARSER, "", "b2", True),
        (PARSER, "a1", "", True),
        ("spacy/en_toy-2.0", "a1", "a1", False),
    ],
    ids=["the same", "other weights", "a release without digest", "an encoder without digest", "another version"],
)
def test_trees_are_reused_where_name_and_weights_are_the_same(
    tiny_encoder, monkeypatch, parser, of_release, of_encoder, reused
):
    parsed = []
    monkeypatch.setattr(Trees, "parse_texts", lambda _, texts: parsed.extend(texts) or [TREE] * len(texts))
    trees = Parses(pl.DataFrame([{"text": "two cats", **TREE}]), parser, 512, of_release)
    source = SimpleNamespace(read_parses=lambda _, texts: trees)
    transformer = ParsingTransformer(
        str(tiny_encoder), parser="nobody", parser_identity=PARSER, parser_weights=of_encoder, labels=["num"]
    )
    encoder = SentenceTransformer(modules=[transformer], device="cpu")
    reuse_parses(encoder, source, ParseCaches())
    assert transformer.structure.trees([" two  cats", "?"]) == [TREE, TREE]
    assert parsed == (["?"] if reused else ["two cats", "?"])


def test_encoders_with_the_same_parser_parse_a_sentence_once(tiny_encoder, monkeypatch):
    parsed, found = [], ParseCaches()

    def parse(self, texts):
        parsed.append((self.max_words, *texts))
        return [TREE if text == "two cats" else None for text in texts]

    monkeypatch.setattr(Trees, "parse_texts", parse)
    known = []
    for max_words in (512, 512, 9):
        transformer = ParsingTransformer(
            str(tiny_encoder), parser="nobody", parser_identity=PARSER, labels=["num"], max_words=max_words
        )
        encoder = SentenceTransformer(modules=[transformer], device="cpu")
        reuse_parses(encoder, None, found)
        known.append(transformer.structure.trees([" two  cats", "?"]))
    assert parsed == [(512, "two cats", "?"), (9, "two cats", "?")]
    assert known == [[TREE, None]] * 3


def test_an_encoder_without_a_parser_reuses_none(tiny_encoder):
    reuse_parses(SentenceTransformer(str(tiny_encoder), device="cpu"), None, ParseCaches())


def test_models_of_an_encoder_are_gone_when_those_of_the_next_are_loaded(tiny_encoder, tmp_path):
    shared, other = Shared(), tmp_path / "other"
    other.symlink_to(tiny_encoder)
    last = shared.models(tiny_encoder, None, tiny_encoder)
    weights = [ref(embedder.model[0].model) for embedder in (last.encoder, last.start)]
    del last
    shared.models(tiny_encoder, None, other)
    assert [each() for each in weights] == [None, None]


def test_embeddings_that_are_not_finite_are_not_scored(tiny_encoder, monkeypatch):
    embed = Embedder(tiny_encoder, "the encoder")
    monkeypatch.setattr(embed.model, "encode", lambda texts, **_: np.full((len(texts), 2), np.nan, np.float32))
    with refused(EncoderDamaged):
        embed(["a cat"])
