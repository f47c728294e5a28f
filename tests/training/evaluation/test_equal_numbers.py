"""Stored encoders of every kind score by every suite what they scored, and it is shown as it was.

`python tests/training/evaluation/test_equal_numbers.py` writes `stored/expected.json` anew, where a score is meant to
change; `stored/make.py` makes the encoders and their data. Processors round the last digits in their own ways.
"""

import json
import math
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import numpy as np

from training.evaluation.comparison import compare_runs
from training.evaluation.promotion import compare_scores
from training.evaluation.run import evaluate
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import score_tables, scored_suites
from training.jobs import EvaluationJob, Source

STORED = Path(__file__).parent / "stored"
KINDS = ("s3bert", "rgcn", "pas", "aspect", "routes")


def job_of(kind, output):
    data = STORED / "data"
    files = {"train": str(data / "trec.train.tsv"), "test": str(data / "trec.test.tsv")}
    return EvaluationJob(
        source=Source(
            pairs=data / "pairs.parquet" if kind == "s3bert" else None,
            texts=data / "texts.parquet",
            judged=data / "judged.parquet",
        ),
        encoder=STORED / kind / "encoder",
        output=output,
        split="test",
        base=STORED,
        ratings=tuple(
            {"dataset": "pairs", "name": name, "split": "test", "file": f"data/{name}.tsv"} for name in ("sts", "sick")
        ),
        tasks=(
            {"dataset": "texts", "name": "trec", "files": files},
            {"dataset": "texts", "name": "mr", "file": "data/mr.tsv"},
        ),
        folds=3,
        classifiers=("logistic regression", "mlp"),
        project="zoo",
        resamples=200,
    )


def numbers_in(value):
    """Return every number of a JSON value once."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return {number for part in value for number in numbers_in(part)}
    return {value} if isinstance(value, float) else set()


def seen(scores, folder):
    """Return what an evaluation says: the numbers that are compared, those that are shown, and every other."""
    return {
        "tables": [
            {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [list(row) for row in table.rows],
                "note": table.note.splitlines(),
            }
            for table in score_tables(scores)
        ],
        **{
            suite.name: {
                "numbers": suite.numbers(result),
                "headline": suite.headline(result),
                "items": {f"{each.name} {each.measure}": len(each.items) for each in suite.items(folder, result)},
                "pairs": {each.name: len(each.texts) for each in suite.items(folder, result) if each.texts},
                "every": sorted(numbers_in(result)),
            }
            for suite, result in scored_suites(scores)
        },
    }


def compared(a, b):
    return [
        [s.suite, s.measure, s.name, s.items, s.unit, s.a.mean, s.b.mean]
        + ([] if s.difference is None else [s.difference.low, s.difference.high, s.difference.verdict])
        for s in compare_runs([a], [b]).scores
    ]


def look(folder):
    """Evaluate the stored encoders into a folder and return all that is seen."""
    found, scores = {}, {}
    alone = patch("training.evaluation.facets.suite.bundled_encoder", lambda: None)  # it rounds like its processor
    draws, told = (patch(f"training.evaluation.facets.{module}.RANDOM_DRAWS", 3) for module in ("scoring", "suite"))
    with alone, draws, told, run_path(str(STORED / "make.py"))["patched"]():
        for kind in KINDS:
            scores[kind] = json.loads(json.dumps(evaluate(job_of(kind, folder / kind))))
            found[kind] = seen(scores[kind], folder / kind)
    for a, b in pairwise(KINDS):
        found[f"{a} and {b}"] = compared(folder / a, folder / b)
        found[f"{b} after {a}"] = list(compare_scores(scores[b], scores[a], PromotionSettings()).reasons)
    return json.loads(json.dumps(found))


def are_close(found, was):
    """Return whether JSON values are equal but for the last digits of numbers."""
    if isinstance(was, dict):
        return found.keys() == was.keys() and all(are_close(found[key], value) for key, value in was.items())
    if isinstance(was, list):
        return len(found) == len(was) and all(map(are_close, found, was))
    return math.isclose(found, was, rel_tol=1e-6, abs_tol=1e-6) if isinstance(was, float) else found == was


def test_every_suite_scores_shows_compares_and_promotes_as_before(tmp_path):
    found, expected = look(tmp_path), json.loads((STORED / "expected.json").read_text())
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        for part, was in value.items() if isinstance(value, dict) else ():
            if part != "tables":  # it may keep more numbers than it did
                every = np.array(found[name][part].pop("every"))
                lost = [number for number in was.pop("every") if np.abs(every - number).min() > 1e-6]
                assert not lost, f"{name}: {part}"
        assert are_close(found[name], value), name


if __name__ == "__main__":
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp())
    (STORED / "expected.json").write_text(json.dumps(look(output), indent=1, ensure_ascii=False) + "\n")
