"""After the last step: write the model, choose its thresholds on dev, score it, and write its card."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.embedded.storage import DESCRIPTION_FILE, WEIGHTS_FILE, Description, Thresholds, save_model
from features.parsers.embedded.vocabulary import Vocabulary
from training.markdown import table
from training.parsers.amr.corpus import Report, Sentence, read_source
from training.parsers.amr.preparing import Prepared
from training.parsers.amr.scoring import ParserScore, score_graphs, score_parser
from training.parsers.amr.settings import AmrParserJob, AmrParserSettings, SourceFile
from training.progress import log

if TYPE_CHECKING:
    from features.parsers.embedded.network import Network

MODEL = "model"
"""Folder of the finished model, in the output folder."""

_STEPS = {"wrapper": (-0.3, -0.6, -0.9), "primary": (0.2, -0.2), "arc": (0.25, 0.75, 1.0)}


def describe(settings: AmrParserSettings, vocabulary: Vocabulary, base_digest: str) -> Description:
    """Return everything about the model but its weights."""
    shape = {name: getattr(settings, name) for name in ("width", "node_layers", "dropout", "word_dropout")}
    return Description(settings.name, settings.backbone, base_digest, vocabulary, Thresholds(), shape)


def finish(job: AmrParserJob, prepared: Prepared, description: Description, network: "Network") -> None:
    """Write the trained network as a model, with its card."""
    settings, folder = job.settings, job.output / MODEL
    weights = dict(network.named_parameters())
    save_model(folder, description, weights, settings.storage)
    parser = load_parser(folder, base=settings.backbone, device=settings.loop.device)
    every = -(-len(prepared.dev_sentences) // settings.dev_examples)
    parser.thresholds = _choose_thresholds(parser, prepared.dev_sentences[::every])
    save_model(folder, replace(description, thresholds=parser.thresholds), weights, settings.storage)
    files = {"dev": job.source.dev, **job.source.evaluations}
    scores = {}
    for name, sources in files.items():
        sentences = [sentence for source in sources for sentence in read_source(source)]
        scores[name] = score_parser(parser, [item.text for item in sentences], [item.penman for item in sentences])
        log.info("%s: Smatch %.4f", name, scores[name].metrics["smatch"].f1)
    _write_card(folder, job, prepared.reports, description, scores)


def _choose_thresholds(parser: EmbeddedParser, dev: Sequence[Sentence]) -> Thresholds:
    texts, gold = [sentence.text for sentence in dev], [sentence.penman for sentence in dev]
    tried: dict[Thresholds, float] = {}

    def smatch(thresholds: Thresholds) -> float:
        if thresholds not in tried:
            parser.thresholds = thresholds
            tried[thresholds] = score_graphs(parser.parse(texts), gold, ["smatch"])["smatch"].f1
            log.info("%s: Smatch %.4f on %d sentences of dev", thresholds, tried[thresholds], len(texts))
        return tried[thresholds]

    best = parser.thresholds
    for name, values in _STEPS.items():
        for value in values:
            best = max(best, replace(best, **{name: value}), key=smatch)
    return best


def _write_card(
    folder: Path,
    job: AmrParserJob,
    sources: Sequence[Report],
    description: Description,
    scores: Mapping[str, ParserScore],
) -> None:
    size = sum((folder / name).stat().st_size for name in (DESCRIPTION_FILE, WEIGHTS_FILE)) / 1e6
    terms = f"\n## Terms\n\n{job.settings.note}\n" if job.settings.note else ""
    vocabulary, settings, loop = description.vocabulary, job.settings, job.settings.loop
    average = f"weights averaged over about {loop.average_over} steps"
    kept = {"last": "the last weights", "best": "the best weights by dev", "average": average}[loop.keep]
    header = ("file", "licence", "sentences", "held out", "repeated", "empty or long", "trained on", "share per epoch")
    rows = [(source.label, source.licence, *counts.values(), f"{source.share:g}") for source, counts in sources]
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

{table(header, rows)}

Senses of unseen lemmas: {job.source.frames.name if job.source.frames else "predicted by the network"}.

## Training

{loop.epochs} epochs in batches of {loop.batch_size}, AdamW at {settings.head_learning_rate:g} (encoder \
{loop.learning_rate:g}), {loop.schedule} schedule, {kept}, seed {loop.seed}.
Made by `python -m training.parsers.amr.train`.

The dev sentences chose the thresholds{"" if loop.keep == "last" else " and the weights"}: scores on them are too good.
{terms}"""
    (folder / "README.md").write_text(text, encoding="utf-8")


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
