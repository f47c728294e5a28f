"""A sentence encoder in two parts: frozen layers below, whose outputs never change, and tuned layers above.

    tokens ── embeddings ── layer 1 ... layer n-2 ──┬── layer n-1 ── layer n ── pooling ── embedding
              frozen: no gradient, no dropout       │   tuned
                                         states: computed once, kept in memory or in a file if they fit

The tuned part alone costs a third of the whole, and an epoch sees each sentence several times; so the states at the cut
are computed once for all sentences, before training, always in the same order: a resumed run computes the same states.
When all layers are tuned there is no cut, and nothing to keep.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from features.core.faults import WrongValue
from features.core.file_errors import explain
from training.encoders.frozen_states import Form, SharedStates, unnamed_file
from training.encoders.settings import TunedSettings
from training.modules.layers import WORDS, find_attention, find_layers
from training.progress import log, with_progress

_TOKENS_AT_ONCE = 8192  # of a batch without gradient: keeps memory bounded and matrices large
# A batch is embedded in pieces, each padded to its longest sentence. A piece ends before its padding takes the time of
# a further one, and while its activations are near the processor: tried on two cores with 16 to 512 tokens of padding
# and 512 to 4,096 in all. A GPU, where starting kernels counts, takes few large ones; there nothing was tried.
_PADDING, _TOKENS_OF_PIECE = 128, 2048
_PADDING_ON_GPU = 4096
# Sentence length in tokens from which fused attention is faster with gradients on a CPU (torch 2.13; MiniLM's last two
# layers: at 250 tokens in bfloat16 2.0 s per step instead of 2.9 s, at 28 tokens 0.25 s instead of 0.20 s). It supports
# no dropout there: with dropout of the attention weights torch falls back to its math kernel, 4.8 s at 250 tokens.
_FUSED_FROM = {torch.bfloat16: 256, torch.float32: 96}
_GIB = 2**30
# Backbones in which the token states at a cut are all that the layers above need.
_CUTTABLE = frozenset({"bert", "roberta", "xlm-roberta", "camembert", "mpnet"})


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids of many sentences, one after the other."""

    ids: NDArray[np.int32]  # (n_tokens,), int32
    starts: NDArray[np.int64]  # start of each sentence, and the end of the last, (n_texts + 1,), int64
    # which sentences were truncated, (n_texts,); empty when not recorded
    cut: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype=np.bool_))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each sentence, (n_texts,)."""
        return np.diff(self.starts)

    def only(self, sentences: NDArray[np.int64]) -> Self:
        """Return the tokens of the sentences at some positions; the others keep their positions, without tokens."""
        kept = np.zeros(len(self.lengths), dtype=np.bool_)
        kept[sentences] = True
        starts = starts_of(np.where(kept, self.lengths, 0))
        return replace(self, ids=self.ids[np.repeat(kept, self.lengths)], starts=starts)

    def digest(self) -> str:
        """Return a hash of ids and starts."""
        digest = hashlib.sha256(np.ascontiguousarray(self.ids).data)
        digest.update(np.ascontiguousarray(self.starts).data)
        return digest.hexdigest()


class Backbone:
    """A SentenceTransformer whose last layers are tuned; all others are frozen.

    `all` tunes the token embeddings as well. States at the cut are kept in memory, or in a file if they do not fit.
    Where no layer is tuned it computes in float32, whatever the precision: what is learnt are then linear layers on the
    embeddings of the start model, to their last digits.
    `beside` gives further input of the modules after the transformer, such as trees, by positions of sentences.
    """

    beside: Callable[[NDArray[np.int64]], dict[str, Tensor]] | None = None

    def __init__(self, model: SentenceTransformer, settings: TunedSettings, precision: torch.dtype) -> None:
        self.model, self.settings = model, settings
        self.precision = precision if settings.layers_tuned else torch.float32
        self.device = model.device
        transformer: Any = model.transformers_model
        self.layers, self.transformer = find_layers(transformer), transformer
        count = len(self.layers) if settings.layers_tuned == "all" else settings.layers_tuned
        if count > len(self.layers):
            raise WrongValue(f"layers_tuned is {count}, but the backbone has {len(self.layers)} layers")
        self.frozen, self.tuned = self.layers[: len(self.layers) - count], self.layers[len(self.layers) - count :]
        self._without_dropout = find_attention(self.tuned) if settings.dropout == "states" else []
        if count and settings.dropout == "states" and not self._without_dropout:
            log.warning(
                "no attention module found in a %s, so the attention weights keep their dropout, if they have any",
                type(self.tuned[0]).__name__,
            )
        self.states: Tensor | None = None
        self._embeddings: tuple[Tensor, int] | None = None  # and the position of the module that is given them
        model.eval()
        model.requires_grad_(requires_grad=False)
        # With all layers tuned this is the whole transformer except a pooler, which no sentence embedding uses.
        self._learning = nn.ModuleList([self.tuned])
        if settings.layers_tuned == "all":
            children: dict[str, nn.Module] = dict(self.transformer.named_children())
            self._learning.extend(part for name, part in children.items() if name != "pooler")
        self._learning.requires_grad_(requires_grad=True)

    @property
    def dimension(self) -> int:
        """Dimension of a sentence embedding (d)."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def computing(self) -> str:
        """Precision and device, for messages: "bfloat16 on cpu"."""
        return f"{str(self.precision).removeprefix('torch.')} on {self.device}"

    def train(self) -> None:
        """Switch on the dropout of the tuned layers, as far as the settings ask for it."""
        self._learning.train(bool(self.settings.dropout))
        for attention in self._without_dropout:
            attention.eval()

    def eval(self) -> None:
        """Switch off dropout."""
        self._learning.eval()

    def tokenize(self, texts: Sequence[str]) -> Tokens:
        """Return the token ids of sentences, the special ones included, as many of each as the model reads."""
        limit = int(self.model.max_seq_length or 2**30)
        prompt = self.model.prompts.get(self.model.default_prompt_name or "", "")  # `encode` puts it before each
        some = [f"{prompt}{text}" for text in texts]
        made = self.model.tokenizer(some, truncation=True, max_length=limit, padding=False, return_attention_mask=False)
        encoded = made["input_ids"]
        starts = starts_of([len(ids) for ids in encoded])
        ids = np.fromiter((i for ids in encoded for i in ids), dtype=np.int32, count=starts[-1])
        # A pure Python tokenizer does not report which sentences it truncated.
        cut = [bool(each.overflowing) for each in made.encodings] if made.encodings else np.diff(starts) >= limit
        return Tokens(ids, starts, np.asarray(cut, dtype=np.bool_))

    def embed(self, tokens: Tokens, sentences: NDArray[np.int64], route: str | None = None) -> Tensor:
        """Return the embeddings of the sentences at some positions, with gradients into the tuned layers, (n, d)."""
        lengths = tokens.lengths[sentences]
        order = np.argsort(-lengths, kind="stable")
        limits = (_PADDING_ON_GPU, 2**31) if self.device.type == "cuda" else (_PADDING, _TOKENS_OF_PIECE)
        pieces = np.split(order, ends_of_pieces(lengths[order].tolist(), *limits))
        with self._autocast():  # around all pieces, so that each weight is rounded once
            embeddings = torch.cat([self._embed(tokens, sentences[piece], route) for piece in pieces])
        return embeddings[torch.from_numpy(np.argsort(order)).to(embeddings.device)]

    def _embed(self, tokens: Tokens, sentences: NDArray[np.int64], route: str | None) -> Tensor:
        if self._embeddings is not None:
            kept, start = self._embeddings
            features = {"sentence_embedding": kept[torch.from_numpy(sentences).to(self.device)]}
            return self._finish(features, route, start=start)
        beside = {} if self.beside is None else self.beside(sentences)
        if self.states is None:
            return self._finish(self._transform(self._inputs(tokens, sentences) | beside), route)
        positions, mask = padded(tokens.starts, sentences)
        states = self.states[torch.from_numpy(positions).to(self.states.device)].to(self.device)
        ids = torch.zeros(mask.shape, dtype=torch.long, device=self.device)
        with self._only(self.tuned, states):
            features = self._transform({"input_ids": ids, "attention_mask": mask.to(self.device)} | beside)
        return self._finish(features, route)

    def embed_many(self, tokens: Tokens, sentences: NDArray[np.int64], route: str | None = None) -> NDArray[np.float32]:
        """Return the embeddings of any number of sentences by the current model, without gradients, (n, d)."""
        self.eval()
        embeddings = np.empty((len(sentences), self.dimension), dtype=np.float32)
        with torch.no_grad():
            for chosen in _by_length(tokens.lengths[sentences], "encoding"):
                embeddings[chosen] = self.embed(tokens, sentences[chosen], route).cpu().numpy()
        return embeddings

    def keep_states(self, tokens: Tokens, shared: SharedStates | None = None) -> bool:
        """Compute and keep the states at the cut for all sentences, if backbone, memory and disk allow; log it."""
        if self.transformer.config.model_type not in _CUTTABLE or not self.frozen:
            return False
        form = Form(len(tokens.ids), int(self.transformer.config.hidden_size), self.precision)
        if shared is not None and self.device.type == "cpu":
            at_most = self.settings.disk_gib * _GIB
            self.states = shared.find_or_make(
                tokens.digest(), len(self.frozen), form, at_most, lambda states: self._compute_states(tokens, states)
            )
        if self.states is None and (states := self._room(form)) is not None:
            self._compute_states(tokens, states)
            self.states = states
            log.info("the outputs of the frozen layers are kept")
        return self.states is not None

    def keep_embeddings(self, tokens: Tokens, sentences: NDArray[np.int64], *, before: int) -> None:
        """Compute and keep what the module at a position is given for some sentences; nothing learns before it."""
        kept = torch.zeros((len(tokens.lengths), self.dimension), device=self.device)
        with torch.no_grad():
            for chosen in _by_length(tokens.lengths[sentences], "encoding"):
                features = self._transform(self._inputs(tokens, sentences[chosen]))
                kept[torch.from_numpy(sentences[chosen]).to(self.device)] = self._finish(features, None, stop=before)
        self._embeddings = kept, before

    def _compute_states(self, tokens: Tokens, states: Tensor) -> None:
        """Write the states at the cut of all sentences, (n_tokens, d), in the precision of the backbone."""
        present = np.flatnonzero(tokens.lengths)
        with torch.no_grad(), self._only(self.frozen):
            for chosen in _by_length(tokens.lengths[present], "frozen layers"):
                sentences = present[chosen]
                outputs = self._transform(self._inputs(tokens, sentences))["token_embeddings"]
                positions, mask = padded(tokens.starts, sentences)
                real = mask.bool()
                kept = outputs[real.to(self.device)].to(states.device, self.precision)
                states[torch.from_numpy(positions)[real].to(states.device)] = kept

    def _room(self, form: Form) -> Tensor | None:
        """Return an empty tensor for the states, in memory or in a file; None if they fit into neither."""
        if form.size <= self.settings.cache_gib * _GIB:
            return torch.empty((form.tokens, form.width), dtype=form.precision, device=self.device)
        # A GPU computes them faster than a disk reads them.
        if form.size > self.settings.disk_gib * _GIB or self.device.type != "cpu":
            return None
        try:
            return unnamed_file(form)
        except OSError as error:
            log.warning(
                "no space in %r for %.1f GiB of outputs of the frozen layers (%s): they are recomputed in every step; "
                "free some space, or set TMPDIR to another folder",
                *(tempfile.gettempdir(), form.size / _GIB, explain(error)),
            )
            return None

    def tuned_parameters(self) -> dict[str, nn.Parameter]:
        """Return the tuned parameters by their names in the transformer."""
        return {name: p for name, p in self.transformer.named_parameters() if p.requires_grad}

    def _inputs(self, tokens: Tokens, sentences: NDArray[np.int64]) -> dict[str, Tensor]:
        positions, mask = padded(tokens.starts, sentences)
        ids = torch.from_numpy(tokens.ids[positions].astype(np.int64))
        ids = ids.masked_fill(~mask.bool(), int(self.model.tokenizer.pad_token_id or 0))
        return {"input_ids": ids.to(self.device), "attention_mask": mask.to(self.device)}

    def _transform(self, inputs: dict[str, Tensor]) -> dict[str, Any]:
        with self._autocast(), self._attention(inputs["attention_mask"].shape[1]):
            features: dict[str, Any] = self.model[0](inputs)
        return features

    def _finish(
        self, features: dict[str, Any], route: str | None, *, start: int = 1, stop: int | None = None
    ) -> Tensor:
        """Return the embeddings that the modules from `start` to `stop` make of the output of those before them."""
        if route is not None:
            features["task"] = route
        # Pooling and normalisation stay in float32: rounded there, an embedding would not have length 1.
        for name in {"token_embeddings", WORDS} & features.keys():
            features[name] = features[name].float()
        with torch.autocast(self.device.type, enabled=False):
            for module in list(self.model)[start:stop]:
                features = module(features)
        embeddings: Tensor = features["sentence_embedding"]
        return embeddings

    def _attention(self, tokens: int) -> AbstractContextManager[Any]:
        """Select the attention kernel for a batch padded to a number of tokens.

        torch's fused kernel is faster without gradients, and on a GPU. On a CPU its backward pass takes as long as all
        matrix products for sentences, and pays off only for long texts.
        """
        fused = self.device.type != "cpu" or not torch.is_grad_enabled() or tokens >= _FUSED_FROM[self.precision]
        return nullcontext() if fused else sdpa_kernel(SDPBackend.MATH)

    def _autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type, self.precision, enabled=self.precision != torch.float32)

    @contextmanager
    def _only(self, layers: nn.ModuleList, states: Tensor | None = None) -> Iterator[None]:
        """Let the transformer have some of its layers only, with the states at the cut as its embeddings if given."""
        embeddings = self.transformer.embeddings
        self.transformer.encoder.layer = layers
        self.transformer.embeddings = embeddings if states is None else _Given(states)
        try:
            yield
        finally:
            self.transformer.encoder.layer = self.layers
            self.transformer.embeddings = embeddings


