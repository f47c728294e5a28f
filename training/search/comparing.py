"""The inner loop of a search: the codes of some rows are read once, and never copied."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from features.metrics.compiled import summing

Numbers = NDArray[np.float32]


@summing
def compare_rows(
    codes: Any, first: int, query: Numbers, step: Numbers, shift: Numbers, dots: Any, squares: Any
) -> None:
    """Add to `dots` and `squares`, (n,), what columns give of the product of each row and a query, and of its length.

    Codes are (n, d), int8 or float32; query, step and shift are of the c columns from `first` on, (c,), in which the
    numbers of a row are shift + step × code.
    """
    width = query.shape[0]
    for row in range(codes.shape[0]):
        dot, square = np.float32(0), np.float32(0)
        some = codes[row][first : first + width]  # `codes[row, first + column]` would be four times as slow
        for column in range(width):
            value = np.float32(some[column]) * step[column] + shift[column]
            dot += value * query[column]
            square += value * value
        dots[row] += dot
        squares[row] += square
