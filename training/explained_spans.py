"""What of a sentence its embedding looks at, as data: whatever weighs spans of a sentence can fill it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExplainedArgument:
    """An argument of a frame.

    Args:
        role: such as ARG0; empty for a span that was drawn, which has no role.
        words: its positions in the sentence, ascending.
        weight: of the span that it makes with its predicate, in [0, 1].
    """

    role: str
    words: tuple[int, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class ExplainedFrame:
    """A predicate with its arguments.

    Args:
        predicate: positions of its words in the sentence, ascending; none where spans were drawn.
        arguments: those that have a weight, perhaps none.
    """

    predicate: tuple[int, ...]
    arguments: tuple[ExplainedArgument, ...]


@dataclass(frozen=True, slots=True)
class ExplainedSentence:
    """What of a sentence its embedding looks at.

    Args:
        words: of the sentence.
        weights: of each word: the sum over the spans that it is in, in [0, 1].
        frames: perhaps none.
    """

    words: tuple[str, ...]
    weights: tuple[float, ...]
    frames: tuple[ExplainedFrame, ...]
