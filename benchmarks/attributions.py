"""Which words make sentences similar, by two methods, beside the alignment of their graphs: agreement and time.

    python benchmarks/attributions.py [ENCODER]        the encoder that comes with facetflow by default

Of the 96 pairs of the built-in example: for each word that a graph written by hand aligns with a word of the other
sentence, whether the largest of its shares is with that word, in both directions; all words, and those that the other
sentence has not. `outputs` divides the cosine among what the encoder has read at each word, `inputs` among the words
themselves (integrated Jacobians); `texts` is the nearest word with the same stem, else the one at the same place.
Processor time is of one thread.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from features.graphs.penman_files import read_blocks
from features.metrics.explanation.comparing import ComparedGraphs
from features.metrics.explanation.pair import explain_graphs
from features.metrics.explanation.tokens import stem_of
from features.models import BUNDLED_ENCODER, locate
from training.attribution import WHOLE, attribute
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import FacetLayout

EXAMPLE = files("features.corpora.example")
FACETS = (WHOLE, "srl")
Shares = Callable[[str, str], tuple[Sequence[str], Sequence[str], NDArray[np.float64]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", type=Path, nargs="?", default=locate(BUNDLED_ENCODER))
    folder = parser.parse_args().encoder
    torch.set_num_threads(1)
    layout = FacetLayout.load(folder)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(
        ["shares", "facet", "words aligned", "agree", "other words aligned", "agree, other words", "seconds a pair"]
    )
    _write(writer, "texts", "", _by_text)
    for name, facet in product(("outputs", "inputs"), FACETS):
        _write(writer, name, facet, partial(_by_encoder, load_encoder(folder, device="cpu"), layout, facet, name))


def _by_encoder(
    model: SentenceTransformer, layout: FacetLayout, facet: str, name: str, a: str, b: str
) -> tuple[Sequence[str], Sequence[str], NDArray[np.float64]]:
    found = attribute(model, layout, a, b, facet, inputs=name == "inputs")
    return found.words_a, found.words_b, found.shares


def _write(writer, name: str, facet: str, shares: Shares) -> None:
    begun, agree, others = time.process_time(), [], []
    pairs = list(_aligned())
    for (a, b), aligned in pairs:
        words_a, words_b, found = shares(a, b)
        for ours, theirs, other in aligned:
            i, j = _at(words_a, a, ours), _at(words_b, b, theirs)
            if i is None or j is None:
                continue
            kept = [[n for n, word in enumerate(words) if not word.startswith("[")] for words in (words_a, words_b)]
            right = [kept[1][int(found[i, kept[1]].argmax())] == j, kept[0][int(found[kept[0], j].argmax())] == i]
            agree += right
            others += right if other else []
    seconds = (time.process_time() - begun) / len(pairs)
    cells = [f"{100 * np.mean(each):.0f}" for each in (agree, others)]
    writer.writerow([name, facet, len(agree) // 2, cells[0], len(others) // 2, cells[1], f"{seconds:.2f}"])
    sys.stdout.flush()


def _aligned() -> Iterator[tuple[tuple[str, str], list[tuple[int, int, bool]]]]:
    """Yield both sentences, and the positions of words whose nodes are aligned, with whether they are other words."""
    table = pl.read_csv((EXAMPLE / "pairs.tsv").read_bytes(), separator="\t", quote_char=None)
    sides = [[block.graph for block in read_blocks(Path(str(EXAMPLE / f"graphs_{side}.amr")))] for side in "ab"]
    sentences = zip(table["sentence_a"], table["sentence_b"], strict=True)
    for pair, texts in zip(explain_graphs(list(zip(*sides, strict=True))), sentences, strict=True):
        left, right = ComparedGraphs(pair, texts).anchors
        words = {(left[a], right[b]) for a, b in pair.alignment if a in left and b in right}
        yield texts, sorted((a.start, b.start, a.stem != b.stem) for a, b in words)


def _at(words: Sequence[str], text: str, start: int) -> int | None:
    """Return which of the words of an encoder begins at a character of the sentence."""
    reached = 0
    for number, word in enumerate(words):
        if not word.startswith("["):
            reached = text.index(word, reached)
            if reached == start:
                return number
            reached += len(word)
    return None


def _by_text(a: str, b: str) -> tuple[Sequence[str], Sequence[str], NDArray[np.float64]]:
    words = [text.replace(".", " .").split() for text in (a, b)]
    stems = [[stem_of(word) for word in side] for side in words]
    same = np.array([[left == right for right in stems[1]] for left in stems[0]], dtype=np.float64)
    places = [np.linspace(0, 1, len(side)) for side in words]
    return words[0], words[1], 2 * same - np.abs(places[0][:, None] - places[1])


if __name__ == "__main__":
    main()
