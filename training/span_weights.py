"""Span weights of an encoder with predicate-argument spans, also by word."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from features.core.faults import CannotExplain
from training.explained_spans import ExplainedArgument, ExplainedFrame, ExplainedSentence
from training.writing import read_json

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from training.modules.frames import Span
    from training.modules.tagging_transformer import TaggingTransformer

MODULES_FILE = "modules.json"
"""The modules of an encoder, as sentence-transformers lists them."""
_AT_ONCE = 64


def weights_spans(folder: Path) -> bool:
    """Return whether a saved encoder weights spans; nothing is loaded."""
    modules = read_json(folder / MODULES_FILE) if (folder / MODULES_FILE).is_file() else []
    return any(str(module.get("type", "")).endswith(".SpanPooling") for module in modules)


def require_spans(folder: Path, model: "SentenceTransformer") -> None:
    """Check that an encoder weights spans.

    Args:
        folder: of the encoder.
        model: the encoder.

    Raises:
        ModelError: it does not.
    """
    from training.modules.span_pooling import SpanPooling

    if not any(isinstance(module, SpanPooling) for module in model):
        raise CannotExplain(
            f"The encoder {str(folder)!r} does not weight spans, so its labels cannot be explained by them: leave out "
            "--explain (in Python: spans=), or use an encoder of kind 'pas' that has spans."
        )


def tell_spans(model: "SentenceTransformer") -> str:
    """Return which spans an encoder sees, in words.

    Args:
        model: an encoder that weights spans.
    """
    tagging = cast("TaggingTransformer", model[0])
    drawn = {"random": "random words as spans", "continuous": "random runs of words as spans"}
    harmed = f", {tagging.harmed:.0%} of them corrupted" if tagging.harmed else ""
    return f"{drawn.get(tagging.drawn, 'predicate-argument spans')}{harmed}"


def explain_sentences(model: "SentenceTransformer", texts: Sequence[str]) -> list[ExplainedSentence]:
    """Return sentences with their weighted spans.

    Args:
        model: an encoder that weights spans.
        texts: the sentences.
    """
    import torch

    from training.modules.span_pooling import WEIGHTS

    tagging = cast("TaggingTransformer", model[0])
    model.eval()
    found = []
    for start in range(0, len(texts), _AT_ONCE):
        some = list(texts[start : start + _AT_ONCE])
        with torch.no_grad():
            features = {
                name: value.to(model.device) if isinstance(value, torch.Tensor) else value
                for name, value in model.preprocess(some).items()
            }
            weights = model(features)[WEIGHTS].cpu().tolist()
        for text, spans, of in zip(some, tagging.named_spans(some), weights, strict=True):
            found.append(_explained(text, [span for span, _ in spans], spans[0][1] if spans else (), of))
    return found


def _explained(text: str, spans: "Sequence[Span]", words: Sequence[str], weights: Sequence[float]) -> ExplainedSentence:
    """Return a sentence with its weighted spans.

    Args:
        text: the sentence.
        spans: spans of the sentence.
        words: words of the sentence; empty if it has no spans.
        weights: weights of the spans, then of padding.
    """
    known = tuple(words) or tuple(text.split())
    of_word = [0.0] * len(known)
    frames: dict[tuple[int, ...], list[ExplainedArgument]] = {}
    for span, weight in zip(spans, weights, strict=False):  # the remaining weights are padding
        role = span.role if span.predicate else ""  # random spans keep the role of the span that they replace
        frames.setdefault(span.predicate, []).append(ExplainedArgument(role, span.argument, weight))
        for word in span.words:
            of_word[word] += weight
    return ExplainedSentence(
        words=known,
        weights=tuple(min(1.0, weight) for weight in of_word),  # sums may exceed 1 by rounding
        frames=tuple(ExplainedFrame(predicate, tuple(arguments)) for predicate, arguments in frames.items()),
    )
