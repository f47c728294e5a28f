"""Frames of the judged pairs, made without a tagger, and trainings that take seconds."""

from pathlib import Path

import polars as pl
import pytest

from features.parsers.settings import SrlSettings
from training.data.parses import Frames
from training.encoders.pas.settings import PasSettings
from training.jobs import Source, TrainingJob

DOES = {"sees", "eats", "runs", "sleeps"}


def frames_of(text):
    """Return a row of the table `srl`: each verb with what precedes and follows it; other sentences have none."""
    words = text.split()
    verbs = [place for place, word in enumerate(words) if word in DOES]
    spans = []
    for number, verb in enumerate(verbs):
        parts = [("ARG0", 0, verb), ("V", verb, verb + 1), ("ARGM-LOC", verb + 1, len(words))]
        spans += [(number, *part) for part in parts if part[1] < part[2]]
    columns = zip(*spans, strict=True) if spans else ((), (), (), ())
    names = ("span_frames", "span_labels", "span_starts", "span_ends")
    return {"words": words, "predicates": verbs, **{k: list(v) for k, v in zip(names, columns, strict=True)}}


@pytest.fixture(scope="session")
def frames(judged):
    """Frames of their sentences except the first, which counts as rejected."""
    from training.modules.parse import weights_of

    rows = [{"text": text, **frames_of(text)} for text in judged.texts[1:]]
    return Frames(
        pl.DataFrame(rows).sort("text"), "srl_bert/embedded", weights_of(SrlSettings()), "tagger", "float32", 512
    )


@pytest.fixture
def job(judged, frames, tiny_encoder, tmp_path, quick_loop):
    """Return a function that sets up a training that takes seconds."""
    judged.export(tmp_path / "judged.parquet")
    frames.export(tmp_path / "frames.parquet")

    def make(run="run", loop=None, ratings=(), source: Source | None = None, **given):
        settings = PasSettings.model_validate(
            {"backbone": str(tiny_encoder), "layers_tuned": 1, "positive_label": "entailment"}
            | {"loop": quick_loop | (loop or {})}
            | given
        )
        files = Source(judged=tmp_path / "judged.parquet", frames=tmp_path / "frames.parquet")
        return TrainingJob(source=source or files, settings=settings, output=Path(tmp_path / run), ratings=ratings)

    return make
