"""The base encoder's own files: sizes, tables, and the layers that training starts from."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from features.core.faults import NotThisModel
from features.parsers.embedded.encoder_shape import EncoderShape

if TYPE_CHECKING:
    from features.parsers.embedded.network import Network

NAME = "all-MiniLM-L6-v2"
"""The encoder that the embedded parser was trained from; a model names its own."""

_WEIGHTS = "model.safetensors"


def read_shape(folder: Path) -> EncoderShape:
    """Read the sizes from the encoder's configuration.

    Raises:
        ModelError: when the folder holds no BERT encoder.
    """
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        return EncoderShape(
            pieces=config["vocab_size"],
            positions=config["max_position_embeddings"],
            width=config["hidden_size"],
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            inner=config["intermediate_size"],
            epsilon=config["layer_norm_eps"],
        )
    except (OSError, ValueError, KeyError) as error:
        raise NotThisModel(
            f"The folder {str(folder)!r} holds no BERT encoder ({error!r} in {path.name});"
            f" give one such as {NAME!r}, by `facetflow models pull {NAME}`."
        ) from error


def fill_tables(network: "Network", folder: Path) -> None:
    """Fill in the parts of a network that are never trained: the encoder's tables of word pieces and positions."""
    import torch
    from safetensors import safe_open

    with torch.no_grad(), safe_open(folder / _WEIGHTS, "pt") as weights:
        network.piece_table.copy_(weights.get_tensor("embeddings.word_embeddings.weight"))
        # Every word piece has token type 0.
        first_type = weights.get_tensor("embeddings.token_type_embeddings.weight")[0]
        network.position_table.copy_(weights.get_tensor("embeddings.position_embeddings.weight") + first_type)


def fill_layers(network: "Network", folder: Path) -> None:
    """Initialise training with the encoder's own layers."""
    import torch
    from safetensors import safe_open

    with torch.no_grad(), safe_open(folder / _WEIGHTS, "pt") as weights:
        for kind in ("weight", "bias"):
            getattr(network.piece_norm, kind).copy_(weights.get_tensor(f"embeddings.LayerNorm.{kind}"))
            for number, block in enumerate(network.encoder):
                start = f"encoder.layer.{number}"
                parts = [f"{start}.attention.self.{part}.{kind}" for part in ("query", "key", "value")]
                getattr(block.attention, kind).copy_(torch.cat([weights.get_tensor(part) for part in parts]))
                for ours, theirs in _SAME.items():
                    getattr(getattr(block, ours), kind).copy_(weights.get_tensor(f"{start}.{theirs}.{kind}"))


_SAME = {
    "attended": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "norm2": "output.LayerNorm",
}
