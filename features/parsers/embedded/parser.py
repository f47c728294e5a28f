"""From sentences to PENMAN, in two passes: over batches of similarly long sentences, then of similarly large graphs.

text ── words, word pieces ── [encoder, labels of words] ── nodes ── [arcs, roles, root] ── connected graph ── PENMAN

A graph is made of the scores of pairs of nodes: every pair above the threshold is an edge, in its better direction;
components that are still separate are joined by the best remaining pairs (Kruskal 1956). A leaf (a constant, a name)
has one parent and no children, however low its best score.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features import models
from features.core.faults import ModelDamaged
from features.core.types import OnRows, ignore_rows
from features.parsers.devices import (
    batches_side_by_side,
    computes_in_bfloat16,
    in_batches,
    one_thread_a_batch,
    resolve_device,
)
from features.parsers.embedded.inputs import SentenceReader, TextIds, node_tensors, text_tensors
from features.parsers.embedded.nodes import FlatGraph, is_concept, write_penman
from features.parsers.embedded.storage import Description, read_description, read_weights
from features.parsers.embedded.vocabulary import Slot, is_script, lemma_of, realise
from features.parsers.embedded.words import Word, split_words
from features.parsers.settings import AmrSettings

if TYPE_CHECKING:
    import torch

    from features.parsers.embedded.network import Network

Scores = NDArray[np.float32]
_NEVER = np.float32(-1e9)
_NO_CONCEPT = "thing"  # the graph of a sentence in which no word carries a concept
_CANDIDATES = 6
_FARTHEST_CANDIDATE = 3.0  # score below the best
_SENTENCES_AT_ONCE = 1024  # sentences sorted together; with more, memory would grow with the number of sentences


@dataclass(frozen=True, slots=True)
class _Read:
    """A sentence as input of the network."""

    text: str
    words: list[Word]
    ids: TextIds


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A sentence whose nodes are known; `states` are those of its words, shape (n_words, width)."""

    states: "torch.Tensor"
    nodes: NDArray[np.int64]  # word, place and concept of each, shape (n_nodes, 3)
    labels: list[str]


