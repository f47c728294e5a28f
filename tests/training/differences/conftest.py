"""Handmade evaluations: the results of two suites on some pairs, without an encoder."""

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pytest

from training.evaluation.run import FORMAT
from training.writing import write_json

Pair = tuple[str, str, float, float]
"""Both sentences, what people say, and the encoder."""


@pytest.fixture
def evaluated(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes an evaluation of rated pairs, judged pairs, or both."""

    def write(name: str, rated: Sequence[Pair] = (), judged: Sequence[Pair] = (), *, scored_by: str = "cosine") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        suites = {}
        if rated:
            columns = dict(zip(("text_a", "text_b", "score", "similarity"), zip(*rated, strict=True), strict=True))
            pl.DataFrame({"set": ["sts"] * len(rated), **columns}).write_parquet(folder / "ratings.parquet")
            suites["ratings"] = {"rows": [{"name": "sts", "encoder": 0.5, "pairs": len(rated)}], "data": {"sts": "0"}}
        if judged:
            first, second, labels, scores = zip(*judged, strict=True)
            columns = {"set": ["paws"] * len(judged), "text_a": first, "text_b": second, "score": scores}
            columns["label"] = ["yes" if label else "no" for label in labels]
            columns["predicted"] = [None] * len(judged)
            table = pl.DataFrame(columns, schema_overrides={"predicted": pl.String})
            table.write_parquet(folder / "paraphrase.parquet")
            labels = {"positive": "yes", "negative": "no"}
            found = {"name": "paws", "labels": labels, "scored_by": scored_by, "encoder": None}
            suites["paraphrase"] = {"rows": [found], "data": {"paws": "d"}}
        write_json(folder / "metrics.json", {"format": FORMAT, "suites": suites})
        return folder

    return write
