"""Trees of the judged pairs, and trainings that take seconds."""

from pathlib import Path

import polars as pl
import pytest

from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from training.data.parses import Parses
from training.encoders.rgcn.settings import RgcnSettings
from training.jobs import Source, TrainingJob


@pytest.fixture(scope="session")
def parser(needs_model):
    """The parser of the trees."""
    needs_model("en_core_web_md")
    return load(DependencySettings())


@pytest.fixture(scope="session")
def parses(judged, parser):
    """Trees of their sentences except the first, which counts as rejected."""
    texts = list(judged.texts[1:])
    rows = [
        {"text": text, **{name: tree[name] for name in ("tokens", "starts", "heads", "relations")}}
        for text, tree in zip(texts, parser.parse(texts), strict=True)
    ]
    return Parses(pl.DataFrame(rows).sort("text"), parser.name, parser.max_words)


@pytest.fixture
def job(judged, parses, tiny_encoder, tmp_path, quick_loop):
    """Return a function that sets up a training that takes seconds."""
    judged.export(tmp_path / "judged.parquet")
    parses.export(tmp_path / "parses.parquet")

    def make(run="run", loop=None, ratings=(), source: Source | None = None, **given):
        settings = RgcnSettings.model_validate(
            {"backbone": str(tiny_encoder), "layers_tuned": 1, "loop": quick_loop | (loop or {})}
            | ({} if given.get("graph") is False else {"width": 16})
            | ({} if given.get("graph") is False or given.get("graph_layers") == 0 else {"bases": 2})
            | given
        )
        files = Source(judged=tmp_path / "judged.parquet", parses=tmp_path / "parses.parquet")
        return TrainingJob(source=source or files, settings=settings, output=Path(tmp_path / run), ratings=ratings)

    return make
