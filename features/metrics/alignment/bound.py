"""An upper bound on the value of a cell, when the weight of each link is shared between its two ends.

Split the weight w of every link into a share s for one end and w − s for the other. If a cell is chosen, it earns its
own matches and at most the best *consistent* choice of its links, each at this end's share: a small assignment problem
over the rows and columns at the other ends. An assignment over these values is an upper bound on the matches, whatever
the shares, since an alignment earns each of its links once, in two shares. `search` looks for shares that make the
bound tight (Lagrangian relaxation; Gilmore 1962, Lawler 1963; shares as in Klau 2009).
"""

from typing import Any, NamedTuple

import numpy as np

from features.metrics.alignment.assignment import Workspace, assign, make_workspace
from features.metrics.alignment.problem import ALL, ONE, Problem
from features.metrics.compiled import kernel

_NOTHING = 1e-9


class LocalSpace(NamedTuple):
    """Arrays for the small assignment problem of a cell, reused between cells."""

    values: Any
    end_at: Any
    column_of: Any
    column_greatest: Any
    column_taken: Any
    work: Workspace


@kernel
def make_local_space(widest: int, steps_left: Any) -> LocalSpace:
    """Return the arrays for cells whose links lead to at most `widest` rows and columns."""
    return LocalSpace(
        np.empty(widest * widest),
        np.empty(widest * widest, np.int64),
        np.empty(widest, np.int64),
        np.empty(widest),
        np.empty(widest, np.bool_),
        make_workspace(widest, steps_left),
    )


@kernel
def value_cells(
    problem: Problem, shares: Any, allowed: Any, stale: Any, value: Any, picked: Any, space: LocalSpace
) -> None:
    """Find the maximum value of cells under the shares, or an upper bound on it once there are no steps left.

    Args:
        problem: the problem of the pair.
        shares: share of each end in its link, shape (n_ends,); those of two twins add up to the weight.
        allowed: whether each cell may still be chosen; a forbidden cell and links to it have no value.
        stale: whether the value of each cell must be recomputed, shape (n_cells,); all False afterwards.
        value: the value, filled for stale cells, shape (n_cells,).
        picked: whether an end is part of the best choice of its cell, filled for stale cells, shape (n_ends,).
        space: workspace.
    """
    own, offsets, there, kind = problem.own, problem.offsets, problem.there, problem.kind
    steps = len(own)
    for cell in range(len(own)):
        if not stale[cell]:
            continue
        stale[cell] = False
        value[cell] = 0.0
        if not allowed[cell]:
            continue
        first, last = offsets[cell], offsets[cell + 1]
        steps += last - first
        total = own[cell]
        if kind[cell] == ALL:
            for t in range(first, last):
                picked[t] = shares[t] > 0 and allowed[there[t]]
                if picked[t]:
                    total += shares[t]
        elif kind[cell] == ONE:
            best = 0.0
            best_end = -1
            for t in range(first, last):
                picked[t] = False
                if shares[t] > best and allowed[there[t]]:
                    best = shares[t]
                    best_end = t
            if best_end >= 0:
                picked[best_end] = True
            total += best
        else:
            total += _best_matching(problem, cell, shares, allowed, picked, space)
        value[cell] = total
    space.work.steps_left[0] -= steps


@kernel
def _best_matching(problem: Problem, cell: int, shares: Any, allowed: Any, picked: Any, space: LocalSpace) -> float:
    """Solve the assignment problem of a cell's ends; each share is at (local row, local column)."""
    n_rows, n_columns = problem.local_rows[cell], problem.local_columns[cell]
    local_row, local_column, there = problem.local_row, problem.local_column, problem.there
    first, last = problem.offsets[cell], problem.offsets[cell + 1]
    values, end_at, column_of = space.values, space.end_at, space.column_of
    transposed = n_rows > n_columns
    if transposed:
        n_rows, n_columns = n_columns, n_rows
        local_row, local_column = local_column, local_row
    for position in range(n_rows * n_columns):
        values[position] = 0.0
        end_at[position] = -1
    for t in range(first, last):
        picked[t] = False
        if shares[t] > 0 and allowed[there[t]]:
            position = local_row[t] * n_columns + local_column[t]
            values[position] = shares[t]
            end_at[position] = t
    total: float
    most: float
    total, most = _match_greedily(n_rows, n_columns, space)
    if total < most - _NOTHING:
        if space.work.steps_left[0] <= 0:
            return most
        total = assign(values, n_rows, n_columns, column_of, space.work)
    for row in range(n_rows):
        if column_of[row] >= 0 and end_at[row * n_columns + column_of[row]] >= 0:
            picked[end_at[row * n_columns + column_of[row]]] = True
    return total


@kernel
def _match_greedily(n_rows: int, n_columns: int, space: LocalSpace) -> Any:
    """Give each row its best free column; return the sum, and a bound that equals it in most cells.

    No matching exceeds the sum of the row maxima, nor that of the column maxima.
    """
    values, column_of = space.values, space.column_of
    greatest, taken = space.column_greatest, space.column_taken
    for column in range(n_columns):
        greatest[column] = 0.0
        taken[column] = False
    total = 0.0
    of_rows = 0.0
    for row in range(n_rows):
        row_greatest = 0.0
        best = 0.0
        best_column = -1
        for column in range(n_columns):
            value = values[row * n_columns + column]
            row_greatest = max(row_greatest, value)
            greatest[column] = max(greatest[column], value)
            if value > best and not taken[column]:
                best = value
                best_column = column
        of_rows += row_greatest
        total += best
        column_of[row] = best_column
        if best_column >= 0:
            taken[best_column] = True
    of_columns = 0.0
    for column in range(n_columns):
        of_columns += greatest[column]
    space.work.steps_left[0] -= n_rows * n_columns
    return total, min(of_rows, of_columns)
