"""Words that make sentences similar: the shares of their pairs sum to the cosine."""

import json

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from features.core.errors import ModelError, SettingsError
from flows.command_line import cli
from training import attribution
from training.attribution import attribute
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import WHOLE, FacetLayout

WORDS = ("cat", "dog", "sleeps", "runs", "two", "a", "the", "not", "zebra")
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)


@pytest.fixture(scope="module")
def encoder(trained_run):
    return load_encoder(trained_run / "encoder"), FacetLayout.load(trained_run / "encoder")


@given(a=sentences, b=sentences)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shares_sum_to_the_cosine_of_the_whole_and_of_every_facet(encoder, a, b):
    model, layout = encoder
    left, right = model.encode([a, b]).astype(np.float64)
    model.train()  # as a further training by its user leaves it
    slices = {facet.name: slice(facet.start, facet.stop) for facet in layout.facets}
    for name, dimensions in {WHOLE: slice(None), "residual": layout.residual, **slices}.items():
        u, v = left[dimensions], right[dimensions]
        shares = attribute(model, layout, a, b, name)
        assert shares.shares.shape == (len(shares.words_a), len(shares.words_b))
        assert shares.similarity == pytest.approx(u @ v / np.linalg.norm(u) / np.linalg.norm(v), abs=1e-5)


def test_shares_are_of_what_encode_reads_and_gives(tiny_encoder):
    model = load_encoder(tiny_encoder)
    model.prompts, model.default_prompt_name, model.truncate_dim = {"own": "the dog: "}, "own", 16
    u, v = model.encode(["two cat sleeps", "a zebra"]).astype(np.float64)
    similarity = u @ v / np.linalg.norm(u) / np.linalg.norm(v)
    shares = attribute(model, None, "two cat sleeps", "a zebra")
    assert shares.similarity == pytest.approx(similarity, abs=1e-5)
    assert shares.words_a[1:-1] == ("the dog:", "two", "cat", "sleeps")


@pytest.mark.parametrize(("a", "b"), [("two cat sleeps", "a zebra runs not"), ("dog", "the dog"), ("cat", "cat")])
def test_shares_of_inputs_sum_to_what_words_add_to_a_sentence_without_any(encoder, a, b, monkeypatch):
    monkeypatch.setattr(attribution, "_STEPS", 200)
    model, layout = encoder
    without = [" ".join(["[PAD]"] * len(model.tokenizer.tokenize(text))) for text in (a, b)]
    u, v, start_of_u, start_of_v = model.encode([a, b, *without]).astype(np.float64)
    model.train()
    found = attribute(model, layout, a, b, inputs=True)
    assert found.similarity == pytest.approx((u - start_of_u) @ (v - start_of_v), abs=2e-3)
    assert found.words_a == attribute(model, layout, a, b).words_a
    assert np.abs(found.shares[[0, -1]]).max() == np.abs(found.shares[:, [0, -1]]).max() == 0  # marks stay
    assert all(weight.requires_grad for weight in model.parameters())


def test_an_encoder_that_reads_more_than_words_has_no_shares_of_inputs(tiny_encoder):
    model = load_encoder(tiny_encoder)
    model.insert(1, torch.nn.Identity())
    with pytest.raises(ModelError):
        attribute(model, None, "a cat", "a dog", inputs=True)


def test_words_are_those_of_the_sentence_with_the_marks_of_its_tokenizer(encoder):
    shares = attribute(*encoder, "two  cat sleeps", "a zebra!")
    assert shares.words_a == ("[CLS]", "two", "cat", "sleeps", "[SEP]")
    assert shares.words_b == ("[CLS]", "a", "zebra", "!", "[SEP]")
    assert shares.of_a.sum() == pytest.approx(shares.of_b.sum())
    (a, b, largest), *_ = shares.strongest(3)
    assert largest == shares.shares[shares.words_a.index(a), shares.words_b.index(b)]
    assert abs(largest) == np.abs(shares.shares).max()


def test_linear_layers_after_the_mean_keep_the_sum_and_others_are_refused(tiny_encoder):
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize

    torch.manual_seed(0)
    model = load_encoder(tiny_encoder)
    size = model.get_embedding_dimension()
    model.append(Dense(size, 20, activation_function=torch.nn.Identity()))
    model.append(Normalize())
    left, right = model.encode(["two cat", "a dog sleeps"])
    assert attribute(model, None, "two cat", "a dog sleeps").similarity == pytest.approx(left @ right, abs=1e-5)
    model.append(Dense(20, 20))  # with tanh
    with pytest.raises(ModelError):
        attribute(model, None, "two cat", "a dog sleeps")


def test_an_encoder_that_does_not_pool_by_a_mean_has_no_shares(tiny_encoder):
    from sentence_transformers.sentence_transformer.modules import Pooling

    model = load_encoder(tiny_encoder)
    size = model.get_embedding_dimension()
    model[1] = Pooling(size, pooling_mode="cls")
    with pytest.raises(ModelError):
        attribute(model, None, "a cat", "a dog")


def test_an_unknown_facet_is_named_with_those_that_there_are(encoder):
    with pytest.raises(SettingsError):
        attribute(*encoder, "a cat", "a dog", "smatches")


def test_the_command_shows_shares_and_writes_them_as_json(trained_run, tmp_path):
    folder = str(trained_run / "encoder")
    call = ["explain", "--encoder", folder, "--no-graphs", "--words", "smatch", "a cat sleeps", "two dog"]
    shown = CliRunner().invoke(cli, call, catch_exceptions=False).output
    assert "smatch" in shown
    assert "[CLS]" in shown
    written = json.loads(CliRunner().invoke(cli, [*call, "--json"], catch_exceptions=False).output)
    shares = written["shares"]
    assert shares["facet"] == "smatch"
    (reading,) = (facet for facet in written["facets"] if facet["name"] == "smatch")
    assert np.sum(shares["shares"]) == pytest.approx(reading["similarity"], abs=1e-4)
    page = CliRunner().invoke(cli, [*call, "--html", str(tmp_path / "page.html")], catch_exceptions=False)
    assert "a page does not show how the words share a similarity" in page.stderr
