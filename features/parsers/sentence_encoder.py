"""Sentence embeddings by a frozen sentence-transformers model: the teacher of training, and the vectors of words."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from features.core.faults import ModelNotLoaded
from features.core.file_errors import first_line
from features.core.libraries import importing
from features.core.types import OnRows, ignore_rows
from features.models import locate, stamp
from features.parsers.devices import hide_progress_bars, resolve_device, use_threads
from features.parsers.settings import EmbeddingSettings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from features.parsers.light import LightEncoder

TextEncoder: TypeAlias = "SentenceTransformer | LightEncoder"
FULL_PRECISION = {"dtype": "float32"}
"""How weights are loaded: those saved as float16 as well, in which a CPU is slow and nothing can be trained."""
_WORDS_A_BATCH = 64
_OWN_TOKENS = 2  # beside special ones, of a tokenizer without a vocabulary: the start of a word, of SentencePiece


@dataclass(frozen=True, slots=True)
class SentenceEncoder:
    """A sentence encoder with float32 weights."""

    model: TextEncoder
    batch_size: int
    max_words: int  # longer sentences are rejected before they are encoded
    bfloat16: bool = False  # matrices are multiplied in it

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.model.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> NDArray[np.float32]:
        """Return the embeddings of sentences, (n, d) float32 of unit length; report how many are done.

        The model truncates sentences to its maximum input length, as it did in training.
        """
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        done = 0

        def count(_model: Any, _features: Any, output: Any) -> None:
            nonlocal done
            done += len(output["sentence_embedding"])
            on_rows(done, len(texts))

        on_rows(0, len(texts))
        # The library sorts and batches by itself; its calls of the model show the progress.
        hook = self.model.register_forward_hook(count)
        try:
            return self._encode(list(texts), self.batch_size)
        finally:
            hook.remove()

    def look_up(self, words: Sequence[str], on_rows: OnRows = ignore_rows) -> tuple[list[str], NDArray[np.float32]]:
        """Return all words, and their embeddings as if they were sentences, (n, d) float32 of unit length.

        Padding and the size of a batch change the last bits of a result. Words with equally many tokens are encoded
        together, in batches of one size, filled up with a repeated word, so a word has the same vector in every shard.
        """
        on_rows(0, len(words))
        done = 0
        groups: dict[int, list[int]] = defaultdict(list)
        for position, word in enumerate(words):
            groups[len(self.model.tokenizer(word)["input_ids"])].append(position)
        vectors = np.empty((len(words), self.dimension), np.float32)
        for positions in groups.values():
            for start in range(0, len(positions), _WORDS_A_BATCH):
                batch = positions[start : start + _WORDS_A_BATCH]
                filled = [words[i] for i in batch] + [words[batch[0]]] * (_WORDS_A_BATCH - len(batch))
                vectors[batch] = self._encode(filled, _WORDS_A_BATCH)[: len(batch)]
                done += len(batch)
                on_rows(done, len(words))
        return list(words), vectors

    def _encode(self, texts: list[str], batch_size: int) -> NDArray[np.float32]:
        import torch

        with torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.bfloat16):
            vectors = self.model.encode(
                texts, batch_size=batch_size, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        return np.asarray(vectors, np.float32)


def load(settings: EmbeddingSettings, *, light: bool = False) -> SentenceEncoder:
    """Load a sentence encoder; once per process, as long as settings and files stay the same.

    A `light` one is loaded faster where possible; its vectors may differ from the library's in their last bits.
    """
    folder = locate(settings.model)
    return _load(settings, folder, stamp(folder), light=light)


def load_light(folder: Path, device: str, own: Mapping[str, str] | None = None) -> "LightEncoder | None":
    """Load an encoder without sentence-transformers; None where it must be, or already is, loaded by the library.

    `own` are modules that are not the library's, as in `LightEncoder`.
    """
    if device not in {"auto", "cpu"} or "sentence_transformers" in sys.modules:
        return None
    with suppress(Exception):  # of another form or damaged: the library loads it, or says why not
        from features.parsers.light import LightEncoder

        if resolve_device(device) == "cpu":
            return LightEncoder(folder, own)
    return None


@lru_cache(maxsize=2)
def _load(settings: EmbeddingSettings, folder: Path, _stamp: object, *, light: bool) -> SentenceEncoder:
    if light and (reader := load_light(folder, settings.device)) is not None:
        use_threads(settings.threads)
        return SentenceEncoder(reader, settings.batch_size, settings.max_words)
    with importing("Sentence embeddings need sentence-transformers", "encoders"):
        from sentence_transformers import SentenceTransformer

        from features.parsers.onednn import use_onednn
    device = resolve_device(settings.device)
    use_threads(settings.threads)
    hide_progress_bars()
    try:
        model = SentenceTransformer(str(folder), device=device, local_files_only=True, model_kwargs=FULL_PRECISION)
        require_complete(model)
    except Exception as error:  # the library passes on what its parts raise: OSError, KeyError, safetensors' own
        raise ModelNotLoaded(
            f"sentence-transformers cannot load {settings.model!r} from {str(folder)!r}"
            f" ({first_line(error)}); give the folder of a sentence encoder."
        ) from error
    use_onednn(model)
    return SentenceEncoder(model, settings.batch_size, settings.max_words, settings.precision == "bfloat16")


def require_complete(model: "SentenceTransformer") -> None:
    """Check that a model reads text and pools it, and that its tokenizers have words; raise a ValueError if not.

    transformers loads a folder that lacks the vocabulary without a word: every word is then unknown, and sentences of
    equally many words have one embedding.
    """
    from transformers import PreTrainedTokenizerBase

    if not hasattr(model[0], "tokenize"):
        raise ValueError(f"its first module, {type(model[0]).__name__}, reads no text")
    pools = any(type(module).__name__ == "Pooling" for module in model.modules())  # not `GraphPooling`
    if getattr(model[0], "module_output_name", "") == "token_embeddings" and not pools:
        raise ValueError("no module pools the embeddings of its tokens")
    for module in model.modules():
        tokenizer = getattr(module, "tokenizer", None)
        if not isinstance(tokenizer, PreTrainedTokenizerBase):
            continue
        if len(tokenizer) - len(tokenizer.added_tokens_decoder) <= _OWN_TOKENS:
            names = " or ".join(dict.fromkeys(tokenizer.vocab_files_names.values()))
            raise ValueError(f"its tokenizer knows no words: the vocabulary is missing, {names}")
