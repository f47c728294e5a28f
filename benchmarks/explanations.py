"""How reliable the values predicted by `facetflow explain` are, on pairs that an encoder was not trained on.

    python benchmarks/explanations.py ENCODER --store STORE            release, dev pairs and metrics from the store
    python benchmarks/explanations.py ENCODER --table pairs.parquet    the same from an export

Some dev pairs are drawn and set aside; the predictions are recalibrated on the other dev pairs, so that no pair is
predicted by a map that has seen it. (The encoder of the project is calibrated on all of them, and was chosen by their
loss.) For comparison: the predictions without a calibration, offset + β · similarity. Without an encoder nothing is
done.
"""

import argparse
from pathlib import Path

import numpy as np

from training.data.measured_pairs import MeasuredPairs
from training.encoders.loading import load_encoder
from training.encoders.s3bert.facets import FacetLayout
from training.jobs import Source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("encoder", nargs="?", type=Path, help="folder of an encoder")
    parser.add_argument("--store", type=Path, help="folder of the store that it was trained on")
    parser.add_argument("--release", type=int, help="of the store; the latest by default")
    parser.add_argument("--table", type=Path, help="exported pairs instead of a store")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--corpora", nargs="*", default=[], help="all of the split by default")
    parser.add_argument("--pairs", type=int, default=300, help="number of pairs to predict")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.encoder is None:
        print("explanations: skipped; give the folder of an encoder, and its store with --store")
        return
    if (arguments.store is None) == (arguments.table is None):
        parser.error("give --store or --table")
    source = Source(store=arguments.store, release=arguments.release, pairs=arguments.table)
    data = source.read(MeasuredPairs).select(splits=(arguments.split,), kinds=("positive",), corpora=arguments.corpora)
    layout = FacetLayout.load(arguments.encoder)
    similarities, same = embed(arguments.encoder, layout, data)
    measured = data.metrics(layout.names).astype(np.float64)
    order = np.random.default_rng(arguments.seed).permutation(len(data))
    held_out, others = order[: arguments.pairs], order[arguments.pairs :]
    fitted = layout.calibrated(similarities[others], measured[others])
    print(f"{len(held_out)} pairs of {sorted(set(data.pairs['corpus']))}, calibrated on {len(others)} others")
    report(fitted, similarities[held_out], measured[held_out], same)


def embed(folder: Path, layout: FacetLayout, data: MeasuredPairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the similarities of the pairs, and those of each sentence with itself, (n, n_facets)."""
    vectors = load_encoder(folder).encode(list(data.texts), batch_size=64, convert_to_numpy=True)
    return layout.similarities(vectors[data.first], vectors[data.second]), layout.similarities(vectors, vectors)


def report(layout: FacetLayout, similarities: np.ndarray, measured: np.ndarray, same: np.ndarray) -> None:
    """Print a row for each facet, and a summary."""
    before, after = layout.scaled(similarities), layout.predictions(similarities)
    itself = layout.predictions(same)
    errors = [np.abs(predicted - measured).mean(axis=0) for predicted in (before, after)]
    outside = [((predicted < 0) | (predicted > 1)).mean(axis=0) for predicted in (before, after)]
    titles = ("error before", "error now", "outside before", "now", "equal: before", "now", "Spearman (95 %)")
    print(f"{'facet':16}" + "".join(f"{title:>16}" for title in titles))
    for k, facet in enumerate(layout.facets):
        known = facet.reliability
        cells = (
            f"{errors[0][k]:.3f}",
            f"{errors[1][k]:.3f}",
            f"{100 * outside[0][k]:.1f} %",
            f"{100 * outside[1][k]:.1f} %",
            f"{layout.scaled(same).min(axis=0)[k]:.3f}",
            f"{itself.min(axis=0)[k]:.3f}",
            f"{known.spearman:.2f} ({known.low:.2f})" if known and known.low is not None else "–",
        )
        print(f"{facet.name:16}" + "".join(f"{cell:>16}" for cell in cells))
    lower = int((errors[1] < errors[0]).sum())
    print(f"mean error {errors[0].mean():.3f} before, {errors[1].mean():.3f} now; lower in {lower} of {len(errors[0])}")
    print(f"within the range: {100 * (1 - outside[0].mean()):.1f} % before, {100 * (1 - outside[1].mean()):.1f} % now")


if __name__ == "__main__":
    main()
