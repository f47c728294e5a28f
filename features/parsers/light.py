"""Encoders of word pieces, trees or spans without sentence-transformers: importing that takes four seconds.

    word pieces ──> BERT ──> mean ──> unit length, linear map, or modules of facetflow, which read a structure, too

For commands on a few texts. Embeddings equal the library's up to rounding. Imports torch: load it only with a model.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.normalizers import BertNormalizer
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from features.parsers.bert import WEIGHTS, Bert, read_shape
from features.parsers.onednn import use_onednn
from features.sentences import normalise

_BERT = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False}
_LIBRARY = {"default_prompt_name": None, "truncate_dim": None}
_READING = {
    "do_lower_case": False,
    "transformer_task": "feature-extraction",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    "module_output_name": "token_embeddings",
}
_TOKENIZER = {"tokenizer_class": "BertTokenizer", "padding_side": "right", "truncation_side": "right"}
_SPECIAL = 2  # pieces that BERT puts around a sentence
_NAMES = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
_DENSE = {"activation_function": "torch.nn.modules.linear.Identity", "use_residual": False}


class Structure(Protocol):
    """What an encoder reads beside word pieces; see `training.modules.structure`."""

    def parse(self, texts: Sequence[str], /) -> Sequence[Any]:
        """Return the parses of texts."""

    def tensors(self, texts: Sequence[str], parses: Sequence[Any], pieces: Sequence[Any], /) -> dict[str, Tensor]:
        """Return the tensors of a batch."""


class LightEncoder(nn.Module):
    """A BERT whose states are averaged, and the mean normalised or mapped; called as a SentenceTransformer is.

    `own` maps types in `modules.json` that are not the library's to names of classes: of the first module, the
    structure that it adds to word pieces, made from its settings; of others, a module that `load` reads.

    Raises:
        ValueError: the folder holds another encoder; or anything that reading a damaged one raises.
    """

    device = torch.device("cpu")

    def __init__(self, folder: Path, own: Mapping[str, str] | None = None) -> None:
        super().__init__()
        modules = _read(folder / "modules.json")
        transformer, pooling, *others = [folder / module["path"] for module in modules]
        kinds = [module["type"] for module in modules]
        classes: list[Any] = [resolve_name(own[kind]) if own and kind in own else None for kind in kinds]
        structure = classes[0]
        _require(structure is not None or _library(kinds[0]) == "Transformer")
        _require(_library(kinds[1]) == "Pooling")
        _require_values(_read(folder / "config_sentence_transformers.json"), _LIBRARY)
        _require_values(_read(transformer / "config.json"), _BERT)
        pooled = _read(pooling / "config.json")
        modes = [key for key in pooled if key.startswith("pooling_mode") and pooled[key]]
        _require(modes == ["pooling_mode_mean_tokens"] or pooled.get("pooling_mode") == "mean")
        self.tokenizer = _Tokenizer(transformer)
        reading = _read(transformer / "sentence_bert_config.json")
        self.structure: Structure | None = None
        below = 0
        if structure is not None:
            arguments = signature(structure).parameters.keys() & reading.keys()
            self.structure = structure(**{name: reading.pop(name) for name in arguments})
            below = reading.pop("words_below", 0)
        self.max_seq_length: int = reading.pop("max_seq_length", None) or self.tokenizer.model_max_length
        _require(reading.items() <= _READING.items())

        shape = read_shape(transformer)
        _require(self.max_seq_length <= shape.positions)
        with safe_open(transformer / WEIGHTS, "pt") as weights:
            _require(not any(f"encoder.layer.{shape.layers}." in name for name in weights.keys()))  # noqa: SIM118
        self.bert = Bert(shape)
        self.bert.fill_tables(transformer)
        self.bert.fill_layers(transformer)
        use_onednn(self)
        self.bert.encoder[-1 - below].register_forward_hook(self._keep)
        self._steps = [_step(*each) for each in zip(classes[2:], kinds[2:], others, strict=True)]
        self.eval()
        with torch.inference_mode():  # fails where parts do not fit together
            unparsed = self(self.tokenizer.read([""], self.max_seq_length), [None])
        self._dimension: int = unparsed["sentence_embedding"].shape[1]

    def get_embedding_dimension(self) -> int:
        """Return the length of an embedding."""
        return self._dimension

    def encode(
        self, sentences: Sequence[str], *, batch_size: int = 32, normalize_embeddings: bool = False, **_settings: Any
    ) -> NDArray[np.float32]:
        """Return the embeddings of sentences, (n, d) float32, of length 1 if asked for."""
        texts = list(sentences) if self.structure is None else [normalise(text) for text in sentences]
        read = self.tokenizer.read(texts, self.max_seq_length)
        order = sorted(range(len(read)), key=lambda number: len(read[number].ids))  # so that little is padded
        batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
        with torch.inference_mode():
            parts = [self([read[number] for number in batch])["sentence_embedding"] for batch in batches]
            vectors = torch.cat(parts)[torch.tensor(order).argsort()]
            return np.asarray(functional.normalize(vectors) if normalize_embeddings else vectors)

    def forward(self, read: "Sequence[_Read]", parses: Sequence[Any] = ()) -> dict[str, Tensor]:
        """Return the embeddings of sentences, `sentence_embedding`, (n, d), and what they are made from."""
        lengths = torch.tensor([len(sentence.ids) for sentence in read])[:, None]
        ids = pad_sequence([torch.tensor(sentence.ids) for sentence in read], batch_first=True)
        present = torch.arange(ids.shape[1]) < lengths
        mean = (self.bert(ids, present) * present[..., None]).sum(dim=1) / lengths
        features = {"sentence_embedding": mean, "token_embeddings": self._words, "attention_mask": present}
        if self.structure is not None:
            texts, _, pieces = zip(*read, strict=True)
            features |= self.structure.tensors(texts, parses or self.structure.parse(texts), pieces)
        for step in self._steps:
            features = step(features)
        return features

    def _keep(self, _layer: nn.Module, _arguments: object, states: Tensor) -> None:
        self._words = states


class _Read(NamedTuple):
    """A sentence, its word pieces, truncated, and where each starts and ends in it, in characters."""

    text: str
    ids: list[int]
    pieces: list[tuple[int, int]]


class _Tokenizer:
    """A tokenizer that is called as those of transformers are."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        described = _read(folder / "tokenizer_config.json")
        _require_values(described, _TOKENIZER)
        # As transformers does, whatever `tokenizer.json` says.
        self._tokenizer.normalizer = BertNormalizer(
            handle_chinese_chars=described.get("tokenize_chinese_chars", True),
            strip_accents=described.get("strip_accents"),
            lowercase=described.get("do_lower_case", True),
        )
        _require(self.num_special_tokens_to_add() == _SPECIAL)
        self.model_max_length: int = described["model_max_length"]
        self.unk_token_id = self._tokenizer.token_to_id(described["unk_token"])

    def num_special_tokens_to_add(self) -> int:
        """Return how many special pieces a sentence gets."""
        return int(self._tokenizer.num_special_tokens_to_add(is_pair=False))

    def read(self, texts: Sequence[str], longest: int) -> list[_Read]:
        """Return the word pieces of texts, at most so many of each."""
        return [
            _Read(text, _truncated(each.ids, longest), _truncated(each.offsets, longest))
            for text, each in zip(texts, self._tokenizer.encode_batch(list(texts)), strict=True)
        ]

    def __call__(
        self, texts: str | Sequence[str], *, add_special_tokens: bool = True, **_settings: Any
    ) -> dict[str, Any]:
        """Return the word pieces of a text, or of each of several, as `input_ids`."""
        several = [texts] if isinstance(texts, str) else list(texts)
        ids = [each.ids for each in self._tokenizer.encode_batch(several, add_special_tokens=add_special_tokens)]
        return {"input_ids": ids[0] if isinstance(texts, str) else ids}


