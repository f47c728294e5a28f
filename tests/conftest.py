"""Fixtures that every test may ask for."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Set before anything imports a library that reads them: nothing leaves the machine in tests.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("PREFECT_SERVER_ALLOW_EPHEMERAL_MODE", "false")  # a test that needs a server asks for one

# How long an example takes says how busy a machine is, not whether the code is right.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with reference data that lies beside some checkouts; skip where there is none."""
    folder = ROOT.parent / "shared"
    if not (folder / "oracles").is_dir():
        pytest.skip("needs the reference data (oracles, corpora), which are not part of the repository")
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a BERT encoder of two layers with random weights, in the files of a real one."""
    import json

    import torch
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("encoder") / "tiny-bert"
    folder.mkdir()
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,'!?-"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    pieces += ["the", "boy", "want", "##s", "sleep", "not", "girl", "see", "doctor"]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))  # noqa: S106  # a word piece
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
    )
    (folder / "config.json").write_text(json.dumps(config.to_dict()))
    torch.manual_seed(0)
    save_file(BertModel(config).state_dict(), folder / "model.safetensors")
    return folder
