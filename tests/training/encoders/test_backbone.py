"""The cut backbone: frozen below, trained above, and the same vectors whichever way it computes them."""

import errno
import os
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentences import refused

from features.core.faults import ModelUnfit, WrongValue
from training.encoders import backbone as backbone_module
from training.encoders.aspect.settings import AspectSettings
from training.encoders.backbone import Backbone, ends_of_pieces

TEXTS = ["the cat sleeps", "a dog", "two red horse runs in the park", "no man sees three woman in a small house the"]


@pytest.fixture
def backbone(tiny_encoder):
    return make(tiny_encoder)


def make(folder, *, layers=2, cache_gib=1.0, disk_gib=0.0, precision=torch.float32, dropout=True):
    model = SentenceTransformer(str(folder), device="cpu")
    settings = AspectSettings(layers_tuned=layers, dropout=dropout, cache_gib=cache_gib, disk_gib=disk_gib)
    return Backbone(model, settings, precision)


def test_only_the_last_layers_learn(backbone):
    names = backbone.tuned_parameters()
    assert names
    assert all(name.startswith(("encoder.layer.1.", "encoder.layer.2.")) for name in names)
    tokens = backbone.tokenize(TEXTS)
    backbone.embed(tokens, np.arange(4)).sum().backward()
    for name, parameter in backbone.transformer.named_parameters():
        assert (parameter.grad is not None) == (name in names)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_embeddings_are_those_of_the_plain_encoder(tiny_encoder, kept, layers):
    backbone = make(tiny_encoder, layers=layers, cache_gib=1.0 if kept else 0.0)
    tokens = backbone.tokenize(TEXTS)
    assert backbone.keep_states(tokens) == (kept and layers < 3)  # with all layers tuned there is nothing to keep
    expected = SentenceTransformer(str(tiny_encoder), device="cpu").encode(TEXTS)
    order = np.array([2, 0, 3, 1])
    np.testing.assert_allclose(backbone.embed(tokens, order).detach().cpu().numpy(), expected[order], atol=1e-5)
    np.testing.assert_allclose(backbone.embed_many(tokens, np.arange(4)), expected, atol=1e-5)


def test_words_that_a_model_puts_before_each_sentence_are_learnt_with_too(backbone):
    backbone.model.prompts, backbone.model.default_prompt_name = {"own": "the house: "}, "own"
    tokens = backbone.tokenize(TEXTS)
    np.testing.assert_allclose(backbone.embed_many(tokens, np.arange(4)), backbone.model.encode(TEXTS), atol=1e-5)


