"""Evaluate an encoder in a process of its own: `python -m training.evaluation.run --settings evaluate.json`."""

import logging
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features import models
from features.errors import InputError, SettingsError
from features.files import write_table
from features.metrics.corpus_scores import Bootstrap
from features.metrics.registry import explain_facet
from training.data.measured_pairs import MeasuredPairs
from training.encoders.loading import load_encoder
from training.encoders.s3bert.checks import of, splits
from training.encoders.s3bert.explain import explain_embeddings, with_measured
from training.encoders.s3bert.facets import FacetLayout, cosines
from training.encoders.s3bert.model_card import write_card
from training.evaluation.facets import BASELINES, EmbeddedPairs, count_verdicts, score_facets
from training.evaluation.graph_pairs import GRAPHS_FILE, as_json, choose_pairs, read_drawn
from training.evaluation.ratings import score_ratings
from training.evaluation.tables import score_paragraphs
from training.jobs import EvaluationJob, read_job
from training.process import run_process
from training.progress import Counted
from training.runs import TRAINING_FILE
from training.writing import read_json, require_writable, write_json, write_text

_log = logging.getLogger("training")  # not __name__, which is __main__ in the process of its own

METRICS_FILE = "metrics.json"
FORMAT = 2
"""Of metrics.json; the first had no intervals."""
PAIRS_FILE = "pairs.parquet"
RATINGS_FILE = "ratings.parquet"
"""Human score and similarity of each pair of each set: what two encoders are compared by."""
REPORT_FILE = "report.html"
_ENCODED_AT_ONCE = 1024  # texts between two looks at the clock: enough to sort by length, seconds on a slow machine
FITTING_PAIRS = 2000
"""Most pairs that SB-ILP assigns dimensions by."""
_LIKE = 0.6
_SHOWN_FACETS = ("negations", "quantifiers", "named_entities", "srl", "frames", "root")


class Embedder:
    """Encodes each text once, whatever number of pairs and sets it is in.

    Args:
        folder: of the model.
        name: what the progress calls it.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.model = load_encoder(folder)
        self.name = name
        self.positions: dict[str, int] = {}
        self.vectors = np.empty((0, 0), dtype=np.float32)

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts, (n, d)."""
        new = list(dict.fromkeys(text for text in texts if text not in self.positions))
        counted = Counted(f"encoding with {self.name}", len(new), "sentences")
        for start in range(0, len(new), _ENCODED_AT_ONCE):
            some = new[start : start + _ENCODED_AT_ONCE]
            encoded = self.model.encode(some, batch_size=64, convert_to_numpy=True, show_progress_bar=False)
            self.positions.update({text: len(self.vectors) + row for row, text in enumerate(some)})
            self.vectors = encoded if not len(self.vectors) else np.concatenate([self.vectors, encoded])
            counted.add(len(some))
        return self.vectors[[self.positions[text] for text in texts]]


def evaluate(job: EvaluationJob) -> dict[str, Any]:
    """Evaluate an encoder and write metrics.json, graphs.json, pairs.parquet, ratings.parquet and report.html.

    Args:
        job: what to evaluate on. Where it asks for one suite alone, the scores are written beside metrics.json
            (`metrics_file`), which stays as it is, as does the report.

    Returns:
        Content of the file of scores.

    Raises:
        InputError: when there is no positive pair in the split.
        ModelError: when the folder is no encoder with facets, or its start model is missing.
        SettingsError: when a rating set is described wrongly.
    """
    if "facets" not in job.suites:
        return _evaluate_ratings(job)
    layout = FacetLayout.load(job.encoder)
    training = read_json(job.encoder / TRAINING_FILE)
    data = job.source.read().select(kinds=("positive",), corpora=job.corpora)
    held_out = data.select(splits=(job.split,))
    if not len(held_out):
        raise InputError(
            f"No measured positive pair {of(job.corpora)}is in the split {job.split!r}: evaluate on another one "
            f"(--split); there are: {splits(data) or 'none'}."
        )
    sets = _rating_sets(job)
    require_writable(job.output)
    backbone = models.locate(training["settings"]["backbone"], job.base)
    encoder, start = Embedder(job.encoder, "the encoder"), Embedder(backbone, "its start model")
    evaluated = _embed(held_out, layout, encoder, start)
    _log.info("%d pairs of %s are encoded; scoring the facets and their baselines", len(held_out), job.split)
    fitting = _fitting_pairs(data, job)
    bootstrap = Bootstrap(job.resamples, job.seed)
    rows = score_facets(
        evaluated,
        layout,
        fitting=None if fitting is None else _embed(fitting, layout, None, start),
        draws=job.random_draws,
        seed=job.seed,
        bootstrap=bootstrap,
    )
    ratings = _score_sets(job, sets, layout, encoder, start)
    similarities = layout.similarities(evaluated.encoder_left, evaluated.encoder_right)
    table = _pair_table(held_out, layout, evaluated, similarities)
    scores: dict[str, Any] = _about(job, training, bootstrap) | {
        "source": held_out.source,
        "data_digest": held_out.digest(),
        "facets": {
            "split": job.split,
            "corpora": sorted(set(held_out.pairs["corpus"])),
            "pairs": len(held_out),
            "fitting_pairs": 0 if fitting is None else len(fitting),
            "width": layout.facets[0].stop - layout.facets[0].start,
            "draws": job.random_draws,
            "rows": [asdict(row) | {"about": explain_facet(row.name, job.own_metrics)} for row in rows],
            "verdicts": {baseline: count_verdicts(rows, baseline) for baseline in BASELINES},
        },
        "ratings": ratings,
        "examples": _examples(job, held_out, layout, evaluated, encoder, similarities),
    }
    if "ratings" not in job.suites:
        write_json(metrics_file(job.output, job.suites), scores)
        return scores
    _log.info("writing the report")
    write_json(job.output / "evaluate.json", job.model_dump(mode="json"))
    write_table(table, job.output / PAIRS_FILE)
    write_json(job.output / METRICS_FILE, scores)
    write_json(job.output / GRAPHS_FILE, as_json(choose_pairs(held_out, job.source)))
    if job.output.resolve() == job.encoder.parent.resolve():  # a comparison elsewhere leaves the model card alone
        write_text(job.encoder / "README.md", write_card(training, score_paragraphs(scores)))
    write_report(job.output, job.encoder)
    return scores


