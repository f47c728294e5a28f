"""The linear assignment problem: assign each row to a different column, maximising the sum of values.

Successive shortest paths with dual prices (Jonker & Volgenant 1987), after a greedy start. Implemented here because it
is called some hundred times per pair of graphs, on matrices so small that a call from Python would cost more than the
solution.
"""

from typing import Any, NamedTuple

import numpy as np

from features.metrics.compiled import kernel


class Workspace(NamedTuple):
    """Arrays that `assign` works in, reused between calls; index 0 of all but `steps_left` is a dummy column.

    Prices are duals of the least-cost problem: `-value[i, j] >= row_price[i + 1] + column_price[j + 1]`, with
    equality where i is on j, and no column price is positive. `steps_left`, shape (1,), is reduced by the number of
    entries that are read.
    """

    row_price: Any
    column_price: Any
    row_of: Any
    way: Any
    slack: Any
    seen: Any
    steps_left: Any


@kernel
def make_workspace(size: int, steps_left: Any) -> Workspace:
    """Return a workspace for matrices of at most `size` columns, which counts its steps in `steps_left`, shape (1,)."""
    return Workspace(
        np.empty(size + 1),
        np.empty(size + 1),
        np.empty(size + 1, np.int64),
        np.empty(size + 1, np.int64),
        np.empty(size + 1),
        np.empty(size + 1, np.bool_),
        steps_left,
    )


@kernel
def assign(values: Any, n_rows: int, n_columns: int, column_of: Any, work: Workspace) -> float:
    """Assign every row to a different column, maximising the sum of values, and return that sum.

    Args:
        values: float64, value of (row, column) at `row * n_columns + column`.
        n_rows: at most `n_columns`.
        n_columns: number of columns.
        column_of: int64, shape (≥ n_rows,); filled with the column of each row.
        work: a workspace of at least `n_columns`; the prices are left in it.
    """
    row_price, column_price, row_of = work.row_price, work.column_price, work.row_of
    for column in range(n_columns + 1):
        column_price[column] = 0.0
        row_of[column] = 0
    _assign_greedily(values, n_rows, n_columns, column_of, row_price, row_of)
    steps = n_rows * n_columns
    for row in range(1, n_rows + 1):
        if column_of[row - 1] < 0:
            steps += _assign_one_more(values, n_columns, row, work)
    work.steps_left[0] -= steps
    total = 0.0
    for column in range(1, n_columns + 1):
        if row_of[column] > 0:
            column_of[row_of[column] - 1] = column - 1
            total += values[(row_of[column] - 1) * n_columns + column - 1]
    return total


@kernel
def _assign_greedily(values: Any, n_rows: int, n_columns: int, column_of: Any, row_price: Any, row_of: Any) -> None:
    """Assign each row to its best column if that is free (else -1), and set the row prices."""
    for row in range(n_rows):
        line = row * n_columns
        best = -np.inf
        best_column = 0
        for column in range(n_columns):
            value = values[line + column]
            if value > best or (value == best and row_of[best_column + 1] != 0 and row_of[column + 1] == 0):
                best = value
                best_column = column
        row_price[row + 1] = -best
        column_of[row] = -1
        if row_of[best_column + 1] == 0:
            row_of[best_column + 1] = row + 1
            column_of[row] = best_column


@kernel
def _assign_one_more(values: Any, n_columns: int, start: int, work: Workspace) -> int:
    """Assign a row along the shortest path by reduced costs, reassigning rows on it; return the number of steps."""
    row_price, column_price, row_of, way, slack, seen, _ = work
    row_of[0] = start
    here = 0
    steps = 0
    for column in range(n_columns + 1):
        slack[column] = np.inf
        seen[column] = False
    while row_of[here] != 0:
        seen[here] = True
        steps += n_columns
        row = row_of[here]
        least = np.inf
        nearest = 0
        line = (row - 1) * n_columns
        for column in range(1, n_columns + 1):
            if not seen[column]:
                reduced = -values[line + column - 1] - row_price[row] - column_price[column]
                if reduced < slack[column]:
                    slack[column] = reduced
                    way[column] = here
                if slack[column] < least:
                    least = slack[column]
                    nearest = column
        for column in range(n_columns + 1):
            if seen[column]:
                row_price[row_of[column]] += least
                column_price[column] -= least
            else:
                slack[column] -= least
        here = nearest
    while here != 0:
        before = way[here]
        row_of[here] = row_of[before]
        here = before
    return steps
