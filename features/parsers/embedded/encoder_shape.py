"""Sizes of the base encoder, given by its files and used to build the network."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of a BERT encoder.

    Args:
        pieces: rows of its table of word pieces.
        positions: the longest sequence that it reads.
        width: width of its states.
        layers: number of layers.
        heads: number of attention heads.
        inner: width of the feed-forward part.
        epsilon: epsilon of the normalisation.
    """

    pieces: int
    positions: int
    width: int
    layers: int
    heads: int
    inner: int
    epsilon: float
