"""Sizes of the base encoder, given by its files and used to build the network."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """Sizes of a BERT encoder."""

    pieces: int  # rows of its table of word pieces
    positions: int  # the longest sequence that it reads
    width: int  # width of its states
    layers: int  # number of layers
    heads: int  # number of attention heads
    inner: int  # width of the feed-forward part
    epsilon: float  # epsilon of the normalisation
