"""From sentences to PENMAN: batches of like length through the network, and each sentence through the decoder."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.parsers.embedded.connecting import connect
from features.parsers.embedded.edit_scripts import is_script
from features.parsers.embedded.inputs import WordPieces, node_tensors, padded_length, text_tensors
from features.parsers.embedded.nodes import FlatGraph, is_leaf
from features.parsers.embedded.penman_text import write_penman
from features.parsers.embedded.realising import Slot, lemma_of, realise
from features.parsers.embedded.senses import SenseChooser
from features.parsers.embedded.storage import Description
from features.parsers.embedded.words import Word, split_words

if TYPE_CHECKING:
    import torch

    from features.parsers.embedded.network import Network

_NO_CONCEPT = "thing"
"""The graph of a sentence in which no word carries a concept."""
_CANDIDATES = 6
_FARTHEST_CANDIDATE = 3.0  # in score, below the best
_EDGE_MULTIPLE = 256


class EmbeddedParser:
    """Parses sentences with a model of `features.parsers.embedded`.

    Args:
        description: of the model.
        network: with its weights, on the device and in the precision that it computes in.
        pieces: word pieces of the base encoder.
        batch_size: sentences a batch.
    """

    def __init__(self, description: Description, network: "Network", pieces: WordPieces, batch_size: int = 64) -> None:
        self.description = description
        self._network, self._pieces, self._batch_size = network.eval(), pieces, batch_size
        self._vocabulary = description.vocabulary
        self._senses = SenseChooser(self._vocabulary)
        # A script whose result is no known word gives way to the next label that gives one.
        self._known_lemmas = self._senses.lemmas | pieces.spelt_words()
        self._is_script = np.array([is_script(label) for label in self._vocabulary.primaries])
        self.thresholds = description.thresholds

    def parse(self, texts: Sequence[str]) -> list[str]:
        """Return the graph of each sentence in PENMAN, in order; that of an empty one is a single node."""
        words = [split_words(text) or [Word(".", 0, 0)] for text in texts]
        graphs: list[str] = [""] * len(texts)
        order = sorted(range(len(texts)), key=lambda position: len(words[position]))
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            parsed = self._parse_batch([texts[position] for position in batch], [words[position] for position in batch])
            for position, graph in zip(batch, parsed, strict=True):
                graphs[position] = write_penman(graph)
        return graphs

    def fits(self, text: str) -> bool:
        """Return whether the encoder reads the whole sentence."""
        # No word piece is shorter than a character, so short texts need no look.
        return len(text) < self._pieces.longest or self._pieces.count(split_words(text)) <= self._pieces.longest

    def _parse_batch(self, texts: Sequence[str], words: Sequence[list[Word]]) -> list[FlatGraph]:
        import torch

        device = self._network.piece_table.device
        with torch.inference_mode():
            ids = [self._pieces.ids([word.text for word in row]) for row in words]
            states = self._network.words(text_tensors(ids, device))
            primaries, senses, wrappers = self._word_labels(states, words)
            slots, labels = self._realise(texts, words, primaries, wrappers, senses)
            nodes = node_tensors([*map(self._node_ids, slots, labels)], device)
            node_states = self._network.nodes(states, nodes)
            arcs = self._network.arcs(node_states, nodes["node_words"]).cpu().numpy()
            roots = self._network.roots(node_states).cpu().numpy()
            leaves = [np.array([is_leaf(label) for label in row]) for row in labels]
            edges = [
                connect(scores[: len(row), : len(row)], row, self.thresholds.arc)
                for scores, row in zip(arcs, leaves, strict=True)
            ]
            roles = self._roles(node_states, edges)
        graphs = []
        for number, (row, row_edges, row_roles) in enumerate(zip(labels, edges, roles, strict=True)):
            score = np.where(leaves[number], -np.inf, roots[number, : len(row)])
            named = [
                (source, self._vocabulary.roles[role], target)
                for (source, target), role in zip(row_edges.tolist(), row_roles, strict=True)
            ]
            graphs.append(FlatGraph(row, named, int(score.argmax())))
        return graphs

    def _word_labels(
        self, states: "torch.Tensor", words: Sequence[list[Word]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
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

    def _known(
        self, scores: NDArray[np.float32], candidates: NDArray[np.int64], words: Sequence[list[Word]]
    ) -> NDArray[np.int64]:
        """Return the best label of each word that makes a known lemma; the best of all where none does."""
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

    def _realise(
        self,
        texts: Sequence[str],
        words: Sequence[list[Word]],
        primaries: NDArray[np.int64],
        wrappers: NDArray[np.int64],
        senses: NDArray[np.float32],
    ) -> tuple[list[list[Slot]], list[list[str]]]:
        slots, labels = [], []
        for number, (text, row) in enumerate(zip(texts, words, strict=True)):

            def sense_of(position: int, lemma: str, scores: NDArray[np.float32] = senses[number]) -> str:
                return self._senses.choose(lemma, scores[position])

            n = len(row)
            found = realise(
                text, row, primaries[number, :n].tolist(), wrappers[number, :n].tolist(), sense_of, self._vocabulary
            )
            if all(is_leaf(label) for label in found[1]):
                found = [*found[0], Slot(0, 1)], [*found[1], _NO_CONCEPT]
            slots.append(found[0])
            labels.append(found[1])
        return slots, labels

    def _node_ids(self, slots: Sequence[Slot], labels: Sequence[str]) -> NDArray[np.int64]:
        """Return word, place and concept of each node of a sentence, shape (n_nodes, 3)."""
        rows = zip(slots, labels, strict=True)
        return np.array([(*slot, self._vocabulary.concept_id(label)) for slot, label in rows], np.int64)

    def _roles(self, states: "torch.Tensor", edges: Sequence[NDArray[np.int64]]) -> list[list[int]]:
        """Return the class of the role of each edge."""
        import torch

        counts = [len(row) for row in edges]
        if not sum(counts):
            return [[] for _ in edges]
        columns = np.zeros((padded_length(sum(counts), _EDGE_MULTIPLE), 3), np.int64)
        columns[: sum(counts), 0] = np.repeat(np.arange(len(edges)), counts)
        columns[: sum(counts), 1:] = np.concatenate(edges)
        scores = self._network.roles(states, *torch.from_numpy(columns).to(states.device).unbind(1))
        classes = scores.argmax(-1)[: sum(counts)].tolist()
        ends = np.cumsum(counts).tolist()
        return [classes[end - count : end] for count, end in zip(counts, ends, strict=True)]
