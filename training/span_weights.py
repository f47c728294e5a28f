"""Sentences with weighted spans, and how an encoder with predicate-argument spans weights them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from features.parsers.sentence_encoder import TextEncoder
from training.writing import read_json

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.modules.spans import Span, Spans
    from training.modules.tagging_transformer import TaggingTransformer

MODULES_FILE = "modules.json"
"""The modules of an encoder, as sentence-transformers lists them."""
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class ExplainedArgument:
    """An argument of a frame."""

    role: str  # such as ARG0; empty for a random span, which has no role
    words: tuple[int, ...]  # positions of its words in the sentence, ascending
    weight: float | None  # weight of the span that it forms with its predicate, in [0, 1]; None where it has none


@dataclass(frozen=True, slots=True)
class ExplainedFrame:
    """A predicate, the ascending positions of its words (none for random spans), and its arguments with weights."""

    predicate: tuple[int, ...]
    arguments: tuple[ExplainedArgument, ...]


@dataclass(frozen=True, slots=True)
class ExplainedSentence:
    """A sentence: its words, the weight of each, in [0, 1], the sum over its spans, and its frames with weights.

    Without an encoder that weights them, weights are None.
    """

    words: tuple[str, ...]
    weights: tuple[float | None, ...]
    frames: tuple[ExplainedFrame, ...]


def weights_spans(folder: Path) -> bool:
    """Return whether a saved encoder weights spans; nothing is loaded."""
    modules = read_json(folder / MODULES_FILE) if (folder / MODULES_FILE).is_file() else []
    return any(str(module.get("type", "")).endswith(".SpanPooling") for module in modules)


def tell_spans(model: TextEncoder) -> str:
    """Return which spans an encoder that weights spans sees, in words."""
    from training.modules.structure import structure_of

    spans = cast("Spans", structure_of(model))
    drawn = {"random": "random words as spans", "continuous": "random runs of words as spans"}
    harmed = f", {spans.harmed:.0%} of them corrupted" if spans.harmed else ""
    return f"{drawn.get(spans.drawn, 'predicate-argument spans')}{harmed}"


def explain_sentences(model: "SentenceTransformer", texts: Sequence[str]) -> list[ExplainedSentence]:
    """Return sentences with their spans as weighted by an encoder that weights spans."""
    import torch
    from sentence_transformers.util import batch_to_device

    from training.modules.span_pooling import WEIGHTS

    tagging = cast("TaggingTransformer", model[0])
    model.eval()
    explained = []
    for start in range(0, len(texts), _AT_ONCE):
        some = list(texts[start : start + _AT_ONCE])
        with torch.no_grad():
            weights = model(batch_to_device(model.preprocess(some), model.device))[WEIGHTS].cpu().tolist()
        _, normalised, parses, pieces = tagging.read(some)
        for given, text, parse, offsets, of_spans in zip(some, normalised, parses, pieces, weights, strict=True):
            spans = [span for span, _ in tagging.structure.seen(text, parse, offsets)]
            words = parse["words"] if parse and spans else given.split()
            explained.append(_explained(words, spans, of_spans))
    return explained


def _explained(words: Sequence[str], spans: "Sequence[Span]", weights: Sequence[float]) -> ExplainedSentence:
    of_word = [0.0] * len(words)
    frames: dict[tuple[int, ...], list[ExplainedArgument]] = {}
    for span, weight in zip(spans, weights, strict=False):
        role = span.role if span.predicate else ""  # random spans keep the role of the span that they replace
        frames.setdefault(span.predicate, []).append(ExplainedArgument(role, span.argument, weight))
        for word in span.words:
            of_word[word] += weight
    return ExplainedSentence(
        words=tuple(words),
        weights=tuple(min(1.0, weight) for weight in of_word),  # sums may exceed 1 by rounding
        frames=tuple(ExplainedFrame(predicate, tuple(arguments)) for predicate, arguments in frames.items()),
    )
