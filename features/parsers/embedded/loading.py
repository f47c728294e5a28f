"""Loading a parser from a model's folder: description, weights, and the base encoder's tables."""

from pathlib import Path

from features import models
from features.core.faults import ModelDamaged
from features.parsers.batching import batches_side_by_side
from features.parsers.devices import computes_in_bfloat16, resolve_device
from features.parsers.embedded.base_encoder import fill_tables, read_shape
from features.parsers.embedded.inputs import SentenceReader
from features.parsers.embedded.parser import EmbeddedParser
from features.parsers.embedded.storage import read_description, read_weights


def load_parser(
    folder: Path,
    *,
    base: str | None = None,
    device: str = "auto",
    precision: str = "auto",
    batch_size: int = 64,
    threads: int | None = None,
) -> EmbeddedParser:
    """Load a model from its folder.

    Args:
        folder: folder with `model.json` and `model.safetensors`.
        base: name or folder of the base encoder; when None, the one named by the model.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        precision: `auto` is bfloat16 if the hardware supports it, else float32.
        batch_size: sentences per batch.
        threads: CPU threads; torch's number when None.

    Raises:
        ModelError: when model or base encoder is missing, or they do not match.
    """
    import torch

    from features.parsers.embedded.network import Network
    from features.parsers.onednn import use_onednn

    description = read_description(folder)
    base_folder = models.locate(base or description.base)
    encoder = read_shape(base_folder)
    with torch.device("meta"):
        network = Network(description.network_shape(), encoder)
    network.to_empty(device="cpu")
    try:
        network.load_state_dict(read_weights(folder))
        fill_tables(network, base_folder)
    except RuntimeError as error:
        raise ModelDamaged(
            f"The weights in {str(folder)!r} do not match their description or the encoder {base_folder.name!r}"
            f" ({error}); install the model again."
        ) from error
    target = resolve_device(device)
    network.to(target, torch.bfloat16 if computes_in_bfloat16(precision, target) else torch.float32)
    use_onednn(network)
    reader = SentenceReader(base_folder, encoder.positions)
    return EmbeddedParser(description, network, reader, batch_size, batches_side_by_side(threads, target))