def _truncated(row: list[Any], longest: int) -> list[Any]:
    return row if len(row) <= longest else [*row[: longest - 1], row[-1]]  # the last piece ends a sentence


def _step(own: Any, kind: str, folder: Path) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    """Return what a module after the mean makes of the features, by our own class if there is one."""
    if own is not None:
        module: nn.Module = own.load(str(folder))
        return module.eval()
    compute = _map(_library(kind), folder)
    return lambda features: features | {"sentence_embedding": compute(features["sentence_embedding"])}


def _map(kind: str, folder: Path) -> Callable[[Tensor], Tensor]:
    """Return what a module of the library computes of an embedding."""
    described = _read(folder / "config.json") if (folder / "config.json").exists() else {}
    _require_values(described, _NAMES)
    if kind == "Normalize":
        return functional.normalize
    _require(kind == "Dense")
    _require_values({"activation_function": "Tanh"} | described, _DENSE)
    linear = nn.Linear(described["in_features"], described["out_features"], bias=described.get("bias", True))
    linear.load_state_dict({name.removeprefix("linear."): each for name, each in load_file(folder / WEIGHTS).items()})
    return linear


def _library(kind: str) -> str:
    """Return the name of a class of sentence-transformers; a ValueError for another."""
    _require(kind.startswith("sentence_transformers."))
    return kind.rpartition(".")[2]


def _read(file: Path) -> Any:
    return json.loads(file.read_bytes())


def _require_values(described: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Check that each value is the given one, or missing, where it is by default."""
    _require(all(described.get(key, value) == value for key, value in values.items()))


def _require(condition: bool) -> None:  # noqa: FBT001
    if not condition:
        raise ValueError("another encoder")
