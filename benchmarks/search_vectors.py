"""Search by facets in a file that `facetflow encode` wrote: size of the file, seconds of a search.

    python benchmarks/search_vectors.py [--texts 1000000] [--precision int8] [--format arrow parquet]

The file is written by `encode_file`, with the facets of the encoder that comes with facetflow as columns. Only its
vectors are generated, around 200 centres, in place of a model's: encoding a million texts takes an hour, and what a
search costs does not depend on what the numbers are. A search ends with the texts of the ten nearest. Times are the
first search of a process, which opens the file, and the median of five more, in wall and processor seconds.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from features import models
from training.encoded_files import encode_file
from training.encoders.s3bert.facets import FacetLayout
from training.search.blocks import best_texts, weighted_scores
from training.search.texts import texts_of_file

_REPEATS = 5
SEARCHES = {
    "one facet": {"srl": 1.0},
    "three facets": {"srl": 2.0, "frames": 1.0, "named_entities": -1.0},
    "all fifteen facets": None,
    "the whole embedding": {},
}


class Generated:
    """Stands for a model: its embeddings are numbers around a few centres."""

    max_seq_length = tokenizer = None  # it reads everything

    def __init__(self, dimension: int) -> None:
        self._random = np.random.default_rng(0)
        self._centres = self._random.standard_normal((200, dimension), dtype=np.float32)

    def encode(self, texts: list[str], **options: object) -> np.ndarray:
        """Return an embedding of each text, (n, d)."""
        around = self._random.standard_normal((len(texts), self._centres.shape[1]), dtype=np.float32)
        return around + self._centres[self._random.integers(200, size=len(texts))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--precision", choices=["int8", "float16", "float32"], default="int8")
    parser.add_argument("--format", dest="formats", nargs="*", default=["arrow", "parquet"])
    arguments = parser.parse_args()
    encoder = models.locate(models.BUNDLED_ENCODER)
    layout = FacetLayout.load(encoder)
    model: Any = Generated(layout.dimension)
    query = model.encode(["a query"])
    print(f"{arguments.texts:,} texts, {layout.dimension} dimensions, {arguments.precision}")
    print(f"{'':32}{'first: wall s':>14}{'processor s':>13}{'then: wall s':>14}{'processor s':>13}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "texts.txt"
        with source.open("w") as file:
            file.writelines(
                f"Sentence {n} of a file with many sentences about nothing.\n" for n in range(arguments.texts)
            )
        for suffix in arguments.formats:
            output = Path(folder) / f"vectors.{suffix}"
            encode_file(model, encoder, source, output, layout=layout, precision=arguments.precision)
            print(f"vectors.{suffix}: {output.stat().st_size / 1e6:,.0f} MB")
            for name, chosen in SEARCHES.items():
                weights = dict.fromkeys(layout.names, 1.0) if chosen is None else chosen
                report(f"  {name}", searching(output, encoder, layout, query, weights))
            output.unlink()


def searching(
    file: Path, encoder: Path, layout: FacetLayout, query: np.ndarray, weights: dict[str, float]
) -> Callable[[], list[str]]:
    """Return a search, whose first call opens the file."""
    opened: list[Any] = []

    def search() -> list[str]:
        if not opened:
            searched = texts_of_file(file)
            opened.extend([searched, searched.encoded.vectors(encoder, None)])
        searched, vectors = opened
        scores = weighted_scores(query, vectors, layout, weights) if weights else vectors.cosines(query)
        return [searched.texts[at] for at in best_texts(scores, 10)]

    return search


def report(name: str, search: Callable[[], list[str]]) -> None:
    times = []
    for _ in range(1 + _REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        search()
        times.append((time.perf_counter() - wall, time.process_time() - processor))
    (wall, processor), *others = times
    walls, processors = zip(*others, strict=True)
    print(f"{name:32}{wall:14.3f}{processor:13.3f}{median(walls):14.3f}{median(processors):13.3f}")


if __name__ == "__main__":
    main()
