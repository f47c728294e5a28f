"""Encoding in float32: an encoder as facetflow loads it beside the same one as sentence-transformers does.

    python benchmarks/encoding.py [TEXTS] [--model all-MiniLM-L6-v2] [--rounds 5]

Encodes the same texts by turns in one thread, and prints processor time, the ratio of the medians, and the largest
difference between the embeddings. On processors where MKL is fast both are the same, and the script says so. TEXTS has
a text a line; without it the sentences of the built-in example are encoded.
"""

import argparse
import csv
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from features.models import locate
from features.parsers.onednn import mkl_is_slow
from training.encoders.loading import load_encoder

_EXAMPLE = Path(__file__).parents[1] / "features/corpora/example/pairs.tsv"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="?", type=Path, help="a text a line")
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="name or folder")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    folder = locate(arguments.model)
    texts = arguments.texts.read_text(encoding="utf-8").splitlines() if arguments.texts else _example()
    models = {
        "sentence-transformers": SentenceTransformer(str(folder), device="cpu", local_files_only=True),
        "facetflow": load_encoder(folder, device="cpu"),
    }
    taken: dict[str, list[float]] = {name: [] for name in models}
    found = {}
    for _ in range(arguments.rounds):
        for name, model in models.items():
            begun = time.process_time()
            found[name] = model.encode(texts, batch_size=64, show_progress_bar=False)
            taken[name].append(time.process_time() - begun)
    plain, own = (statistics.median(values) for values in taken.values())
    for name, seconds in zip(models, (plain, own), strict=True):
        print(f"{name:24}{len(texts) / seconds:8,.0f} texts/s")
    difference = np.abs(np.subtract(*found.values())).max()
    why = "by oneDNN" if mkl_is_slow() else "both by MKL: this processor is one where it is fast"
    print(f"{plain / own:.2f} times as fast ({why}); largest difference of a coordinate {difference:.1e}")


def _example() -> list[str]:
    with _EXAMPLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row[column] for row in rows for column in ("sentence_a", "sentence_b")]


if __name__ == "__main__":
    main()
