"""Aspect encoders from Python: the route is chosen, and unknown aspects are refused."""

import json

import pytest
from sentences import refused

import facetflow
from features.core.faults import WrongRoute

WORDS = {"animal": ("cat", "dog"), "place": ("park", "house")}


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Return a function that writes an encoder that sees only some words, with routes or trained for one aspect."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, models, pre_tokenizers

    def sees(words):
        tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(("?", *words))}, unk_token="?"))  # noqa: S106  # a word
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        return modules.StaticEmbedding(tokenizer, embedding_weights=torch.eye(len(words) + 1))

    def write(*routes, learnt=()):
        folder = tmp_path_factory.mktemp("encoder")
        first = modules.Router({route: [sees(WORDS[route])] for route in routes}) if routes else sees(WORDS["animal"])
        SentenceTransformer(modules=[first], device="cpu").save_pretrained(str(folder), create_model_card=False)
        settings = {"kind": "aspect", "aspects": [*learnt]} if learnt else {}
        (folder / "training.json").write_text(json.dumps({"settings": settings}))
        return facetflow.load_encoder(folder, device="cpu")

    return write


@pytest.fixture(scope="module")
def routed(write):
    return write("animal", "place")


def test_an_encoder_with_routes_embeds_and_compares_by_the_one_that_is_asked_for(routed):
    there, home = "cat park", "cat house"
    assert routed.similarity(there, home, aspect="animal") == pytest.approx(1)
    assert routed.similarity(there, home, aspect="place") == pytest.approx(0.5)  # the animal is unknown there
    assert routed.similarity(there, [there, home], aspect="place") == pytest.approx([1, 0.5])
    assert (routed.encode(there, aspect="animal") == routed.encode([home, there], aspect="animal")).all()
    assert (routed.encode(home, aspect="place") != routed.encode(home, aspect="animal")).any()


@pytest.mark.parametrize("aspect", [None, "colour"])
def test_an_encoder_with_routes_needs_one_of_them(routed, aspect):
    for ask in (routed.encode, lambda text, **more: routed.similarity(text, "dog", **more)):
        for text in ("cat", []):
            with refused(WrongRoute):
                ask(text, aspect=aspect)
    with refused(WrongRoute):
        routed.for_mteb(aspect=aspect)


def test_an_encoder_without_routes_knows_the_aspect_that_it_was_trained_for_at_most(write):
    one, plain = write(learnt=["animal"]), write()
    assert one.similarity("cat park", "cat house", aspect="animal") == one.similarity("cat park", "cat house")
    for encoder in (one, plain):
        with refused(WrongRoute):
            encoder.encode("cat", aspect="place")