def test_states_are_those_of_some_sentences_only(backbone, tiny_encoder):
    tokens = backbone.tokenize(TEXTS)
    some = tokens.only(np.array([3, 0]))
    assert some.lengths.tolist() == [tokens.lengths[0], 0, 0, tokens.lengths[3]]
    assert backbone.keep_states(some)
    assert len(backbone.states) == tokens.lengths[[0, 3]].sum()
    expected = SentenceTransformer(str(tiny_encoder), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(backbone.embed_many(some, np.array([3, 0])), expected[[3, 0]], atol=1e-5)
    assert tokens.only(np.arange(4)).digest() == tokens.digest()


def test_states_are_kept_where_they_fit_only(backbone, tiny_encoder):
    tokens = backbone.tokenize(TEXTS)
    size = len(tokens.ids) * 48 * 4 / 2**30
    assert not make(tiny_encoder, cache_gib=size * 0.99).keep_states(tokens)
    assert make(tiny_encoder, cache_gib=size * 1.01).keep_states(tokens)


def test_kept_states_change_no_gradient(tiny_encoder):
    gradients = []
    for cache_gib in (0.0, 1.0):
        backbone = make(tiny_encoder, cache_gib=cache_gib)
        tokens = backbone.tokenize(TEXTS)
        backbone.keep_states(tokens)
        backbone.embed(tokens, np.arange(4))[:, :5].sum().backward()
        gradients.append([p.grad.clone() for p in backbone.tuned_parameters().values()])
    for plain, kept in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, kept, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("words", [8, 60])
def test_both_ways_to_compute_attention_give_the_same_embeddings_and_gradients(
    tiny_encoder, precision, words, monkeypatch
):
    texts = [" ".join(TEXTS[0].split()[place % 3] for place in range(start, start + words)) for start in range(3)]
    found = []
    for fused_from in (0, 10_000):
        monkeypatch.setitem(backbone_module._FUSED_FROM, precision, fused_from)
        backbone = make(tiny_encoder, precision=precision, dropout=False)
        tokens = backbone.tokenize([*texts, "a dog"])
        embeddings = backbone.embed(tokens, np.arange(4))
        embeddings[:, 0].sum().backward()
        gradients = torch.cat([parameter.grad.flatten() for parameter in backbone.tuned_parameters().values()])
        found.append((embeddings.detach(), gradients))
    atol = 1e-6 if precision == torch.float32 else 2e-2
    torch.testing.assert_close(*(embeddings for embeddings, _ in found), atol=atol, rtol=0)
    one, other = (gradients for _, gradients in found)
    assert torch.nn.functional.cosine_similarity(one, other, dim=0) > (0.99999 if precision == torch.float32 else 0.98)
    assert (one != other).any() or precision == torch.float32  # they were computed in two ways


def test_many_sentences_are_cut_into_pieces_and_come_back_in_order(backbone):
    random = np.random.default_rng(0)
    texts = [
        " ".join(random.choice(["cat", "dog", "the", "a", "red", "runs"], size=int(n)))
        for n in random.integers(1, 20, 90)
    ]
    tokens = backbone.tokenize(texts)
    expected = backbone.model.encode(texts)
    np.testing.assert_allclose(backbone.embed(tokens, np.arange(90)).detach().cpu().numpy(), expected, atol=1e-5)


@given(
    lengths=st.lists(st.integers(0, 60), max_size=80), padding=st.integers(0, 200), tokens=st.sampled_from([1, 90, 900])
)
def test_a_piece_is_within_its_limits_and_could_not_be_longer(lengths, padding, tokens):
    lengths.sort(reverse=True)
    starts = [0, *ends_of_pieces(lengths, padding, tokens)]

    def fits(start, end):
        size = (end - start) * lengths[start]
        return size - sum(lengths[start:end]) <= padding and (size <= tokens or end - start == 1)

    assert starts == sorted(set(starts))
    for start, end in pairwise([*starts, len(lengths)] if lengths else starts):
        assert fits(start, end)
        assert end == len(lengths) or not fits(start, end + 1)


def test_the_frozen_part_has_no_dropout_and_the_tuned_part_as_wanted(tiny_encoder):
    for dropout in (True, False):
        backbone = make(tiny_encoder, layers=1, dropout=dropout)
        backbone.train()
        training = {name for name, module in backbone.transformer.named_modules() if module.training}
        assert bool(training) == dropout
        assert all(name.startswith("encoder.layer.2") for name in training)
        backbone.eval()
        assert not any(module.training for module in backbone.transformer.modules())


def test_dropout_of_the_states_leaves_that_of_the_attention_weights_out(tiny_encoder, monkeypatch):
    drawn = {}
    for dropout in (True, "states", False):
        backbone = make(tiny_encoder, layers=1, dropout=dropout)
        tokens = backbone.tokenize(TEXTS)
        shapes = drawn.setdefault(dropout, [])
        real = torch.nn.functional.dropout

        def watched(given, p=0.5, training=True, inplace=False, shapes=shapes, real=real):
            shapes.extend([given.dim()] if training and p else [])
            return real(given, p, training, inplace)

        def attention(*given, real=torch.nn.functional.scaled_dot_product_attention, shapes=shapes, **named):
            shapes.extend([4] if named.get("dropout_p") else [])
            return real(*given, **named)

        with monkeypatch.context() as patched:
            patched.setattr(torch.nn.functional, "dropout", watched)
            patched.setattr(torch.nn.functional, "scaled_dot_product_attention", attention)
            backbone.train()
            backbone.embed(tokens, np.arange(4))
    # Attention weights have four dimensions, states three.
    assert drawn == {True: [4, 3, 3], "states": [3, 3], False: []}


def test_attention_that_is_not_found_keeps_its_dropout_and_is_told(tiny_encoder, monkeypatch, caplog):
    monkeypatch.setattr(backbone_module, "find_attention", lambda _: [])
    backbone = make(tiny_encoder, dropout="states")
    assert "no attention module found in a BertLayer, so the attention weights keep their dropout" in caplog.text
    backbone.train()
    assert all(module.training for module in backbone.tuned.modules())


def test_long_sentences_are_cut(backbone):
    assert backbone.tokenize(["cat " * 100]).lengths.tolist() == [32]
    backbone.model.max_seq_length = 10
    assert backbone.tokenize(["cat " * 100, "dog"]).lengths.tolist() == [10, 3]


def test_bfloat16_is_near_float32(tiny_encoder):
    exact, rough = make(tiny_encoder), make(tiny_encoder, precision=torch.bfloat16)
    tokens = exact.tokenize(TEXTS)
    rough.keep_states(tokens)
    left, right = exact.embed_many(tokens, np.arange(4)), rough.embed_many(tokens, np.arange(4))
    assert right.dtype == np.float32
    assert ((left * right).sum(axis=1) > 0.999).all()


def test_more_layers_than_there_are_is_an_error(tiny_encoder):
    with refused(WrongValue):
        make(tiny_encoder, layers=4)


def test_a_model_without_layers_is_an_error(backbone):
    backbone.transformer.config.num_hidden_layers = 7
    with refused(ModelUnfit):
        Backbone(backbone.model, backbone.settings, torch.float32)


def test_states_that_do_not_fit_into_memory_are_kept_in_a_file(tiny_encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for precision in (torch.float32, torch.bfloat16):
        inside, beside = (
            make(tiny_encoder, precision=precision, cache_gib=gib, disk_gib=1.0 - gib) for gib in (1.0, 0.0)
        )
        tokens = inside.tokenize(TEXTS)
        assert inside.keep_states(tokens) == beside.keep_states(tokens) is True
        assert torch.equal(inside.states, beside.states)
        everything = np.arange(4)
        assert torch.equal(inside.embed(tokens, everything), beside.embed(tokens, everything))
    assert not [*tmp_path.iterdir()]  # nothing is left of it, whatever ends the process


def test_a_disk_without_room_is_told_and_the_states_are_computed_again(tiny_encoder, monkeypatch, caplog):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.posix_fallocate", full)
    backbone = make(tiny_encoder, cache_gib=0.0, disk_gib=1.0)
    assert not backbone.keep_states(backbone.tokenize(TEXTS))
    assert "recomputed in every step" in caplog.text


def test_all_layers_are_the_embeddings_too_and_no_pooler(tiny_encoder):
    backbone = make(tiny_encoder, layers="all")
    names = backbone.tuned_parameters()
    frozen = {name for name, _ in backbone.transformer.named_parameters()} - set(names)
    assert "embeddings.word_embeddings.weight" in names
    assert frozen == {"pooler.dense.weight", "pooler.dense.bias"}
    tokens = backbone.tokenize(TEXTS)
    assert not backbone.keep_states(tokens)
    backbone.train()
    backbone.embed(tokens, np.arange(4)).sum().backward()
    assert all(parameter.grad is not None for parameter in names.values())
    backbone.eval()
    expected = SentenceTransformer(str(tiny_encoder), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(backbone.embed_many(tokens, np.arange(4)), expected, atol=1e-5)
