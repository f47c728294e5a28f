"""Encoding: an encoder as facetflow loads it beside the same one as sentence-transformers does, in one thread.

    python benchmarks/encoding.py [TEXTS] [--model all-MiniLM-L6-v2] [--rounds 5]

Encodes the same texts by turns, and prints the median of texts a second of processor time, its ratio to that of
sentence-transformers, and how much cosines of neighbouring lines differ at most and on average. In float32 both are the
same on processors where MKL is fast. TEXTS has a text a line; without it the sentences of the built-in example are
encoded.
"""

import argparse
import csv
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from features.models import locate
from features.parsers.sentence_encoder import load
from features.parsers.settings import EmbeddingSettings
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
    models: dict[str, Any] = {
        "sentence-transformers": SentenceTransformer(str(folder), device="cpu", local_files_only=True),
        "facetflow": load_encoder(folder, device="cpu"),
        "facetflow, bfloat16": load(EmbeddingSettings(model=arguments.model, device="cpu", precision="bfloat16")),
    }
    taken: dict[str, list[float]] = {name: [] for name in models}
    cosines = {}
    for _ in range(arguments.rounds):
        for name, model in models.items():
            begun = time.process_time()
            if isinstance(model, SentenceTransformer):
                vectors = model.encode(texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
            else:
                vectors = model.encode(texts)
            taken[name].append(time.process_time() - begun)
            cosines[name] = (vectors[1:] * vectors[:-1]).sum(axis=1)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    plain = medians["sentence-transformers"]
    for name, seconds in medians.items():
        apart = np.abs(cosines[name] - cosines["sentence-transformers"])
        print(
            f"{name:24}{len(texts) / seconds:8,.0f} texts/s {plain / seconds:5.2f}x"
            f"   cosines apart: at most {apart.max():.1e}, mean {apart.mean():.1e}"
        )


def _example() -> list[str]:
    with _EXAMPLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [row[column] for row in rows for column in ("sentence_a", "sentence_b")]


if __name__ == "__main__":
    main()
