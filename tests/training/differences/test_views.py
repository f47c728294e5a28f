"""What encoders see: trees, spans or nothing, drawn; what cannot be drawn is reported."""

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling

from features.core.errors import ModelError
from features.parsers.settings import SrlSettings
from training.differences.views import MOST_WORDS, View, view
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.parse import weights_of
from training.modules.parsing_transformer import ParsingTransformer
from training.modules.span_pooling import SpanPooling
from training.modules.spans import Spans
from training.modules.tagging_transformer import TaggingTransformer
from training.modules.trees import Trees

TEXT = "the cat sees a dog"


def tree(text):
    """Return a tree of a text: each word below the one before it."""
    words = text.split()
    starts = [len(" ".join(words[:place])) + (place > 0) for place in range(len(words))]
    heads = [max(0, place - 1) for place in range(len(words))]
    return {"tokens": words, "starts": starts, "heads": heads, "relations": ["ROOT", *["dep"] * (len(words) - 1)]}


@pytest.fixture
def saved(tiny_encoder, tmp_path):
    """Return what saves an encoder with trees as that of a run."""

    def save(*, labels=3, random_trees=None, **graph):
        torch.manual_seed(0)
        transformer = ParsingTransformer(
            str(tiny_encoder),
            parser="en_toy",
            parser_identity="spacy/en_toy-1.0",
            labels=["ROOT", "dep"],
            max_words=100,
            random_trees=random_trees,
        )
        modules = [transformer, Pooling(48), GraphPooling(48, labels=labels, width=8, **graph), NodeCombination(48, 8)]
        SentenceTransformer(modules=modules, device="cpu").save_pretrained(
            str(tmp_path / "encoder"), create_model_card=False
        )
        return tmp_path

    return save


def test_an_encoder_with_trees_draws_those_that_it_parses(saved, monkeypatch):
    monkeypatch.setattr(Trees, "parse_texts", lambda _, texts: [tree(text) for text in texts])
    long = " ".join(["word"] * (MOST_WORDS + 1))
    found = view(saved(), [TEXT, long, "word " * 101])
    assert (found.sees, found.parser, found.problem) == ("dependency trees of spacy/en_toy-1.0", "en_toy", "")
    assert found.drawings[TEXT].count('class="edge"') == 4
    assert view(saved(), []) == View(found.sees, {}, "en_toy")
    assert f"A tree of {MOST_WORDS + 1} words, too many to draw." in found.drawings[long]
    assert "No tree: the sentence has no word, or too many for the parser." in found.drawings["word " * 101]


def test_what_an_encoder_does_not_see_of_its_trees_is_said_and_random_trees_are_drawn(saved, monkeypatch):
    monkeypatch.setattr(Trees, "parse_texts", lambda _, texts: [tree(text) for text in texts])
    seen = view(saved(), [TEXT])
    drawn = view(saved(random_trees=3, labels=1, direction="down"), [TEXT])
    said = "random trees of spacy/en_toy-1.0, without labels, only edges from heads to dependents"
    assert drawn.sees == said
    assert drawn.drawings[TEXT] != seen.drawings[TEXT]
    assert view(saved(layers=0), [TEXT]).sees == "dependency trees of spacy/en_toy-1.0, their words without an edge"


def test_a_parser_that_is_missing_and_an_encoder_that_is_gone_are_said_in_a_sentence(saved, monkeypatch, tmp_path):
    def missing(*_):
        raise ModelError("the pipeline is not here.")

    monkeypatch.setattr(Trees, "parse_texts", missing)
    found = view(saved(), [TEXT])
    assert (found.drawings, found.parser, found.problem) == ({}, "en_toy", "the pipeline is not here.")
    gone = view(tmp_path / "nowhere", [TEXT])
    assert gone.drawings == {}
    assert "nowhere/encoder' cannot be loaded" in gone.problem


@pytest.mark.parametrize(
    ("choice", "sees"),
    [
        ({}, "predicate-argument spans"),
        ({"harmed": 0.25, "harm": "moved"}, "predicate-argument spans, 25% of them corrupted"),
        ({"drawn": "random"}, "random words as spans"),
        ({"drawn": "continuous"}, "random runs of words as spans"),
    ],
    ids=str,
)
def test_spans_are_drawn_with_the_weights_of_the_encoder(tiny_encoder, tmp_path, monkeypatch, choice, sees):
    def tagged(_, texts):
        spans = {"span_frames": [0, 0, 0], "span_labels": ["ARG0", "V", "ARG1"]}
        places = {"span_starts": [0, 2, 3], "span_ends": [2, 3, 5]}
        return [{"words": text.split(), "predicates": [2], **spans, **places} for text in texts]

    monkeypatch.setattr(Spans, "parse_texts", tagged)
    transformer = TaggingTransformer(
        str(tiny_encoder), tagger="embedded", tagger_weights=weights_of(SrlSettings()), roles=["ARG0", "ARG1"], **choice
    )
    modules = [transformer, Pooling(48), SpanPooling(48, 48, 3, weights="equal")]
    SentenceTransformer(modules=modules, device="cpu").save_pretrained(str(tmp_path / "encoder"))
    found = view(tmp_path, [TEXT])
    assert found.sees == f"{sees}; the larger their weights, the darker a word"
    assert ("ARG0 0.50" in found.drawings[TEXT]) is ("ARG1 0.50" in found.drawings[TEXT]) is ("drawn" not in choice)
    assert "0.50</span>" in found.drawings[TEXT]


def test_an_encoder_without_structure_sees_none(tiny_encoder):
    assert view(tiny_encoder.parent, [TEXT]) == View()
