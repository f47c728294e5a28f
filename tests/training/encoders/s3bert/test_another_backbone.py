"""An S3BERT of another architecture than BERT: an MPNet, with relative positions and another padding token."""

import json

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from training import attribution
from training.attribution import attribute
from training.data.measured_pairs import MeasuredPairs
from training.encoders.aspect.settings import AspectSettings
from training.encoders.backbone import Backbone
from training.encoders.loading import load_encoder
from training.encoders.s3bert.explain import explain_with
from training.encoders.s3bert.facets import FacetLayout
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.train import S3bertJob, train
from training.jobs import Source
from training.loop.settings import LoopSettings

D, WIDTH = 32, 2
LONG = " ".join(["no man sees three woman in a small house"] * 4)  # relative positions beyond the exact buckets
TEXTS = ["the cat sleeps", "a dog", LONG, "two red horse runs in the park"]


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory, table_of_pairs):
    """Folder of an MPNet of three layers with random weights, as a SentenceTransformer."""
    from sentence_transformers.sentence_transformer import modules
    from transformers import MPNetConfig, MPNetModel, MPNetTokenizer

    folder = tmp_path_factory.mktemp("mpnet")
    texts = [*table_of_pairs["text_a"], *table_of_pairs["text_b"], *TEXTS]
    words = sorted({word for text in texts for word in text.split()})
    vocabulary = {word: n for n, word in enumerate(["<s>", "<pad>", "</s>", "[UNK]", "<mask>", *words])}
    torch.manual_seed(0)
    config = MPNetConfig(
        vocab_size=len(vocabulary),
        hidden_size=D,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=66,
        initializer_range=0.2,  # so that positions count
    )
    MPNetModel(config).save_pretrained(folder / "plain")
    MPNetTokenizer(vocab=vocabulary).save_pretrained(folder / "plain")
    parts = [modules.Transformer(str(folder / "plain"), max_seq_length=64), modules.Pooling(D, pooling_mode="mean")]
    model = SentenceTransformer(modules=[*parts, modules.Normalize()], device="cpu")
    model.save_pretrained(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


@pytest.fixture(scope="module")
def make_job(tmp_path_factory, mpnet, table_of_pairs):
    """Return a function that makes a job which learns a map, and tunes a layer after it."""
    folder = tmp_path_factory.mktemp("runs")
    MeasuredPairs.from_table(table_of_pairs, source={}).export(folder / "pairs.parquet")

    def make(name):
        settings = S3bertSettings(
            backbone=str(mpnet),
            facet_dimensions=WIDTH,
            layers_tuned=1,
            map_epochs=2,
            loop=LoopSettings(batch_size=8, epochs=2, checkpoint_every=4, threads=1),
        )
        return S3bertJob(source=Source(pairs=folder / "pairs.parquet"), settings=settings, output=folder / name)

    return make


@pytest.fixture(scope="module")
def tuned(make_job):
    """Folder of an S3BERT of it, with a map and a tuned layer."""
    return train(make_job("tuned"))


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("layers", [1, 2, "all"])
def test_embeddings_and_gradients_are_those_of_the_plain_encoder(mpnet, kept, layers):
    plain = SentenceTransformer(str(mpnet), device="cpu")
    settings = AspectSettings(layers_tuned=layers, dropout=False, cache_gib=1.0 if kept else 0.0, disk_gib=0.0)
    backbone = Backbone(SentenceTransformer(str(mpnet), device="cpu"), settings, torch.float32)
    tokens = backbone.tokenize(TEXTS)
    assert backbone.keep_states(tokens) == (kept and layers != "all")
    found = backbone.embed(tokens, np.arange(len(TEXTS)))
    np.testing.assert_allclose(found.detach().numpy(), plain.encode(TEXTS), atol=1e-5)
    expected = plain(plain.preprocess(TEXTS))["sentence_embedding"]
    found[:, :5].sum().backward()
    expected[:, :5].sum().backward()
    weights = dict(plain.transformers_model.named_parameters())
    for name, parameter in backbone.tuned_parameters().items():
        if weights[name].grad is not None or parameter.grad is not None:
            torch.testing.assert_close(parameter.grad, weights[name].grad, atol=1e-5, rtol=1e-4)
    assert ("encoder.relative_attention_bias.weight" in backbone.tuned_parameters()) == (layers == "all")


def test_the_finished_encoder_is_loaded_by_the_library_and_explained(tuned):
    encoder, layout = load_encoder(tuned, device="cpu"), FacetLayout.load(tuned)
    plain = SentenceTransformer(str(tuned), device="cpu")
    np.testing.assert_allclose(plain.encode(TEXTS), encoder.encode(TEXTS), atol=1e-6)
    assert plain.get_embedding_dimension() == D + WIDTH * len(layout.facets)
    assert all(facet.calibration for facet in layout.facets)
    (explanation,) = explain_with(encoder, layout, [(TEXTS[0], "a cat sleeps")])
    assert all(reading.prediction is not None for reading in explanation.facets)
    report = json.loads((tuned / "training.json").read_text())
    assert report["dev"]["total"] < report["map"]["history"][0]["total"]


def test_words_share_its_similarity(tuned):
    encoder, layout = load_encoder(tuned, device="cpu"), FacetLayout.load(tuned)
    left, right = encoder.encode(["a cat sleeps", "two dog sees"]).astype(np.float64)
    shares = attribute(encoder, layout, "a cat sleeps", "two dog sees")
    assert shares.words_a[1:-1] == ("a", "cat", "sleeps")
    assert shares.similarity == pytest.approx(left @ right / np.linalg.norm(left) / np.linalg.norm(right), abs=1e-5)


def test_words_as_they_enter_share_what_they_add_to_a_sentence_without_any(tuned, monkeypatch):
    monkeypatch.setattr(attribution, "_STEPS", 200)
    encoder, layout = load_encoder(tuned, device="cpu"), FacetLayout.load(tuned)
    a, b = "a cat sleeps", "two dog sees"
    shares = attribute(encoder, layout, a, b, inputs=True)
    after = list(encoder)[1:]

    def embedded(ids):  # the words of a sentence without any are <pad>, at the same positions
        transformer = encoder.transformers_model
        states = transformer(inputs_embeds=transformer.get_input_embeddings()(torch.tensor([ids])))[0]
        features = {"token_embeddings": states, "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        for module in after:
            features = module(features)
        return torch.nn.functional.normalize(features["sentence_embedding"][0], dim=0)

    ids = [encoder.tokenizer(text)["input_ids"] for text in (a, b)]
    with torch.no_grad():
        u, v = (embedded(each) - embedded([each[0], *[1] * (len(each) - 2), each[-1]]) for each in ids)
    assert shares.similarity == pytest.approx(float(u @ v), abs=2e-3)
