"""An encoder of a few words, for commands that take an encoder."""

import pytest


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory):
    """Return the folder of an encoder that knows only five words."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ("?", "cat", "dog", "park", "house")
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="?"))  # noqa: S106  # a word
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = torch.eye(len(words))
    weights[0] *= 0.01  # a text of unknown words must not be a zero vector
    embedding = modules.StaticEmbedding(tokenizer, embedding_weights=weights)
    folder = tmp_path_factory.mktemp("words") / "encoder"
    SentenceTransformer(modules=[embedding], device="cpu").save_pretrained(str(folder), create_model_card=False)
    return folder
