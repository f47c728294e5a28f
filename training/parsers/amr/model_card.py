"""The model card of a trained parser: its training data, terms, accuracy and speed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from features.parsers.embedded.storage import DESCRIPTION_FILE, WEIGHTS_FILE, Description
from training.loop.settings import LoopSettings
from training.markdown import table
from training.parsers.amr.corpus import SourceReport
from training.parsers.amr.scoring import ParserScore
from training.parsers.amr.settings import AmrParserJob, SourceFile

CARD = "README.md"
_MEGABYTE = 1e6


def write_card(
    folder: Path,
    job: AmrParserJob,
    sources: Sequence[SourceReport],
    description: Description,
    scores: Mapping[str, ParserScore],
) -> None:
    """Write the card into the folder of the model.

    Args:
        folder: of the model.
        job: of the training.
        sources: report on each file.
        description: of the model.
        scores: name of the scored file → its scores.
    """
    size = sum((folder / name).stat().st_size for name in (DESCRIPTION_FILE, WEIGHTS_FILE)) / _MEGABYTE
    vocabulary, settings, loop = description.vocabulary, job.settings, job.settings.loop
    text = f"""# {settings.name}: an AMR parser for English

Parses a sentence into its AMR graph, without generating it token by token: it predicts the concepts of each word, then
for each pair of concepts whether and how they are related. No wiki links.

- Base encoder: `{settings.backbone}`, all layers tuned, its word piece embeddings unchanged (not stored here).
- Size: {size:.1f} MB, matrices as {settings.storage}.
- Labels: {len(vocabulary.primaries)} primary, {len(vocabulary.senses)} senses, {len(vocabulary.wrappers)} wrappers, \
{len(vocabulary.roles)} roles.

## Scores

Micro F1 of exact alignments, in points, without wiki links; P and R are precision and recall of Smatch. Speed is from
text to PENMAN on the machine that trained the model.

{_score_table(scores)}

## Training data

Each sentence is kept once; those that occur in dev ({_names(job.source.dev)}) or in {_names(job.source.held_out)} \
were left out.

{_source_table(sources)}

Senses of unseen lemmas: {job.source.frames.name if job.source.frames else "predicted by the network"}.

## Training

{loop.epochs} epochs in batches of {loop.batch_size}, AdamW at {settings.head_learning_rate:g} (encoder \
{loop.learning_rate:g}), {loop.schedule} schedule, {_kept(loop)}, seed {loop.seed}.
Made by `python -m training.parsers.amr.train`.

The dev sentences chose the thresholds{"" if loop.keep == "last" else " and the weights"}: scores on them are too good.
{_terms(settings.note)}"""
    (folder / CARD).write_text(text, encoding="utf-8")


def _kept(loop: LoopSettings) -> str:
    """Return which weights are kept, in words."""
    average = f"weights averaged over about {loop.average_over} steps"
    return {"last": "the last weights", "best": "the best weights by dev", "average": average}[loop.keep]


def _terms(note: str) -> str:
    return f"\n## Terms\n\n{note}\n" if note else ""


def _source_table(sources: Sequence[SourceReport]) -> str:
    header = ("file", "licence", "sentences", "held out", "repeated", "empty or long", "trained on", "share per epoch")
    counted = ("read", "held_out", "repeated", "unsuited", "kept")
    rows = [
        (report.source, report.licence, *(getattr(report, name) for name in counted), f"{report.share:g}")
        for report in sources
    ]
    return table(header, rows)


def _score_table(scores: Mapping[str, ParserScore]) -> str:
    metrics = list(next(iter(scores.values())).metrics)
    rows = []
    for name, score in scores.items():
        smatch = score.metrics["smatch"]
        numbers = [smatch.precision, smatch.recall, *(score.metrics[metric].f1 for metric in metrics)]
        points = [f"{100 * number:.1f}" for number in numbers]
        rows.append((name, score.sentences, *points, f"{score.sentences / score.seconds:.0f}"))
    return table(("file", "sentences", "P", "R", *metrics, "sentences per second"), rows)


def _names(files: Sequence[SourceFile]) -> str:
    return ", ".join(dict.fromkeys(file.label for file in files)) or "no other file"
