"""A small project for the public package: an encoder with untrained facets, and a store with a release."""

from pathlib import Path

import pytest

from features import models
from features.core.errors import ModelError
from features.metrics.registry import METRIC_NAMES
from features.schemas import StageOutput
from features.sentences import sentence_id
from features.stages.registry import TABLES
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.releases import Release, write_release
from features.store.store import Store
from training.encoders.s3bert.calibration import Reliability
from training.encoders.s3bert.facets import FILE_NAME, plan_layout

TEXTS = ("Two cats look.", "A cat looks.", "Prices fall.")


@pytest.fixture(scope="session")
def encoder_model() -> str:
    """Return the folder of the sentence encoder; skip if it was not pulled."""
    try:
        return str(models.locate("all-MiniLM-L6-v2"))
    except ModelError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory, encoder_model: str) -> Path:
    """Return the folder of a project with `runs/s3bert/current/encoder` and `store`."""
    folder = tmp_path_factory.mktemp("project")
    _make_encoder(Path(encoder_model), folder / "runs" / "s3bert" / "current" / "encoder")
    _make_store(folder / "store")
    return folder


def _make_encoder(source: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    for entry in source.iterdir():
        (folder / entry.name).symlink_to(entry)
    layout = plan_layout(METRIC_NAMES, width=16, dimension=384)
    clear = Reliability(pairs=100, spearman=0.5, low=0.3, high=0.6)
    facets = [facet.model_copy(update={"reliability": clear}) for facet in layout.facets[:8]]
    changed = layout.model_copy(update={"facets": (*facets, *layout.facets[8:])})
    (folder / FILE_NAME).write_text(changed.text(), encoding="utf-8")


def _make_store(folder: Path) -> None:
    import polars as pl

    store = Store.open(folder, create=True)
    a, b, c = (sentence_id(text) for text in TEXTS)
    rows = {
        "sentences": [{"sentence_id": sentence_id(text), "text": text} for text in TEXTS],
        "pairs": [
            {"pair_id": "p1", "corpus": "own", "split": "train", "sentence_a": a, "sentence_b": b, "score": 4.0},
            {"pair_id": "p2", "corpus": "own", "split": "dev", "sentence_a": a, "sentence_b": c, "score": 1.0},
        ],
        "metrics": [{"pair_id": "p1", "smatch": 0.75}, {"pair_id": "p2", "smatch": 0.25}],
    }
    recipes = {name: Recipe(name, {}) for name in rows}
    receipts = [
        store.write_shard(
            name, f"{name}-00000", fingerprint(recipes[name], []), StageOutput(pl.DataFrame(of, schema=TABLES[name]))
        )
        for name, of in rows.items()
    ]
    store.commit(receipts, run_id="made", recipes=recipes)
    versions = store.versions()
    write_release(
        store.storage,
        Release(
            number=1,
            run_id="made",
            created="2026-03-01T09:00:00+00:00",
            code_version="0",
            versions={name: versions[name] for name in (*rows, "rejects")},
            recipes={name: recipe.as_dict() for name, recipe in recipes.items()},
            rows={name: len(of) for name, of in rows.items()},
            rejects={},
        ),
    )