class _Given(nn.Module):
    """The given states in place of the embeddings of a transformer."""

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = states

    def forward(self, *_arguments: Any, **_named: Any) -> Tensor:
        return self.states


def starts_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where sentences of some lengths, (n,), start one after the other, and where the last ends, (n + 1,)."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def padded(starts: NDArray[np.int64], sentences: NDArray[np.int64]) -> tuple[NDArray[np.int64], Tensor]:
    """Return positions of the rows of some sentences, (n, longest), and their mask, 1 at rows and 0 at padding."""
    first, lengths = starts[sentences][:, None], np.diff(starts)[sentences]
    columns = np.arange(int(lengths.max(initial=0)))
    mask = columns[None, :] < lengths[:, None]
    return np.where(mask, first + columns[None, :], first), torch.from_numpy(mask.astype(np.int64))


def ends_of_pieces(lengths: Sequence[int], padding: int, tokens: int) -> list[int]:
    """Return where pieces of sentences of descending lengths end, but for the last.

    A piece has at most so many tokens of padding and so many in all, or one sentence.
    """
    ends: list[int] = []
    start = padded = 0
    for position, length in enumerate(lengths):
        padded += lengths[start] - length
        if padded > padding or (position > start and (position + 1 - start) * lengths[start] > tokens):
            ends.append(position)
            start, padded = position, 0
    return ends


def _by_length(lengths: NDArray[np.int64], work: str) -> Iterator[NDArray[np.int64]]:
    """Yield batches of positions of sentences of similar length, each of a bounded number of tokens; log the work."""
    order = np.argsort(lengths, kind="stable")
    batches, start = [], 0
    for stop in range(1, len(order) + 1):
        if stop == len(order) or (stop + 1 - start) * lengths[order[stop]] > _TOKENS_AT_ONCE:
            batches.append(order[start:stop])
            start = stop
    return with_progress(batches, work, len(order), "sentences")