def metrics_file(folder: Path, suites: Collection[str] = ()) -> Path:
    """Return the file of scores in a folder.

    Args:
        folder: of an evaluation.
        suites: what was scored; everything when empty.
    """
    alone = "" if not suites or {"facets", "ratings"} <= set(suites) else f"-{'-'.join(suites)}"
    return folder / f"{Path(METRICS_FILE).stem}{alone}.json"


def write_report(folder: Path, encoder: Path) -> Path:
    """Write report.html from the files that an evaluation left in a folder.

    Args:
        folder: with metrics.json, graphs.json and pairs.parquet.
        encoder: folder of the encoder.

    Returns:
        The report.

    Raises:
        InputError: when the encoder was not evaluated yet, or by another version of facetflow.
    """
    from training.evaluation.report import render_report

    if not (folder / METRICS_FILE).exists():
        raise InputError(f"{str(folder)!r} has no {METRICS_FILE}; run `facetflow evaluate` first")
    scores = read_json(folder / METRICS_FILE)
    if scores.get("format") != FORMAT:
        raise InputError(
            f"{str(folder / METRICS_FILE)!r} was written by another version of facetflow; run `facetflow evaluate` "
            "again"
        )
    html = render_report(
        scores,
        pl.read_parquet(folder / PAIRS_FILE),
        read_json(encoder / TRAINING_FILE),
        read_drawn(folder / GRAPHS_FILE),
    )
    write_text(folder / REPORT_FILE, html)
    return folder / REPORT_FILE


def _evaluate_ratings(job: EvaluationJob) -> dict[str, Any]:
    """Score an encoder by human ratings alone, for which no release is read; arguments and errors of `evaluate`."""
    sets = _rating_sets(job)
    if not sets:
        raise SettingsError("There are no human ratings to score by: name a set under [[evaluation]].")
    require_writable(job.output)
    training = read_json(job.encoder / TRAINING_FILE)
    backbone = models.locate(training["settings"]["backbone"], job.base)
    encoder, start = Embedder(job.encoder, "the encoder"), Embedder(backbone, "its start model")
    ratings = _score_sets(job, sets, FacetLayout.load(job.encoder), encoder, start)
    scores = _about(job, training, Bootstrap(job.resamples, job.seed)) | {"ratings": ratings}
    write_json(metrics_file(job.output, job.suites), scores)
    return scores


def _about(job: EvaluationJob, training: Mapping[str, Any], bootstrap: Bootstrap) -> dict[str, Any]:
    """Return what all scores say of themselves."""
    return {
        "format": FORMAT,
        "project": job.project,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "encoder": str(job.encoder),
        "encoder_digest": models.digest(job.encoder),
        "backbone": training["settings"]["backbone"],
        "backbone_digest": training["backbone_digest"],
        "seed": job.seed,
        "bootstrap": asdict(bootstrap),
    }


def _score_sets(
    job: EvaluationJob, sets: Sequence[Any], layout: FacetLayout, encoder: Embedder, start: Embedder
) -> list[dict[str, Any]]:
    """Score sets of human ratings, and write ratings.parquet."""
    bootstrap = Bootstrap(job.resamples, job.seed)
    found = [
        asdict(score_ratings(rated, layout, encoder=encoder, teacher=start, bootstrap=bootstrap)) for rated in sets
    ]
    _log.info("%d sets of human ratings are scored", len(found))
    tables = [
        pl.DataFrame(
            {
                "set": [rated.name] * len(rated.scores),
                "text_a": rated.texts_a,
                "text_b": rated.texts_b,
                "score": rated.scores,
                "similarity": cosines(encoder(rated.texts_a), encoder(rated.texts_b)),
            }
        )
        for rated in sets
    ]
    if tables:
        write_table(pl.concat(tables), job.output / RATINGS_FILE)
    return found


