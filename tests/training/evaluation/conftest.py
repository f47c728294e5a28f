"""An encoder that has been evaluated, with its files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from training.evaluation.run import evaluate
from training.jobs import EvaluationJob, Source


@pytest.fixture(scope="session", autouse=True)
def _no_bundled_encoder() -> Iterator[None]:
    """Compare with no encoder that comes with facetflow: loading it takes seconds, and tiny ones need no rival."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.evaluation.facets.suite.bundled_encoder", lambda: None)
        yield


@pytest.fixture(scope="session")
def job(trained_run: Path) -> EvaluationJob:
    """An evaluation of a tiny encoder with hostile names, ratings and sentences."""
    ratings = trained_run / "rated.tsv"
    ratings.write_text(
        "sentence_a\tsentence_b\tscore\n"
        "the cat sleeps\ta cat sleeps\t5\n"
        "a dog runs\tthe red dog runs\t4\n"
        "no man eats\tthree horse in a park\t0\n"
        "two woman\ttwo child sees the house\t1.5\n"
    )
    return EvaluationJob(
        source=Source(pairs=trained_run / "all.parquet"),
        encoder=trained_run / "encoder",
        output=trained_run,
        ratings=({"dataset": "pairs", "name": "mine", "split": "test", "file": str(ratings)},),
        project="my-<b>project</b>",
    )


@pytest.fixture(scope="session")
def scores(job: EvaluationJob) -> dict[str, Any]:
    """The scores of that evaluation, whose files are next to the encoder."""
    return evaluate(job)
