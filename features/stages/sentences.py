"""What the stages over sentences share: which sentences they take, and vectors as a column."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import RejectCode
from features.stage_output import Reject


def admit(sentences: pl.DataFrame, max_words: int) -> tuple[list[str], list[str], list[Reject]]:
    """Return ids and texts of the sentences to parse, and a reject for each that is too long."""
    count = pl.col("text").str.split(" ").list.len()
    fits = sentences.filter(count <= max_words)
    long = sentences.filter(count > max_words).select("sentence_id", count.alias("words"))
    rejects = []
    for identity, words in long.iter_rows():
        message = f"the sentence has {words} words, more than max_words = {max_words}"
        rejects.append(Reject(identity, RejectCode.SENTENCE_TOO_LONG, message))
    return fits["sentence_id"].to_list(), fits["text"].to_list(), rejects


def vector_column(matrix: NDArray[np.float32]) -> pl.Series:
    """Return a matrix, (n, d), as a column of lists without creating a Python object for each number."""
    return pl.Series(matrix, dtype=pl.Array(pl.Float32, matrix.shape[1])).cast(pl.List(pl.Float32))
