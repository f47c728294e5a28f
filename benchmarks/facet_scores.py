"""How well facets of an encoder follow their metrics on the dev pairs of any stores: Spearman x 100.

    python benchmarks/facet_scores.py ENCODER STORE [STORE ...]      folders of an S3BERT, and of stores with dev pairs

Beside each mean over facets stands that of the start model's whole embedding (SB-full), and on how many facets the
encoder is above it. `facetflow evaluate` gives the same on the store that an encoder was trained from; this is for
others, such as BAMBOO's dev pairs with the graphs supplied with them. `--facets` prints every facet.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sentence_transformers import SentenceTransformer

from features.models import locate
from training.data.measured_pairs import MeasuredPairs
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import FacetLayout
from training.similarity import cosines

START = "all-MiniLM-L6-v2"
ALL = "all"
"""Name of the scores of all corpora of a store together."""


@dataclass(frozen=True, slots=True)
class FacetScores:
    """Spearman × 100 with their metrics of the facets of an encoder, and of the start model's whole embedding."""

    corpus: str
    pairs: int
    own: dict[str, float]  # by facet, without those whose metric is the same for all pairs
    whole: dict[str, float]

    @property
    def mean(self) -> float:
        """Mean over the facets."""
        return float(np.mean(list(self.own.values())))

    @property
    def above(self) -> int:
        """Number of facets that are above the start model."""
        return sum(value > self.whole[name] for name, value in self.own.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", type=Path)
    parser.add_argument("stores", nargs="+", type=Path)
    parser.add_argument("--start", default=START, help="the start model")
    parser.add_argument("--facets", action="store_true", help="print every facet")
    arguments = parser.parse_args()
    names = FacetLayout.load(arguments.encoder).names
    print("corpus,pairs,facets,SB-full,above SB-full" + "".join(f",{name}" for name in names * arguments.facets))
    for store in arguments.stores:
        for found in by_corpus(arguments.encoder, store, arguments.start):
            whole = np.mean(list(found.whole.values()))
            above = f"{found.above} of {len(found.own)}"
            row = [found.corpus, found.pairs, f"{found.mean:.1f}", f"{whole:.1f}", above]
            row += [f"{found.own[name]:.1f}" if name in found.own else "" for name in names * arguments.facets]
            print(",".join(map(str, row)))


def by_corpus(encoder: Path, store: Path, start: str = START) -> Iterator[FacetScores]:
    """Yield the scores of an encoder on the dev pairs of a store: of each corpus, then of all.

    Args:
        encoder: folder of an S3BERT.
        store: folder of a store with dev pairs.
        start: name of the model whose whole embedding is scored beside it.
    """
    layout, data = FacetLayout.load(encoder), _dev_pairs(store)
    own, whole = _encode(load_encoder(encoder), data), _by_start(start, store)
    corpora = data.pairs["corpus"].to_numpy()
    for corpus in (*sorted(set(corpora)), ALL):
        rows = np.flatnonzero((corpora == corpus) | (corpus == ALL))
        left, right = data.first[rows], data.second[rows]
        similar, full = layout.similarities(own[left], own[right]), cosines(whole[left], whole[right])
        metrics = data.metrics(layout.names)[rows]
        varied = [(k, name) for k, name in enumerate(layout.names) if np.ptp(metrics[:, k])]
        yield FacetScores(
            corpus=corpus,
            pairs=len(rows),
            own={name: 100 * float(spearmanr(similar[:, k], metrics[:, k])[0]) for k, name in varied},
            whole={name: 100 * float(spearmanr(full, metrics[:, k])[0]) for k, name in varied},
        )


@lru_cache
def _dev_pairs(store: Path) -> MeasuredPairs:
    return MeasuredPairs.from_store(store).select(splits=("dev",), kinds=("positive",))


@lru_cache
def _by_start(start: str, store: Path) -> NDArray[np.float32]:
    """Return the start model's embeddings of the sentences of the dev pairs of a store, (n_texts, d)."""
    return _encode(load_encoder(locate(start)), _dev_pairs(store))


def _encode(model: SentenceTransformer, data: MeasuredPairs) -> NDArray[np.float32]:
    return np.asarray(model.encode(list(data.texts), batch_size=64, show_progress_bar=False))


if __name__ == "__main__":
    main()
