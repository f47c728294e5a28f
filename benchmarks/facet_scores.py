"""How well facets of an encoder follow their metrics on the dev pairs of any stores: Spearman x 100.

    python benchmarks/facet_scores.py ENCODER STORE [STORE ...]      folders of an S3BERT, and of stores with dev pairs

Beside each mean over facets stands that of the start model's whole embedding (SB-full), and on how many facets the
encoder is above it. `facetflow evaluate` gives the same on the store that an encoder was trained from; this is for
others, such as BAMBOO's dev pairs with the graphs supplied with them. `--facets` prints every facet.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from features.models import locate
from training.data.measured_pairs import MeasuredPairs
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import FacetLayout
from training.similarity import cosines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", type=Path)
    parser.add_argument("stores", nargs="+", type=Path)
    parser.add_argument("--start", default="all-MiniLM-L6-v2", help="the start model")
    parser.add_argument("--facets", action="store_true", help="print every facet")
    arguments = parser.parse_args()
    model, start = load_encoder(arguments.encoder), load_encoder(locate(arguments.start))
    layout = FacetLayout.load(arguments.encoder)
    print("corpus,pairs,facets,SB-full,above SB-full" + "".join(f",{name}" for name in layout.names * arguments.facets))
    for store in arguments.stores:
        data = MeasuredPairs.from_store(store).select(splits=("dev",), kinds=("positive",))
        own, whole = (each.encode(list(data.texts), batch_size=64, show_progress_bar=False) for each in (model, start))
        for corpus in sorted(set(data.pairs["corpus"])):
            rows = (data.pairs["corpus"] == corpus).to_numpy()
            left, right = data.first[rows], data.second[rows]
            similar, full = layout.similarities(own[left], own[right]), cosines(whole[left], whole[right])
            metrics = data.metrics(layout.names)[rows]
            varied = np.flatnonzero(np.ptp(metrics, axis=0))
            by_facet = np.array([spearmanr(similar[:, k], metrics[:, k])[0] for k in varied])
            by_whole = np.array([spearmanr(full, metrics[:, k])[0] for k in varied])
            above = f"{(by_facet > by_whole).sum()} of {len(varied)}"
            row = [corpus, len(left), f"{100 * by_facet.mean():.1f}", f"{100 * by_whole.mean():.1f}", above]
            row += [f"{100 * value:.1f}" for value in by_facet] if arguments.facets else []
            print(",".join(map(str, row)))


if __name__ == "__main__":
    main()
