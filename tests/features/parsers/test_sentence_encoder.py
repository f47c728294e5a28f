import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import DeviceMissing, LibraryMissing, ModelNotLoaded, WrongValue
from features.models import locate
from features.parsers.devices import resolve_device
from features.parsers.sentence_encoder import SentenceEncoder, load
from features.parsers.settings import EmbeddingSettings
from features.schemas import EMBEDDINGS
from features.stages.embeddings import embed_sentences


@pytest.fixture(scope="module")
def encoder(encoder_name: str) -> SentenceEncoder:
    return load(EmbeddingSettings(model=encoder_name, device="cpu", batch_size=8, max_words=20))


@pytest.mark.slow
def test_embeddings_have_unit_length(encoder: SentenceEncoder, sentences: pl.DataFrame) -> None:
    output = embed_sentences(sentences, encoder)
    assert output.rows.schema == pl.Schema(EMBEDDINGS)
    assert output.rows["sentence_id"].to_list() == sentences["sentence_id"].to_list()
    vectors = np.stack(output.rows["vector"].to_list())
    assert vectors.shape == (4, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.slow
def test_alike_sentences_are_close(encoder: SentenceEncoder) -> None:
    cat, kitten, stocks = encoder.encode(["A cat sleeps.", "A kitten is asleep.", "Stocks fell sharply on Monday."])
    assert cat @ kitten > 0.6
    assert cat @ stocks < 0.2


@pytest.mark.slow
def test_the_model_card_is_reproduced(encoder: SentenceEncoder) -> None:
    # The embedding as the model's own card computes it: mean of the last layer over the mask, then unit length.
    import torch

    text = "This is an example sentence"
    inputs = encoder.model.tokenizer([text], return_tensors="pt").to(encoder.model.device)
    with torch.no_grad():
        last = encoder.model[0].auto_model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).float()
    mean = ((last * mask).sum(1) / mask.sum(1)).cpu().numpy()[0]
    np.testing.assert_allclose(encoder.encode([text])[0], mean / np.linalg.norm(mean), atol=1e-6)


@pytest.mark.slow
def test_the_order_of_the_input_is_kept(encoder: SentenceEncoder) -> None:
    texts = ["word " * length + "end" for length in (9, 1, 14, 3, 7, 2, 11, 5, 13, 4)]
    np.testing.assert_allclose(
        encoder.encode(texts), np.concatenate([encoder.encode([text]) for text in texts]), atol=1e-5
    )


@pytest.mark.slow
def test_bfloat16_changes_similarities_in_the_third_digit(encoder: SentenceEncoder, encoder_name: str) -> None:
    texts = ["A cat sleeps.", "A kitten is asleep on the old sofa.", "Stocks fell sharply on Monday."]
    vectors = load(EmbeddingSettings(model=encoder_name, device="cpu", precision="bfloat16")).encode(texts)
    exact = encoder.encode(texts)
    assert vectors.dtype == np.float32
    assert (vectors != exact).any()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(vectors @ vectors.T, exact @ exact.T, atol=5e-3)


@pytest.mark.slow
def test_nothing_to_encode(encoder: SentenceEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.look_up([])[1].shape == (0, 384)
    output = embed_sentences(pl.DataFrame(schema={"sentence_id": pl.String, "text": pl.String}), encoder)
    assert output.rows.schema == pl.Schema(EMBEDDINGS)


@pytest.mark.slow
def test_a_sentence_that_is_too_long_is_rejected(encoder: SentenceEncoder) -> None:
    shard = pl.DataFrame({"sentence_id": ["long", "short"], "text": [" ".join(["word"] * 21), "Yes."]})
    output = embed_sentences(shard, encoder)
    assert output.rows["sentence_id"].to_list() == ["short"]
    assert output.rejects["entity_id"].to_list() == ["long"]


@pytest.mark.slow
@pytest.mark.parametrize("others", [[], ["cat"], ["unbelievably", "dog", "x"], [f"word{i}" for i in range(300)]])
def test_a_word_has_the_same_vector_among_whatever_words(encoder: SentenceEncoder, others: Sequence[str]) -> None:
    words = ["kitten", "neurotransmitter", "-"]
    among = encoder.look_up([*others, *words])[1][len(others) :]
    assert np.array_equal(among, encoder.look_up(words)[1])
    np.testing.assert_allclose(among, encoder.encode(words), atol=1e-5)


@pytest.mark.slow
def test_an_encoder_is_loaded_once_per_process(encoder: SentenceEncoder, encoder_name: str) -> None:
    assert load(EmbeddingSettings(model=encoder_name, device="cpu", batch_size=8, max_words=20)) is encoder


def test_a_folder_that_is_no_encoder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({}))
    with refused(ModelNotLoaded):
        load(EmbeddingSettings(model=str(tmp_path)))


@pytest.mark.slow
def test_truncated_weights_are_an_error(encoder_name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(locate(encoder_name), tmp_path / "encoder"))
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with refused(ModelNotLoaded):
        load(EmbeddingSettings(model=str(folder)))


@pytest.mark.slow
def test_a_lost_vocabulary_is_an_error(encoder_name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(locate(encoder_name), tmp_path / "encoder"))
    for name in ("tokenizer.json", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)
    with refused(ModelNotLoaded):
        load(EmbeddingSettings(model=str(folder)))


def test_devices() -> None:
    import torch

    assert resolve_device(torch.device("cpu")) == resolve_device("cpu:0") == "cpu", (
        "accelerate names it so in each of several processes"
    )
    assert resolve_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    with refused(DeviceMissing):
        resolve_device("cuda:99")


def test_without_torch_the_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as where `facetflow[flows]` alone is installed
    with refused(LibraryMissing):
        resolve_device("auto")


def test_no_attention_is_planned_for_each_shape_of_a_batch_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    torch.backends.cuda.enable_cudnn_sdp(enabled=True)
    resolve_device("cpu")
    assert torch.backends.cuda.cudnn_sdp_enabled()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto") == "cuda"
    assert not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize("device", ["gpu", "cuda:", "mps", "cuda:x"])
def test_a_device_that_is_none(device: str) -> None:
    with refused(WrongValue):
        EmbeddingSettings(device=device)
