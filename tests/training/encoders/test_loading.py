"""Encoders are loaded whole or not at all."""

import shutil

import pytest

from features.errors import ModelError
from training.encoders.loading import load_encoder


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ("tokenizer.json", r"its tokenizer knows no words: the vocabulary is missing, vocab\.txt or tokenizer\.json"),
        ("1_Pooling/config.json", "embedding_dimension"),
    ],
)
def test_an_encoder_that_lacks_a_file_is_one_sentence(tiny_encoder, tmp_path, missing, why):
    folder = shutil.copytree(tiny_encoder, tmp_path / "copied")
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=rf"copied' cannot be loaded \(.*{why}.*\); delete the folder"):
        load_encoder(folder)
