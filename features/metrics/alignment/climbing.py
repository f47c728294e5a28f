"""A good alignment, by growing it cell by cell and by hill-climbing: moves of a row to a free column and row swaps.

`gain[c]` is what cell c adds to the cells currently chosen: its own matches and its links to chosen cells. It is kept
up to date, so that a move is evaluated in constant time.
"""

from typing import Any

from features.metrics.alignment.problem import Problem
from features.metrics.compiled import inlined, kernel

_NOTHING = 1e-9


@kernel
def grow(problem: Problem, column_of: Any, row_of: Any, gain: Any, steps_left: Any) -> float:
    """Align all rows, always adding the cell that gains most with those chosen before: from the root along relations.

    It finds what climbing misses when nodes look alike and differ only in position, as in a chain. It fills `column_of`
    and returns the number of matches; `row_of`, (n_columns,), and `gain`, (n_cells,), are workspaces.
    """
    n_rows, n_columns = problem.n_rows, problem.n_columns
    steps_left[0] -= n_rows * n_rows * n_columns
    offsets, there, weights = problem.offsets, problem.there, problem.weight
    column_of[:] = -1
    row_of[:n_columns] = -1
    gain[:] = problem.own
    score = 0.0
    for _ in range(n_rows):
        best = -1
        for i in range(n_rows):
            if column_of[i] >= 0:
                continue
            for cell in range(i * n_columns, (i + 1) * n_columns):
                if (best < 0 or gain[cell] > gain[best]) and row_of[cell - i * n_columns] < 0:
                    best = cell
        i, j = divmod(best, n_columns)
        column_of[i] = j
        row_of[j] = i
        score += gain[best]
        _choose(offsets, there, weights, best, 1.0, gain)
    return score


@kernel
def climb(problem: Problem, column_of: Any, score: float, row_of: Any, gain: Any, steps_left: Any) -> float:
    """Improve an alignment of all rows in place until no move or swap improves it, or no steps are left.

    It takes the number of matches as `score` and returns the improved one; for the workspaces see `grow`.
    """
    n_rows, n_columns = problem.n_rows, problem.n_columns
    offsets, there, weights = problem.offsets, problem.there, problem.weight
    heaviest = 0.0
    for weight in weights:
        heaviest = max(heaviest, weight)
    row_of[:n_columns] = -1
    gain[:] = problem.own
    for i in range(n_rows):
        row_of[column_of[i]] = i
        _choose(offsets, there, weights, i * n_columns + column_of[i], 1.0, gain)
    improved = True
    while improved:
        improved = False
        for i in range(n_rows):
            if steps_left[0] <= 0:
                return score
            steps = n_columns
            for j in range(n_columns):
                old = column_of[i]
                cell = i * n_columns + j
                if j == old or gain[cell] == 0:
                    continue
                old_cell = i * n_columns + old
                change = gain[cell] - gain[old_cell]
                k = row_of[j]
                if k >= 0:
                    taken = k * n_columns + j
                    swapped = k * n_columns + old
                    change += gain[swapped] - gain[taken]
                    if change + 2 * heaviest <= _NOTHING:
                        continue
                    steps += offsets[old_cell + 1] - offsets[old_cell] + offsets[cell + 1] - offsets[cell]
                    # A link of the two old cells was subtracted twice; one of the two new cells is not in `gain` yet.
                    change += _link(offsets, there, weights, old_cell, taken)
                    change += _link(offsets, there, weights, cell, swapped)
                if change <= _NOTHING:
                    continue
                _choose(offsets, there, weights, old_cell, -1.0, gain)
                _choose(offsets, there, weights, cell, 1.0, gain)
                column_of[i] = j
                row_of[j] = i
                row_of[old] = k
                if k >= 0:
                    _choose(offsets, there, weights, k * n_columns + j, -1.0, gain)
                    _choose(offsets, there, weights, k * n_columns + old, 1.0, gain)
                    column_of[k] = old
                score += change
                improved = True
            steps_left[0] -= steps
    return score


@inlined
def _choose(offsets: Any, there: Any, weights: Any, cell: int, sign: float, gain: Any) -> None:
    """Add (or subtract) what the links of a cell earn at their other ends."""
    for t in range(offsets[cell], offsets[cell + 1]):
        gain[there[t]] += sign * weights[t]


@inlined
def _link(offsets: Any, there: Any, weights: Any, cell: int, other: int) -> float:
    """Return the weight of the link between two cells, 0 if there is none."""
    total = 0.0
    for t in range(offsets[cell], offsets[cell + 1]):
        if there[t] == other:
            total = float(weights[t])
    return total
