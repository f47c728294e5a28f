"""The real MiniLM, where present: the paper's layout, and a first step that does no damage."""

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.facets import FacetLayout
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.train import S3bertJob, load_backbone, train
from training.jobs import Source
from training.loop.machine import prepare_machine
from training.loop.settings import LoopSettings
from training.similarity import cosines

NAME = "all-MiniLM-L6-v2"
TEXTS = ["Two cats are looking at a window.", "A white cat looks out of a window.", "Nobody sings."]


@pytest.fixture(scope="module")
def folder(needs_model):
    return needs_model(NAME)


@pytest.mark.parametrize("room", [{"cache_gib": 0.0, "disk_gib": 0.0}, {"cache_gib": 0.0}, {}])
def test_the_cut_backbone_computes_what_the_plain_encoder_does(folder, room, tmp_path):
    settings = S3bertSettings(**room, loop=LoopSettings(precision="float32", device="cpu"))
    backbone = load_backbone(settings, folder, prepare_machine(settings.loop, tmp_path))
    tokens = backbone.tokenize(TEXTS)
    assert backbone.keep_states(tokens) == (len(room) < 2)
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(backbone.embed_many(tokens, np.arange(3)), expected, atol=1e-5)


def test_bfloat16_changes_similarities_by_less_than_a_hundredth(folder, tmp_path):
    settings = S3bertSettings(loop=LoopSettings(precision="bfloat16", device="cpu"))
    backbone = load_backbone(settings, folder, prepare_machine(settings.loop, tmp_path))
    tokens = backbone.tokenize(TEXTS)
    backbone.keep_states(tokens)
    found = backbone.embed_many(tokens, np.arange(3))
    exact = SentenceTransformer(str(folder), device="cpu").encode(TEXTS)
    np.testing.assert_allclose(cosines(found[[0, 0]], found[[1, 2]]), cosines(exact[[0, 0]], exact[[1, 2]]), atol=0.01)


@pytest.mark.slow
def test_a_short_training_makes_the_papers_layout_and_keeps_similarities(folder, table_of_pairs, tmp_path):
    MeasuredPairs.from_table(table_of_pairs, source={}).export(tmp_path / "pairs.parquet")
    settings = S3bertSettings(preset="paper", backbone=NAME, loop=LoopSettings(epochs=1, device="cpu"))
    encoder = train(S3bertJob(source=Source(pairs=tmp_path / "pairs.parquet"), settings=settings, output=tmp_path))
    layout = FacetLayout.load(encoder)
    assert [facet.stop - facet.start for facet in layout.facets] == [16] * 15
    assert layout.residual == slice(240, 384)
    before, after = (SentenceTransformer(str(path), device="cpu") for path in (folder, encoder))
    np.testing.assert_allclose(
        cosines(after.encode(TEXTS[:2]), after.encode(TEXTS[1:])),
        cosines(before.encode(TEXTS[:2]), before.encode(TEXTS[1:])),
        atol=0.05,
    )
    changed = {name for name, value in before.state_dict().items() if not torch.equal(value, after.state_dict()[name])}
    assert {name.split("layer.")[1][0] for name in changed} == {"4", "5"}