class EmbeddedParser:
    """Parses sentences with a model of `features.parsers.embedded`.

    The network is on the device and in the precision in which it computes; `threads` batches are computed in parallel,
    one thread each.
    """

    def __init__(
        self, description: Description, network: "Network", reader: SentenceReader, batch_size: int, threads: int
    ) -> None:
        self.description = description
        self._network, self._reader = network.eval(), reader
        self._batch_size, self._threads = batch_size, threads
        self._vocabulary = description.vocabulary
        # A script whose result is not a known word gives way to the next label that yields one.
        self._known_lemmas = self._vocabulary.lemmas | reader.spelt_words()
        self._is_script = np.array([is_script(label) for label in self._vocabulary.primaries])
        self.thresholds = description.thresholds

    def parse(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> list[str]:
        """Return the graph of each sentence in PENMAN, in order; that of an empty one is a single node.

        Progress is reported in sentences; one whose nodes are found is half done.
        """
        graphs: list[str] = []
        on_rows(0, len(texts))
        with one_thread_a_batch(self._threads) as pool:
            batches = partial(in_batches, batch_size=self._batch_size, pool=pool)
            for start in range(0, len(texts), _SENTENCES_AT_ONCE):
                read = [self._read(text) for text in texts[start : start + _SENTENCES_AT_ONCE]]

                def tell(halves: int, before: int = 2 * start) -> None:
                    on_rows((before + halves) // 2, len(texts))

                labelled = batches(self._label, read, size=lambda item: len(item.ids.pieces), on_items=tell)
                tell_rest = partial(tell, before=2 * start + len(read))
                graphs += batches(self._relate, labelled, size=lambda item: len(item.labels), on_items=tell_rest)
        return graphs

    def fits(self, text: str) -> bool:
        """Return whether the encoder reads the whole sentence."""
        # No word piece is shorter than a character, so short texts need no check.
        return len(text) < self._reader.longest or self._reader.count(split_words(text)) <= self._reader.longest

    def _read(self, text: str) -> _Read:
        words = split_words(text) or [Word(".", 0, 0)]
        return _Read(text, words, self._reader.ids([word.text for word in words]))

    def _label(self, batch: Sequence[_Read]) -> list[_Labelled]:
        """Return the nodes of each sentence."""
        import torch

        device = self._network.piece_table.device
        with torch.inference_mode():
            states = self._network.words(text_tensors([item.ids for item in batch], device, multiple=1))
            primaries, senses, wrappers = self._word_labels(states, [item.words for item in batch])
        labelled = []
        for number, item in enumerate(batch):
            n = len(item.words)
            chosen = primaries[number, :n].tolist(), wrappers[number, :n].tolist(), senses[number]
            slots, labels = realise(item.text, item.words, *chosen, self._vocabulary)
            if not any(map(is_concept, labels)):
                slots, labels = [*slots, Slot(0, 1)], [*labels, _NO_CONCEPT]
            rows = zip(slots, labels, strict=True)
            nodes = np.array([(*slot, self._vocabulary.concept_id(label)) for slot, label in rows], np.int64)
            labelled.append(_Labelled(states[number, :n], nodes, labels))
        return labelled

    def _relate(self, batch: Sequence[_Labelled]) -> list[str]:
        """Return the graph of each sentence in PENMAN."""
        import torch

        leaves = [np.array([not is_concept(label) for label in item.labels]) for item in batch]
        with torch.inference_mode():
            words = torch.nn.utils.rnn.pad_sequence([item.states for item in batch], batch_first=True)
            nodes = node_tensors([item.nodes for item in batch], words.device, multiple=1)
            states = self._network.nodes(words, nodes)
            arcs = self._network.arcs(states, nodes["node_words"]).cpu().numpy()
            roots = self._network.roots(states).cpu().numpy()
            edges = [
                connect(scores[: len(row), : len(row)], row, self.thresholds.arc)
                for scores, row in zip(arcs, leaves, strict=True)
            ]
            roles = self._roles(states, edges)
        graphs = []
        for number, (item, row_edges, row_roles) in enumerate(zip(batch, edges, roles, strict=True)):
            score = np.where(leaves[number], -np.inf, roots[number, : len(item.labels)])
            named = [
                (source, self._vocabulary.roles[role], target)
                for (source, target), role in zip(row_edges.tolist(), row_roles, strict=True)
            ]
            graphs.append(write_penman(FlatGraph(item.labels, named, int(score.argmax()))))
        return graphs

    def _word_labels(
        self, states: "torch.Tensor", words: Sequence[list[Word]]
    ) -> tuple[NDArray[np.int64], Scores, NDArray[np.int64]]:
        """Return the class of each word's primary label, the scores of its senses, and the class of its wrapper."""
        import torch

        scores = self._network.primary(states).float()
        scores[..., 0] += self.thresholds.primary
        best_scores, best = scores.topk(min(_CANDIDATES, scores.shape[-1]), dim=-1)
        primaries = self._known(best_scores.cpu().numpy(), best.cpu().numpy(), words)
        senses, wrappers = self._network.given_primary(states, torch.from_numpy(primaries).to(states.device))
        wrappers = wrappers.float()
        wrappers[..., 0] += self.thresholds.wrapper
        return primaries, senses.float().cpu().numpy(), wrappers.argmax(-1).cpu().numpy()

    def _known(self, scores: Scores, candidates: NDArray[np.int64], words: Sequence[list[Word]]) -> NDArray[np.int64]:
        """Return the best label of each word that yields a known lemma; the best of all if none does."""
        chosen = candidates[..., 0].copy()
        labels = self._vocabulary.primaries
        for sentence, position in zip(*np.nonzero(self._is_script[chosen]), strict=True):
            if position >= len(words[sentence]):
                continue
            word = words[sentence][position].text
            if lemma_of(labels[chosen[sentence, position]], word) in self._known_lemmas:
                continue
            row = scores[sentence, position]
            for score, candidate in zip(row[1:], candidates[sentence, position, 1:], strict=True):
                if candidate == 0 or row[0] - score > _FARTHEST_CANDIDATE:
                    break
                if not self._is_script[candidate] or lemma_of(labels[candidate], word) in self._known_lemmas:
                    chosen[sentence, position] = candidate
                    break
        return chosen

    def _roles(self, states: "torch.Tensor", edges: Sequence[NDArray[np.int64]]) -> list[list[int]]:
        """Return the class of the role of each edge."""
        import torch

        counts = [len(row) for row in edges]
        if not sum(counts):
            return [[] for _ in edges]
        columns = np.column_stack([np.repeat(np.arange(len(edges)), counts), np.concatenate(edges)])
        scores = self._network.roles(states, *torch.from_numpy(columns).to(states.device).unbind(1))
        classes = scores.argmax(-1).cpu().numpy()
        return [of_sentence.tolist() for of_sentence in np.split(classes, np.cumsum(counts)[:-1])]


def connect(scores: Scores, leaves: NDArray[np.bool_], threshold: float) -> NDArray[np.int64]:
    """Return the edges of one sentence.

    Args:
        scores: log-odds of an edge from each node to each other, shape (n_nodes, n_nodes).
        leaves: which nodes are leaves, shape (n_nodes,); at least one is not.
        threshold: log-odds from which a pair is an edge.

    Returns:
        Source and target of each edge, shape (n_edges, 2), the most certain first; the graph is connected.
    """
    allowed = scores.astype(np.float32)
    np.fill_diagonal(allowed, _NEVER)
    allowed[leaves] = _NEVER
    for child in np.flatnonzero(leaves):
        parent = int(allowed[:, child].argmax())
        score = max(allowed[parent, child], np.float32(threshold + 1))
        allowed[:, child] = _NEVER
        allowed[parent, child] = score
    either = np.maximum(allowed, allowed.T)
    left, right = np.triu_indices(len(scores), 1)
    order = np.argsort(-either[left, right], kind="stable")
    left, right = left[order], right[order]
    certain = either[left, right] > np.float32(threshold)
    forward = allowed[left, right] >= allowed[right, left]
    piece = list(range(len(scores)))  # the component of each node
    apart = len(scores) - 1
    edges = []
    for a, b, is_certain, is_forward in zip(*(row.tolist() for row in (left, right, certain, forward)), strict=True):
        if piece[a] != piece[b]:
            joined, apart = piece[b], apart - 1
            piece = [piece[a] if own == joined else own for own in piece]
        elif not is_certain:
            if not apart:
                break
            continue
        edges.append((a, b) if is_forward else (b, a))
    return np.array(edges, np.int64).reshape(-1, 2)


def takes_bfloat16(precision: str, device: str) -> bool:
    """Return whether the network computes in bfloat16: with `auto` on a CPU that is faster in it."""
    # On an H100 float32 parses 1.7 times as many sentences a second, and gives the graphs that a CPU gives.
    return computes_in_bfloat16(precision, device) and (precision == "bfloat16" or device == "cpu")


def load_parser(folder: Path, settings: AmrSettings) -> EmbeddedParser:
    """Load a model from its folder, with `model.json` and `model.safetensors`; for the precision see `takes_bfloat16`.

    Raises:
        ModelError: torch, the base encoder or a file is missing, or the weights do not match their description.
        SettingsError: this process does not see the device.
    """
    device = resolve_device(settings.device)
    import torch

    from features.parsers.bert import read_shape
    from features.parsers.embedded.network import Network
    from features.parsers.onednn import use_onednn

    description = read_description(folder, Description)
    base_folder = models.locate(description.base)
    encoder = read_shape(base_folder)
    try:
        # Not on the device `meta`: torch then imports its compiler to initialise an embedding, which takes a second.
        network = Network(description.network_shape(), encoder)
        network.load_state_dict(read_weights(folder))
        network.fill_tables(base_folder)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ModelDamaged(
            f"The weights in {str(folder)!r} do not match their description or the encoder {base_folder.name!r}"
            f" ({' '.join(str(error).split())[:200]}); install the model again."
        ) from error
    network.to(device, torch.bfloat16 if takes_bfloat16(settings.precision, device) else torch.float32)
    use_onednn(network)
    reader = SentenceReader(base_folder, encoder.positions)
    threads = batches_side_by_side(settings.threads, device)
    return EmbeddedParser(description, network, reader, settings.batch_size, threads)
