"""After the last step: write the model, choose its thresholds on dev, score it, and write its card."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.embedded.storage import DESCRIPTION_FILE, WEIGHTS_FILE, Description, Thresholds, save_model
from features.parsers.embedded.vocabulary import Vocabulary
from training.markdown import render_card
from training.parsers.amr.corpus import Sentence, read_source
from training.parsers.amr.preparing import Prepared
from training.parsers.amr.scoring import score_graphs, score_parser
from training.parsers.amr.settings import AmrParserJob, AmrParserSettings
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
    text = render_card(
        "training.parsers.amr/card.md",
        settings=settings,
        source=job.source,
        size=sum((folder / name).stat().st_size for name in (DESCRIPTION_FILE, WEIGHTS_FILE)) / 1e6,
        vocabulary=description.vocabulary,
        scores=scores,
        reports=prepared.reports,
        points=lambda number: f"{100 * number:.1f}",
        names=lambda files: ", ".join(dict.fromkeys(file.label for file in files)) or "no other file",
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


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
