import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save
from sentences import refused

from features.core.faults import ModelDamaged, NotThisModel
from features.parsers.bert import Bert, read_shape
from features.parsers.embedded.inputs import SentenceReader, text_tensors


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("headed", [False, True])
def test_the_layers_compute_what_transformers_computes(
    tiny_encoder: Path, tmp_path: Path, training: bool, headed: bool
) -> None:
    from transformers import BertForMaskedLM

    with_head = BertForMaskedLM.from_pretrained(tiny_encoder).eval()
    with_head.save_pretrained(tmp_path)
    folder, reference = tmp_path if headed else tiny_encoder, with_head.bert
    encoder = read_shape(folder)
    bert = Bert(encoder).train(training)
    bert.fill_tables(folder)
    bert.fill_layers(folder)
    pieces = SentenceReader(tiny_encoder, encoder.positions)
    text = text_tensors([pieces.ids(["The", "boy", "wants", "sleep"]), pieces.ids(["no"])])
    with torch.no_grad():
        states = bert(text["pieces"], text["piece_mask"])
        expected = reference(input_ids=text["pieces"], attention_mask=text["piece_mask"].long()).last_hidden_state
    torch.testing.assert_close(states[text["piece_mask"]], expected[text["piece_mask"]], atol=1e-5, rtol=1e-4)


def test_a_folder_without_an_encoder_is_named(tmp_path: Path) -> None:
    with refused(NotThisModel):
        read_shape(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with refused(NotThisModel):
        read_shape(tmp_path)


@pytest.mark.parametrize("content", [None, b"damaged", save({})], ids=["missing", "damaged", "empty"])
def test_weights_of_no_encoder_are_named(tiny_encoder: Path, tmp_path: Path, content: bytes | None) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "base")
    weights = folder / "model.safetensors"
    weights.unlink()
    if content is not None:
        weights.write_bytes(content)
    with refused(ModelDamaged):
        Bert(read_shape(folder)).fill_tables(folder)


def test_words_know_their_pieces(tiny_encoder: Path) -> None:
    ids = SentenceReader(tiny_encoder, 64).ids(["wants", "the", "ox", "雪"])
    assert (ids.last - ids.first).tolist() == [1, 0, 1, 0]
    assert ids.first.tolist() == [1, 3, 4, 6]
    assert len(ids.pieces) == 8, "with begin and end"


def test_words_beyond_the_longest_sentence_share_its_last_piece(tiny_encoder: Path) -> None:
    ids = SentenceReader(tiny_encoder, 8).ids(["the"] * 20)
    assert len(ids.pieces) == 8
    assert ids.first.tolist() == [1, 2, 3, 4, 5, 6, *[6] * 14]
