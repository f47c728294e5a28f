"""Sizes of the base encoder, which its files say and the network is built by."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of a BERT encoder.

    Args:
        pieces: rows of its table of word pieces.
        positions: the longest sequence that it reads.
        width: of its states.
        layers: number of them.
        heads: of the attention.
        inner: width of the feed-forward part.
        epsilon: of the normalisation.
    """

    pieces: int
    positions: int
    width: int
    layers: int
    heads: int
    inner: int
    epsilon: float
