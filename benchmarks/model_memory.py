"""How much memory a worker needs for the models of a stage: the figures in `features/stages`.

    python benchmarks/model_memory.py [amr,srl,dependencies,embeddings]

Does what a worker does (imports, then one stage after the other on 256 sentences of the built-in example, not in the
main thread, with one thread of computation), and prints the resident memory of the process after each step, next to the
size of the models' files.
"""

import csv
import importlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import psutil

_EXAMPLE = Path(__file__).parents[1] / "features/corpora/example/pairs.tsv"
_SENTENCES = 256
_STAGES = ("amr", "srl", "dependencies", "embeddings")
_MIB = 1 << 20


def main() -> None:
    stages = sys.argv[1].split(",") if len(sys.argv) > 1 else list(_STAGES)
    if unknown := [name for name in stages if name not in _STAGES]:
        sys.exit(f"there is no stage {unknown[0]!r}; there are: {','.join(_STAGES)}")
    for name in ("OMP", "MKL", "OPENBLAS", "NUMBA", "RAYON"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    print(f"{'python':24}{_resident():8.0f} MiB")
    for module in ("distributed.nanny", "distributed.worker", "prefect.task_engine", "prefect_dask", "tasks.shard"):
        importlib.import_module(module)

    print(f"{'Dask, Prefect, tasks':24}{_resident():8.0f} MiB")
    with ThreadPoolExecutor(1) as thread:  # as Dask does
        thread.submit(_run, stages).result()


def _run(names: list[str]) -> None:
    for library in ("torch", "sentence_transformers", "spacy"):
        before = _resident()
        importlib.import_module(library)
        print(f"{library:24}{_resident() - before:+8.0f} MiB")

    from features.core.types import ignore_rows
    from features.stages.registry import STAGES

    inputs: Any = _Inputs(_sentences())
    for name in names:
        stage, before = STAGES[name], _resident()
        settings = stage.settings()
        stage.make(inputs, settings, ignore_rows)
        files = sum(size for _, size in stage.models(settings).bytes) / _MIB
        print(f"{name:24}{_resident() - before:+8.0f} MiB, of which files of models {files:.0f} MiB")
    print(f"{'total':24}{_resident():8.0f} MiB")


class _Inputs:
    def __init__(self, sentences: pl.DataFrame) -> None:
        self._sentences = sentences

    def read(self, table: str, where: pl.Expr | None = None) -> pl.DataFrame:
        return self._sentences


def _sentences() -> pl.DataFrame:
    with _EXAMPLE.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    texts = [row[column] for row in rows for column in ("sentence_a", "sentence_b")]
    chosen = (texts * (_SENTENCES // len(texts) + 1))[:_SENTENCES]
    return pl.DataFrame({"sentence_id": [str(i) for i in range(_SENTENCES)], "text": chosen})


def _resident() -> float:
    return psutil.Process().memory_info().rss / _MIB


if __name__ == "__main__":
    main()
