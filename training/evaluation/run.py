"""Evaluate encoders in a separate process: `python -m training.evaluation.run --settings evaluate.json …`.

    scored ──> tables of the suites, aside ──> renamed into the folder ──> metrics.json, with their digests

A kill before the renames leaves the evaluation before; one among them leaves files of two, which the digests tell.
"""

import hashlib
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from features import models
from features.core.durable import file_sha256, sync
from features.core.errors import InputError
from features.core.faults import NoScores, NothingToScore
from features.core.leftovers import beside, held_folder
from training import markdown
from training.evaluation.models import Shared
from training.evaluation.suites import Subject, Suite, load_suite, score_tables, suites_of
from training.jobs import EvaluationJob, read_job
from training.process import run_process
from training.progress import log
from training.run_records import in_use
from training.runs import METRICS_FILE, training_of
from training.writing import read_json, require_writable, write_json, write_text, writing

FORMAT = 5
"""Version of metrics.json; scores of another one are refused."""
REPORT_FILE = "report.html"
_CARD = "README.md"
_JOB_FILE = "evaluate.json"


def evaluate(job: EvaluationJob, shared: Shared | None = None) -> dict[str, Any]:
    """Evaluate an encoder of any kind, and return its scores as they are written.

    With all suites that apply, writes metrics.json, evaluate.json, the suites' files, report.html, and the scores in
    the model card. With some that are named, writes their scores next to those of the whole evaluation
    (`metrics_file`). `shared` is what encoders evaluated before have left, to be reused.
    """
    with in_use(job.encoder):
        log.info("evaluating %s", job.encoder)
        subject = Subject(job)
        suites = _prepared(subject)
        require_writable(job.output)
        embedders = (shared or Shared()).models(job.encoder, job.source, subject.backbone)
        results = {}
        for number, suite in enumerate(suites, start=1):
            log.info("scoring by the suite %r (%d of %d)", suite.name, number, len(suites))
            results[suite.name] = suite.score(embedders)
        scores = _about(subject) | {"suites": results}
        if job.suites:
            write_json(metrics_file(job.output, job.suites), scores)
            return scores
        log.info("writing the report")
        _write(job, suites, scores)
        if subject.training and job.output.resolve() == job.encoder.parent.resolve():
            _write_on_card(job.encoder / _CARD, scores)  # an evaluation elsewhere leaves the model card alone
        write_report(job.output, job.encoder)
        return scores


def metrics_file(folder: Path, suites: Collection[str] = ()) -> Path:
    """Return the file of scores by some suites, or of a whole evaluation, in its folder."""
    named = "".join(f"-{name}" for name in sorted(set(suites)))
    return folder / f"{Path(METRICS_FILE).stem}{named}.json"


def read_scores(file: Path) -> dict[str, Any]:
    """Read a file of scores; one of another `FORMAT` is refused, and one that was changed since it was written."""
    if not file.exists():
        raise NoScores(f"{str(file.parent)!r} has no {file.name}; run `facetflow evaluate` first")
    scores: dict[str, Any] = read_json(file)
    is_whole = isinstance(scores, dict) and scores.get("format") == FORMAT and isinstance(scores.get("suites"), dict)
    if not is_whole or scores.get("digest") not in (None, _digest(scores)):
        raise NoScores(
            f"{str(file)!r} was written by another version of facetflow, or is damaged; run `facetflow evaluate` again"
        )
    return scores


def read_evaluation(folder: Path) -> dict[str, Any]:
    """Read the scores of a whole evaluation whose other files are going to be read as well."""
    scores = read_scores(folder / METRICS_FILE)
    for name, digest in scores.get("files", {}).items():
        if (folder / name).is_file() and file_sha256(folder / name) != digest:
            raise NoScores(
                f"{str(folder / name)!r} is not of the evaluation in {METRICS_FILE}: a later one was cut off before "
                "its scores were written, or the file was changed; run `facetflow evaluate` again"
            )
    return scores


def write_report(folder: Path, encoder: Path) -> Path:
    """Write report.html from the metrics.json of an evaluation and the suites' files in its folder, and return it."""
    from training.evaluation.report import render_report

    scores = read_evaluation(folder)
    training = training_of(encoder)
    write_text(folder / REPORT_FILE, render_report(scores, training, folder))
    return folder / REPORT_FILE


def _prepared(subject: Subject) -> list[Suite]:
    job, missing, suites = subject.job, list[str](), list[Suite]()
    for kind in map(load_suite, dict.fromkeys(job.suites) or suites_of(subject.kind)):
        suite = kind.of(subject)
        if suite is None:
            missing.append(f"the suite {kind.name!r} needs {kind.needs}")
        else:
            suites.append(suite)
    if missing and (job.suites or not suites):
        raise NothingToScore(f"{str(job.encoder)!r} cannot be evaluated: {'; '.join(missing)}.")
    return suites


def _write(job: EvaluationJob, suites: Sequence[Suite], scores: dict[str, Any]) -> None:
    """Write the job, the files of the suites and the scores; those that only the evaluation before had are removed."""
    metrics = job.output / METRICS_FILE
    with writing(job.output), held_folder(aside := beside(job.output / "evaluation")):
        for suite in suites:
            suite.write(aside)
        tables = sorted(aside.iterdir())
        scores["files"] = {file.name: file_sha256(file) for file in tables}
        scores["digest"] = _digest(json.loads(json.dumps(scores)))
        write_json(aside / METRICS_FILE, scores)
        write_json(aside / _JOB_FILE, job.model_dump(mode="json"))
        stale: set[str] = set()
        with suppress(InputError, AttributeError):  # there was none, or it is damaged
            stale = read_json(metrics).get("files", {}).keys() - scores["files"].keys()
        for file in (*tables, aside / _JOB_FILE):
            file.replace(job.output / file.name)
        for file in job.output.iterdir():  # a run of somebody else may name files of other folders
            if file.name in stale and file.is_file():
                file.unlink()
        sync(job.output)
        (aside / METRICS_FILE).replace(metrics)
        sync(job.output)


def _digest(scores: Mapping[str, Any]) -> str:
    """Digest the scores of an evaluation as JSON has them, the same at any date."""
    content = {key: value for key, value in scores.items() if key not in {"date", "digest"}}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _about(subject: Subject) -> dict[str, Any]:
    job = subject.job
    return {
        "format": FORMAT,
        "project": job.project,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "encoder": str(job.encoder),
        "encoder_digest": models.digest(job.encoder),
        "kind": subject.kind,
        "backbone": subject.settings.get("backbone"),
        "backbone_digest": subject.training.get("backbone_digest"),
        "seed": job.seed,
        "bootstrap": asdict(subject.bootstrap),
    }


def _write_on_card(card: Path, scores: Mapping[str, Any]) -> None:
    paragraphs = []
    for table in score_tables(scores):
        paragraphs += [f"{table.title}:", markdown.table(table.columns, table.rows), table.note]
    text = card.read_text(encoding="utf-8") if card.exists() else ""
    write_text(card, markdown.with_section(text, "Scores", paragraphs))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run evaluation jobs, one after the other."""
    about = "Run evaluations, one after the other, each from an EvaluationJob as JSON."
    shared = Shared()
    return run_process(
        "training.evaluation.run", about, lambda path: evaluate(read_job(EvaluationJob, path), shared), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
