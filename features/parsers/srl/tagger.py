"""Inference with a tagger: sentences in, frames out, in batches of similarly long sentences.

    words ── find_predicates ──> positions ── tag ──> a frame for each: BERT, Viterbi, spans

BERT reads a sentence once for each of its predicates, and once more to find them if the tagger can do that itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from features.core.types import OnRows, ignore_rows
from features.parsers.devices import one_thread_a_batch
from features.parsers.embedded.inputs import pad, padded_length, present
from features.parsers.srl.frames import Frame, spans_of
from features.parsers.srl.viterbi import Constraints
from features.parsers.wordpieces import Pieces, Wordpieces

if TYPE_CHECKING:
    from features.parsers.srl.network import SrlBert

Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One sequence that BERT reads."""

    sentence: int
    pieces: Pieces
    predicate: int | None


@dataclass(eq=False)
class SrlTagger:
    """Finds predicates and their arguments."""

    network: "SrlBert"  # in evaluation mode, on its device
    wordpieces: Wordpieces  # the vocabulary that it was trained with
    labels: Sequence[str]  # BIO tags in the order of their indices
    batch_pieces: int = 1024  # word pieces per batch, including padding
    threshold: float = 0.5  # probability above which a word is a predicate
    exact: bool = False  # return the most likely path of tags, with each core role once, not the one that AllenNLP does
    bfloat16: bool = False  # compute in bfloat16
    threads: int = 1  # batches computed in parallel, one thread each

    def __post_init__(self) -> None:
        self.longest = int(self.network.bert_model.config.max_position_embeddings)
        self._constraints = Constraints(self.labels, exact=self.exact)

    @property
    def finds_predicates(self) -> bool:
        """Whether it was trained to find predicates."""
        return self.network.predicate_layer is not None

    def n_pieces(self, words: Words) -> int:
        """Return how many positions of BERT a sentence takes; at most `longest` can be read."""
        return len(self.wordpieces.cut(words).ids)

    def find_predicates(self, sentences: Sequence[Words], on_readings: OnRows = ignore_rows) -> list[list[int]]:
        """Return the positions of the predicates of each sentence; report to `on_readings` how many are done.

        None are found in a sentence that has more than `longest` pieces.
        """
        cut = [self.wordpieces.cut(words) for words in sentences]
        readings = [_Reading(i, pieces, None) for i, pieces in enumerate(cut) if pieces.starts and self._reads(pieces)]
        positions: list[list[int]] = [[] for _ in sentences]
        for batch, logits in self._run(readings, on_readings):
            likely = 1 / (1 + np.exp(-logits[:, :, 0])) > self.threshold
            for reading, row in zip(batch, likely, strict=True):
                positions[reading.sentence] = np.flatnonzero(row[list(reading.pieces.starts)]).tolist()
        return positions

    def tag(
        self, sentences: Sequence[Words], predicates: Sequence[Sequence[int]], on_readings: OnRows = ignore_rows
    ) -> list[tuple[Frame, ...]]:
        """Return a frame for each predicate of sentences, in the order given.

        Those of a sentence that has more than `longest` pieces have no spans. A reading is reported per predicate.
        """
        frames: list[dict[int, Frame]] = [{} for _ in sentences]
        for batch, logits in self.scores(sentences, predicates, on_readings):
            scores = log_softmax(logits, axis=-1) if self.exact else softmax(logits, axis=-1)
            paths = self._constraints.decode(scores, [len(reading.pieces.ids) for reading in batch])
            for reading, path, row in zip(batch, paths, scores, strict=True):
                assert reading.predicate is not None  # noqa: S101 - `scores` reads marked sentences only
                final = self._constraints.unique(path, row[: len(path)]) if self.exact else path
                tags = [self.labels[i] for i in final[list(reading.pieces.starts)]]
                frames[reading.sentence][reading.predicate] = Frame(reading.predicate, spans_of(tags))
        return [
            tuple(of_sentence.get(i, Frame(i, ())) for i in wanted)
            for of_sentence, wanted in zip(frames, predicates, strict=True)
        ]

    def scores(
        self, sentences: Sequence[Words], predicates: Sequence[Sequence[int]], on_readings: OnRows = ignore_rows
    ) -> Iterator[tuple[list[_Reading], NDArray[np.float32]]]:
        """Yield batches of readings with their logits, (n, t, n_labels), one reading per predicate."""
        readings = []
        for number, (words, positions) in enumerate(zip(sentences, predicates, strict=True)):
            if self._reads(pieces := self.wordpieces.cut(words)):
                readings += [_Reading(number, pieces, position) for position in dict.fromkeys(positions)]
        return self._run(readings, on_readings)

    def _reads(self, pieces: Pieces) -> bool:
        return len(pieces.ids) <= self.longest

    def _run(
        self, readings: Sequence[_Reading], on_readings: OnRows
    ) -> Iterator[tuple[list[_Reading], NDArray[np.float32]]]:
        batches = list(_batches(readings, self.batch_pieces))
        done = 0
        with one_thread_a_batch(self.threads if len(batches) > 1 else 1) as pool:
            for batch, logits in zip(batches, (pool.map if pool else map)(self._logits, batches), strict=True):
                yield batch, logits
                done += len(batch)
                on_readings(done, len(readings))

    def _logits(self, batch: Sequence[_Reading]) -> NDArray[np.float32]:
        """Return the logits of the tags, or of the predicate if none is marked, (n, t, n_labels or 1)."""
        import torch

        device = next(self.network.parameters()).device
        ids, types, mask = (torch.from_numpy(array).to(device) for array in _arrays(batch))
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=self.bfloat16):
            if batch[0].predicate is None:
                logits = self.network.predicate_logits(ids, mask).unsqueeze(-1)
            else:
                logits = self.network(ids, types, mask)
        numbers: NDArray[np.float32] = logits.float().cpu().numpy()
        return numbers


def _batches(readings: Iterable[_Reading], batch_pieces: int) -> Iterator[list[_Reading]]:
    """Yield the readings, longest first, in batches of at most `batch_pieces` pieces, including padding."""
    waiting = sorted(readings, key=lambda reading: -len(reading.pieces.ids))
    start = 0
    while start < len(waiting):
        size = max(1, batch_pieces // padded_length(len(waiting[start].pieces.ids)))
        yield waiting[start : start + size]
        start += size


def _arrays(batch: Sequence[_Reading]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return vocabulary indices, token types and mask of a batch, each (n, t)."""
    ids = pad([np.array(reading.pieces.ids) for reading in batch])
    types = np.zeros_like(ids)
    for row, reading in enumerate(batch):
        if reading.predicate is not None:
            types[row, reading.pieces.starts[reading.predicate] : reading.pieces.ends[reading.predicate] + 1] = 1
    return ids, types, present([len(reading.pieces.ids) for reading in batch]).astype(np.int64)
