"""The files of a tagger, as AllenNLP archives them: a `.tar.gz`, or a folder with the same content.

    config.json                 how it was made; used for the encoder's name or sizes
    vocabulary/labels.txt       BIO tags, one per line, in the order of their indices
    weights.th                  parameters by name (torch.save); read without running code from it
    weights.safetensors         the alternative that our own training writes: half precision, without what equals
                                the base encoder named by `facetflow.base` in config.json
    vocab.txt                   word pieces, if they are not those of the base encoder or of bert-base-uncased

AllenNLP keeps no word pieces in an archive. Those of bert-base-uncased come with all-MiniLM-L6-v2.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from features.core.closed import first_problem
from features.core.faults import ModelDamaged, NotThisModel
from features.core.file_errors import first_line
from features.core.leftovers import scratch
from features.models import locate
from features.models.pulling import unpack_archive

if TYPE_CHECKING:
    from torch import Tensor

CONFIGURATION = "config.json"
LABELS = "vocabulary/labels.txt"
WEIGHTS = "weights.safetensors"
PICKLED_WEIGHTS = "weights.th"
VOCABULARY = "vocab.txt"
OWN_SECTION = "facetflow"

_UNCASED_VOCABULARY = "all-MiniLM-L6-v2"
_ENCODER = "bert_model."
# Buffers that older versions of transformers saved, and the pooler, which tagging does not use.
_UNUSED = ("bert_model.embeddings.position_ids", "bert_model.pooler.", "bert_model.embeddings.token_type_ids")


class OwnSettings(BaseModel):
    """The section `facetflow` of config.json, whose keys are unknown to AllenNLP."""

    base: str | None = None  # the encoder that the weights change; None where the archive has all of them
    predicate_threshold: float = 0.5
    exact_decoding: bool = False


@dataclass(frozen=True, slots=True)
class SrlArchive:
    """A tagger, read but not yet built."""

    labels: tuple[str, ...]  # BIO tags in the order of their indices
    weights: "Mapping[str, Tensor]"  # float32 parameters by AllenNLP's names
    encoder: Mapping[str, Any]  # sizes of the encoder according to the configuration; empty if it gives a name
    lowercase: bool  # whether words are lower-cased before they are split
    vocabulary: Path  # file of the word pieces
    own: OwnSettings


@contextmanager
def open_archive(path: Path) -> "Iterator[SrlArchive]":
    """Read a tagger from a folder or a `.tar.gz`, whose files stay until the block ends."""
    if path.is_dir():
        yield _read(path)
        return
    with scratch("srl") as temporary:
        folder = temporary / "model"
        unpack_archive(path, folder)
        yield _read(folder)


def base_of(path: Path) -> str | None:
    """Return the base encoder that a folder of a tagger names, if any; None for a `.tar.gz`, which is not unpacked."""
    return _configuration(path)[0].base if path.is_dir() else None


def _read(folder: Path) -> SrlArchive:
    own, encoder, name = _configuration(folder)
    lowercase = "uncased" in name
    return SrlArchive(
        weights=_weights(folder, own.base),
        labels=_labels(folder),
        encoder=encoder,
        lowercase=lowercase,
        vocabulary=_vocabulary(folder, name, own.base, lowercase=lowercase),
        own=own,
    )


def _configuration(folder: Path) -> tuple[OwnSettings, Mapping[str, Any], str]:
    """Return our own settings, and the sizes and the name of the encoder, if given."""
    try:
        configuration = json.loads((folder / CONFIGURATION).read_text(encoding="utf-8"))
        own = OwnSettings.model_validate(configuration.get(OWN_SECTION, {}))
        kind, encoder = configuration["model"]["type"], configuration["model"].get("bert_model", {})
        name = configuration.get("dataset_reader", {}).get("bert_model_name") or encoder
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else repr(error)
        raise NotThisModel(
            f"{str(folder)!r} is not the archive of a tagger: its {CONFIGURATION!r} cannot be read ({reason})."
        ) from error
    if kind != "srl_bert":
        raise NotThisModel(f"The archive {str(folder)!r} holds a model of type {kind!r}; give one of type 'srl_bert'.")
    return own, encoder if isinstance(encoder, dict) else {}, name if isinstance(name, str) else ""


def _labels(folder: Path) -> tuple[str, ...]:
    path = folder / LABELS
    try:
        return tuple(path.read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise ModelDamaged(f"The archive {str(folder)!r} lacks its labels {LABELS!r} ({error}).") from error


def _vocabulary(folder: Path, name: str, base: str | None, *, lowercase: bool) -> Path:
    if (folder / VOCABULARY).is_file():
        return folder / VOCABULARY
    if base is not None or lowercase:
        return locate(base or _UNCASED_VOCABULARY) / VOCABULARY
    raise ModelDamaged(
        f"The archive {str(folder)!r} was made with the word pieces of {name or 'another encoder'!r} but lacks"
        f" them; put that encoder's {VOCABULARY!r} next to its {CONFIGURATION!r}."
    )


def _weights(folder: Path, base: str | None) -> "dict[str, Tensor]":
    """Return the parameters in float32: those of the base encoder, overridden by those of the archive."""
    path = next((folder / name for name in (WEIGHTS, PICKLED_WEIGHTS) if (folder / name).is_file()), None)
    if path is None:
        raise ModelDamaged(f"The archive {str(folder)!r} has no weights: neither {WEIGHTS!r} nor {PICKLED_WEIGHTS!r}.")
    weights = {} if base is None else base_weights(locate(base))
    weights |= _load(path)
    return {name: tensor.float() for name, tensor in weights.items() if not name.startswith(_UNUSED)}


def base_weights(folder: Path) -> "dict[str, Tensor]":
    """Return the parameters in a BERT's own folder, without a head, under the names that they have in a tagger."""
    loaded = {name.removeprefix("bert."): tensor for name, tensor in _load(folder / "model.safetensors").items()}
    return {f"{_ENCODER}{name}": loaded[name] for name in loaded if name.startswith(("embeddings.", "encoder."))}


def _load(path: Path) -> "dict[str, Tensor]":
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        import torch

        # weights_only: code in an archive from elsewhere is not run.
        return dict(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # the errors of torch and safetensors for a damaged file have no common base
        reason = first_line(error).partition(". ")[0]  # torch goes on with how to run the code of such a file
        raise ModelDamaged(f"The weights {str(path)!r} cannot be read ({reason}).") from error


def write_archive(
    folder: Path,
    *,
    labels: tuple[str, ...],
    weights: "Mapping[str, Tensor]",
    configuration: Mapping[str, Any],
) -> None:
    """Write a tagger in half precision, without what equals the encoder `facetflow.base` of its configuration.

    Labels are BIO tags in the order of their indices; weights have AllenNLP's names.
    """
    import torch
    from safetensors.torch import save_file

    base = base_weights(locate(configuration[OWN_SECTION]["base"]))
    own = {
        name: tensor.detach().to("cpu", torch.float16).contiguous()
        for name, tensor in weights.items()
        if name not in base or not torch.equal(tensor.detach().cpu().float(), base[name].float())
    }
    (folder / LABELS).parent.mkdir(parents=True, exist_ok=True)
    (folder / LABELS).write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    # This tells AllenNLP that the labels have neither padding nor an unknown label.
    (folder / LABELS).with_name("non_padded_namespaces.txt").write_text("*tags\n*labels\n", encoding="utf-8")
    (folder / CONFIGURATION).write_text(json.dumps(configuration, indent=2) + "\n", encoding="utf-8")
    save_file(own, folder / WEIGHTS)
