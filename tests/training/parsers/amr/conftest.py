"""A language of a few dozen sentences with their graphs, and a parser trained on it here."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from training.jobs import read_parser_job
from training.loop.settings import LoopSettings
from training.parsers.amr.settings import AmrParserJob
from training.parsers.amr.train import train

_SUBJECTS = ("boy", "girl", "cat", "dog", "woman", "man")
_VERBS = {"sleep": "sleep-01", "run": "run-02", "sing": "sing-01", "work": "work-01"}
_NAMES = ("New York", "Rome", "Old Delhi", "Paris", "San Jose", "Oslo")


def language() -> Iterator[tuple[str, str]]:
    """Yield sentences and graphs: negation, control, a name with its type, a wrapper, numbers, an imperative."""
    for subject, (verb, frame) in itertools.product(_SUBJECTS, _VERBS.items()):
        yield f"The {subject} {verb}s.", f"(v / {frame} :ARG0 (s / {subject}))"
        yield f"The {subject} does not {verb}.", f"(v / {frame} :polarity - :ARG0 (s / {subject}))"
        yield f"The {subject} wants to {verb}.", f"(w / want-01 :ARG0 (s / {subject}) :ARG1 (v / {frame} :ARG0 s))"
    for subject, (number, name) in itertools.product(_SUBJECTS, enumerate(_NAMES, start=2)):
        operands = " ".join(f':op{place} "{part}"' for place, part in enumerate(name.split(), start=1))
        city = f'(c / city :wiki "{name}" :name (n / name {operands}))'
        yield (
            f"A doctor likes {name} and the {subject}.",
            (
                "(l / like-01 :ARG0 (p / person :ARG0-of (h / have-org-role-91 :ARG2 (d / doctor)))"
                f" :ARG1 (a / and :op1 {city} :op2 (s / {subject})))"
            ),
        )
        yield (
            f"See {number} thousand {subject}s!",
            (f"(v / see-01 :mode imperative :ARG0 (y / you) :ARG1 (s / {subject} :quant {number * 1000}))"),
        )


def write_blocks(path: Path, pairs: list[tuple[str, str]]) -> None:
    """Write PENMAN blocks."""
    path.write_text("\n\n".join(f"# ::snt {text}\n{graph}" for text, graph in pairs) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def make_settings(tiny_encoder: Path) -> Callable[..., Path]:
    """Return a function that writes the files of a training to a folder; every fifth sentence is in dev."""

    def make(folder: Path, *, source: dict[str, Any] | None = None, **changes: Any) -> Path:
        pairs = list(language())
        write_blocks(folder / "train.amr", [("no sentence", "(n / nothing)"), *pairs])  # dev among them: held out
        write_blocks(folder / "dev.amr", pairs[::5])
        files = {
            "train": [{"path": "train.amr", "skip_first": 1, "licence": "Apache-2.0"}],
            "dev": [{"path": "dev.amr"}],
            "evaluations": {"again": [{"path": "dev.amr"}]},
        }
        loop = {
            "epochs": 40,
            "batch_size": 16,
            "learning_rate": 0.001,
            "average_over": 10,
            "precision": "float32",
            "device": "cpu",
            "threads": 1,
        }
        loop |= {name: changes.pop(name) for name in LoopSettings.model_fields if name in changes}
        settings = {
            "backbone": str(tiny_encoder),
            "width": 48,
            "node_layers": 1,
            "dropout": 0.0,
            "concept_dropout": 0.0,
            "head_learning_rate": 0.01,
            "loop": loop,
            **changes,
        }
        path = folder / "settings.json"
        job = {"source": files | (source or {}), "settings": settings, "output": "run"}
        path.write_text(json.dumps(job), encoding="utf-8")
        return path

    return make


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, make_settings: Callable[..., Path]) -> Path:
    """Return the folder of a trained model."""
    return train(read_parser_job(AmrParserJob, make_settings(tmp_path_factory.mktemp("training"))))