def _embed(data: MeasuredPairs, layout: FacetLayout, encoder: Embedder | None, start: Embedder) -> EmbeddedPairs:
    by_start = start(data.texts)
    by_encoder = by_start if encoder is None else encoder(data.texts)
    return EmbeddedPairs(
        encoder_left=by_encoder[data.first],
        encoder_right=by_encoder[data.second],
        start_left=by_start[data.first],
        start_right=by_start[data.second],
        metrics=data.metrics(layout.names),
    )


def _fitting_pairs(data: MeasuredPairs, job: EvaluationJob) -> MeasuredPairs | None:
    """Return positive pairs of another split, dev where there is one, at most so many as are worth it."""
    others = [split for split in ("dev", "train", "test") if split != job.split]
    for split in others:
        found = data.select(splits=(split,))
        if len(found) > 1:
            chosen = np.sort(np.random.default_rng(job.seed).permutation(len(found))[:FITTING_PAIRS])
            return MeasuredPairs(found.texts, found.pairs[chosen], source=found.source).select()
    return None


def _rating_sets(job: EvaluationJob) -> list[Any]:
    from pydantic import ValidationError

    from features.corpora import read_evaluation
    from features.corpora.settings import EvaluationSet

    sets = []
    for described in job.ratings if "ratings" in job.suites else ():
        try:
            sets.append(read_evaluation(EvaluationSet.model_validate(described), job.base))
        except ValidationError as error:
            raise SettingsError(f"the ratings {described!r} are wrong: {error.errors()[0]['msg']}") from error
    return sets


def _pair_table(
    data: MeasuredPairs, layout: FacetLayout, embedded: EmbeddedPairs, similarities: NDArray[np.float64]
) -> pl.DataFrame:
    """Return one row a pair: ids, texts, similarities, and measured and predicted value of each metric."""
    texts = np.array(data.texts, dtype=object)
    predictions = layout.predictions(similarities)
    # An encoder without a calibration shows what its training compared with the metrics.
    predictions = np.where(np.isnan(predictions), layout.scaled(similarities), predictions)
    return data.pairs.select(
        "pair_id",
        "corpus",
        pl.Series("text_a", texts[data.first], dtype=pl.String),
        pl.Series("text_b", texts[data.second], dtype=pl.String),
        "score",
        pl.Series("similarity", cosines(embedded.encoder_left, embedded.encoder_right)),
        pl.Series("start_similarity", cosines(embedded.start_left, embedded.start_right)),
        *(pl.col(name).alias(f"{name}_measured") for name in layout.names),
        *(pl.Series(f"{name}_similarity", similarities[:, k]) for k, name in enumerate(layout.names)),
        *(pl.Series(f"{name}_predicted", predictions[:, k]) for k, name in enumerate(layout.names)),
    )


def _examples(
    job: EvaluationJob,
    data: MeasuredPairs,
    layout: FacetLayout,
    embedded: EmbeddedPairs,
    encoder: Embedder,
    similarities: NDArray[np.float64],
) -> list[dict[str, Any]]:
    """Return explained pairs: those asked for, and for some facets the similar pair that agrees least in it.

    The choice looks at predictions alone, so that an example may be wrong; the measured values stand beside them.
    """
    examples: list[dict[str, Any]] = []
    if job.examples:
        left, right = (encoder([pair[side] for pair in job.examples]) for side in (0, 1))
        examples += [asdict(found) for found in explain_embeddings(job.examples, left, right, layout)]
    whole = cosines(embedded.encoder_left, embedded.encoder_right)
    alike = np.flatnonzero(whole >= _LIKE)
    taken: set[int] = set()
    for name in (name for name in _SHOWN_FACETS if name in layout.names and len(alike)):
        row = int(alike[similarities[alike, layout.names.index(name)].argmin()])
        if row in taken:
            continue
        taken.add(row)
        pair = (data.texts[data.first[row]], data.texts[data.second[row]])
        found = explain_embeddings([pair], embedded.encoder_left[[row]], embedded.encoder_right[[row]], layout)[0]
        measured = dict(zip(layout.names, embedded.metrics[row].astype(float).round(4).tolist(), strict=True))
        examples.append(asdict(with_measured(found, measured)))
    return examples


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one evaluation job."""
    about = "Run one evaluation job: EvaluationJob as JSON."
    return run_process(
        "training.evaluation.run", about, lambda path: evaluate(read_job(EvaluationJob, path)), arguments
    )


if __name__ == "__main__":
    sys.exit(main())
