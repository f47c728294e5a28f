"""Sentences with weighted spans, as data that any encoder with weights for spans can fill."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExplainedArgument:
    """An argument of a frame.

    Args:
        role: such as ARG0; empty for a random span, which has no role.
        words: positions of its words in the sentence, ascending.
        weight: weight of the span that it forms with its predicate, in [0, 1].
    """

    role: str
    words: tuple[int, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class ExplainedFrame:
    """A predicate with its arguments.

    Args:
        predicate: positions of its words in the sentence, ascending; empty for random spans.
        arguments: arguments with a weight; may be empty.
    """

    predicate: tuple[int, ...]
    arguments: tuple[ExplainedArgument, ...]


@dataclass(frozen=True, slots=True)
class ExplainedSentence:
    """A sentence with its weighted spans.

    Args:
        words: words of the sentence.
        weights: weight of each word, the sum over its spans, in [0, 1].
        frames: frames with weights; may be empty.
    """

    words: tuple[str, ...]
    weights: tuple[float, ...]
    frames: tuple[ExplainedFrame, ...]
