"""The number of batches of an epoch, which the loop asks for without drawing them, for every kind of encoder."""

from dataclasses import replace
from importlib import import_module

import polars as pl
import pytest

from training.data.labelled_texts import LabelledTexts
from training.jobs import Source, TrainingJob
from training.kinds import KINDS
from training.loop.task import CountedTask

BOTH = {"kind": "aspect", "aspects": ["animal", "place"]}
VARIANTS = [
    {"kind": "s3bert", "facet_dimensions": 1},
    {"kind": "s3bert", "facet_dimensions": 1, "layer_shares": {"left": 0.3}},
    {"kind": "rgcn", "graph": False},
    {"kind": "rgcn", "graph": False, "objective": "multiple_negatives"},
    {"kind": "rgcn", "graph": False, "objective": "multiple_negatives", "corpora": ["of_one_label"]},
    {"kind": "rgcn", "graph": False, "objective": "distillation"},
    {"kind": "pas", "spans": "none", "positive_label": "entailment"},
    {"kind": "pas", "spans": "none", "positive_label": "entailment", "training_share": 0.7},
    {"kind": "aspect", "aspects": ["animal"], "triplets_per_text": 3},
    {"kind": "aspect", "aspects": ["animal"], "objective": "simcse"},
    {"kind": "aspect", "aspects": ["animal"], "objective": "multiple_negatives"},
    BOTH | {"combine": "intersection"},
    BOTH | {"combine": "union"},
    BOTH | {"combine": "routes"},
]


def texts():
    """Return texts in two aspects; one is alone with its labels, and some share a label with every other in `union`."""
    rows = []
    for number in range(53):
        animal, place = ("cat", "dog", "horse")[number % 7 % 3], ("park", "house")[number % 5 % 2]
        labels = (("animal", animal), ("place", place)) if number else (("animal", "man"), ("place", "park"))
        text = f"the {animal} in the {place} {' '.join(['runs'] * number)}"
        rows += [(text, "zoo", "dev" if number % 6 == 5 else "train", aspect, label) for aspect, label in labels]
    table = pl.DataFrame(rows, schema=["text", "corpus", "split", "aspect", "label"], orient="row")
    return LabelledTexts.from_table(table, source={"file": "made up"})


@pytest.fixture
def task_of(measured, judged, tiny_encoder, tmp_path, monkeypatch):
    """Return a function that prepares a training and returns its task."""
    source = Source(**{name: tmp_path / f"{name}.parquet" for name in ("pairs", "texts", "judged")})
    entailed = judged.pairs.filter(label="entailment").with_columns(corpus=pl.lit("of_one_label"))
    judged = replace(judged, pairs=pl.concat([judged.pairs, entailed]))
    for made, path in ((measured, source.pairs), (texts(), source.texts), (judged, source.judged)):
        made.export(path)
    found = []

    def stop(plan, _machine, make_task, *_others, **_further):
        found.append(make_task(plan.settings))
        raise RuntimeError("prepared")

    def task(given):
        kind = KINDS[given["kind"]]
        loop = {"device": "cpu", "threads": 1, "precision": "float32"}
        settings = kind.settings.model_validate(
            {"backbone": str(tiny_encoder), "layers_tuned": 1, "loop": loop} | given
        )
        for module in (kind.module, "training.encoders.pair_training"):
            monkeypatch.setattr(import_module(module), "learn", stop, raising=False)
        with pytest.raises(RuntimeError, match="prepared"):
            import_module(kind.module).train(TrainingJob(source=source, settings=settings, output=tmp_path / "run"))
        return found[-1]

    return task


def test_every_kind_is_tried():
    assert {given["kind"] for given in VARIANTS} == set(KINDS)


@pytest.mark.parametrize("given", VARIANTS, ids=lambda given: "-".join(str(value) for value in given.values()))
def test_an_epoch_has_as_many_batches_as_are_drawn(task_of, given):
    task = task_of(given)
    assert isinstance(task, CountedTask)
    settings = task.settings
    for size in (2, 3, 4, 5, 7, 8, 11, 64, 1000):
        task.settings = settings.model_copy(update={"loop": settings.loop.model_copy(update={"batch_size": size})})
        assert {task.count()} == {len(task.batches(epoch)) for epoch in range(4)}, size
