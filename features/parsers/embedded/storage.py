"""A model on disk: `model.safetensors` and `model.json`, small enough for a repository.

Matrices are stored as int8 with a scale for each row, w ≈ scale · q with scale = max|w| / 127; the rest is float16.
What is identical to the base encoder (its table of word pieces) is not stored: `model.json` names the encoder and its
hash.

    model.json          format, base encoder and its digest, sizes, vocabulary, decoding thresholds
    model.safetensors   tensor `name` in float16, or `name` in int8 and `name.scale` in float32
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from features.core.closed import first_problem
from features.core.faults import ModelDamaged, NotThisModel
from features.parsers.embedded.vocabulary import KINDS, Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from features.parsers.embedded.network import NetworkShape

FORMAT = "facetflow-embedded-amr-1"
WEIGHTS_FILE, DESCRIPTION_FILE = "model.safetensors", "model.json"
_SCALE = ".scale"

Storage = Literal["int8", "float16"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Parameters tuned on dev after training."""

    arc: float = 0.5  # log-odds from which a pair of nodes is related
    primary: float = 0.0  # added to the score of "no concept"
    wrapper: float = 0.0  # added to the score of "no further concepts"


@dataclass(frozen=True, slots=True)
class Base:
    """The base encoder of a model."""

    base: str  # its name


@dataclass(frozen=True, slots=True)
class Description:
    """Everything about a model except its weights."""

    name: str  # name of the parser, for the column `parser`
    base: str  # name of the base encoder
    base_digest: str  # its hash when the model was trained
    vocabulary: Vocabulary  # the labels
    thresholds: Thresholds  # thresholds for decoding
    shape: Mapping[str, Any]  # sizes of the network that do not follow from the vocabulary

    def network_shape(self) -> "NetworkShape":
        """Return the sizes of the network."""
        from features.parsers.embedded.network import NetworkShape

        return NetworkShape(**{kind: len(getattr(self.vocabulary, kind)) for kind in KINDS}, **self.shape)


DescriptionT = TypeVar("DescriptionT", Base, Description)


def save_model(
    folder: Path, description: Description, weights: Mapping[str, "Tensor"], storage: Storage = "int8"
) -> None:
    """Write a model, without the base encoder's tables: matrices in int8, or all in float16. The folder is created."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    stored: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if storage == "int8" and weight.ndim == 2 and min(weight.shape) > 1:
            stored[name], stored[name + _SCALE] = _quantise(weight.detach().float().cpu())
        else:
            stored[name] = weight.detach().half().cpu().contiguous()
    save_file(stored, folder / WEIGHTS_FILE)
    text = json.dumps({"format": FORMAT, **asdict(description)}, ensure_ascii=False, separators=(",", ":"))
    (folder / DESCRIPTION_FILE).write_text(text, encoding="utf-8")


def read_description(folder: Path, what: type[DescriptionT]) -> DescriptionT:
    """Read everything about a model except its weights, or its base, which takes less time than its vocabulary.

    Raises:
        NotThisModel: when the folder holds no such model.
    """
    path = folder / DESCRIPTION_FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if (form := data.pop("format")) != FORMAT:
            raise NotThisModel(f"The model {str(path)!r} has format {form!r}; this release reads {FORMAT!r}.")
        return TypeAdapter(what).validate_python(data)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else repr(error)
        raise NotThisModel(
            f"The folder {str(folder)!r} holds no embedded AMR parser ({reason} in {path.name});"
            ' give the output folder of a training, leave `model` out, or set backend = "amrlib" for one of amrlib.'
        ) from error


def read_weights(folder: Path) -> dict[str, "Tensor"]:
    """Read the weights of a model, in float32; a ModelError if the file is missing or damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / WEIGHTS_FILE
    try:
        stored = load_file(path)
    except (OSError, SafetensorError) as error:
        raise ModelDamaged(f"The weights {str(path)!r} cannot be read ({error}); install the model again.") from error
    return {
        name: weight.float() * stored[name + _SCALE] if name + _SCALE in stored else weight.float()
        for name, weight in stored.items()
        if not name.endswith(_SCALE)
    }


def _quantise(weight: "Tensor") -> tuple["Tensor", "Tensor"]:
    """Return a matrix as int8, and the scale of each row, shape (n_rows, 1)."""
    import torch

    scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return (weight / scale).round().to(torch.int8), scale
