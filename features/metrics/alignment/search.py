"""The search for a proven optimum: tighten the bound, climb, forbid cells, and branch if that is not enough.

node of the tree:  cells still allowed, shares of the links
    repeat: value of each cell → assignment → bound          stop when bound < best + 1
            the assignment, improved by climbing → best; once, an alignment grown cell by cell → best
            forbid each cell whose reduced cost shows that no alignment through it exceeds best
            move the shares of links on which the two ends disagree (Polyak step)
    still open: choose a cell; one child without it, one child with it and without the rest of its row and column

Climbing moves a row to a free column or swaps two rows. `gain[c]` is what cell c adds to the cells currently chosen:
its own matches and its links to chosen cells. It is kept up to date, so that a move is evaluated in constant time.

The search ends after a number of steps, which does not depend on the machine: a step is an entry of an array that a
kernel reads, some 10⁹ a second. The greatest bound of the nodes that are still open then bounds the matches.
"""

from typing import Any, NamedTuple

import numpy as np

from features.metrics.alignment.assignment import Workspace, assign, make_workspace
from features.metrics.alignment.bound import LocalSpace, make_local_space, value_cells
from features.metrics.alignment.problem import Problem, is_chosen, matches
from features.metrics.compiled import inlined, kernel

_EPSILON = 1e-6  # bounds are sums of doubles; scores are integers
_NOTHING = 1e-9  # no gain of a move
_STALL = 4  # iterations without progress before the step is shortened
_SHORTEN = 0.6
_PROGRESS = 1e-3
_GROW = 8  # iteration of the root in which an alignment is grown: nine in ten pairs are closed before
_RETRY = 2  # climb again only from alignments at most this far below the best
_ROOT_ITERATIONS = 40  # improvements of the shares at the root, and at each other node
_NODE_ITERATIONS = 20

START, BOUND, SEARCH, OPEN = range(4)
"""What closed a pair: the first assignment and climb, better shares, branching, nothing."""


class State(NamedTuple):
    """Arrays of the current node."""

    value: Any  # value of each cell, (n_cells,)
    stale: Any  # whether the value must be recomputed, (n_cells,)
    picked: Any  # whether an end is part of its cell's best choice, (n_ends,)
    column_of: Any  # the assignment, (n_rows,)
    climbed: Any  # a better alignment, (n_rows,)
    best_of: Any  # the best alignment so far, (n_rows,)
    row_of: Any  # workspace of climbing, (n_columns,)
    gain: Any  # workspace of climbing, (n_cells,)
    work: Workspace  # workspace of the assignment; the search ends when its `steps_left`, shared by all, are 0 or less
    local: LocalSpace  # workspace of the cells


@kernel
def search(problem: Problem, steps: int) -> Any:
    """Find the greatest number of matches of a pair; it is left open after some number of steps.

    Returns:
        (matches found, the column of each row in that alignment, an upper bound on the matches, what proved that they
        equal it or `OPEN`, the number of steps).
    """
    n_rows, n_columns = problem.n_rows, problem.n_columns
    n_cells = n_rows * n_columns
    steps_left = np.array([steps])
    state = State(
        np.zeros(n_cells),
        np.ones(n_cells, np.bool_),
        np.zeros(len(problem.there), np.bool_),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_columns, np.int64),
        np.empty(n_cells),
        make_workspace(n_columns, steps_left),
        make_local_space(problem.widest, steps_left),
    )
    allowed = (problem.own > 0) | (np.diff(problem.offsets) > 0)
    open_nodes = [(allowed, 0.5 * problem.weight, np.inf)]
    best = -1.0
    nodes = 0
    iterations = 0
    while len(open_nodes) > 0 and (nodes == 0 or steps_left[0] > 0):
        allowed, shares, known_bound = open_nodes.pop()
        best, bound, iterations = _tighten(problem, state, allowed, shares, best, known_bound)
        nodes += 1
        if bound < best + 1 - _EPSILON:
            continue
        cell = _branching_cell(problem, state, allowed)
        if cell < 0:  # the allowed cells are an alignment by themselves
            best = _only_alignment(problem, state, allowed, best)
            continue
        without = allowed.copy()
        without[cell] = False
        open_nodes.append((without, shares.copy(), bound))
        row, column = divmod(cell, n_columns)
        allowed[row * n_columns : (row + 1) * n_columns] = False
        allowed[column::n_columns] = False
        allowed[cell] = True
        open_nodes.append((allowed, shares, bound))
        steps_left[0] -= n_cells + len(shares)
    most = best
    for _, _, bound in open_nodes:
        most = max(most, np.floor(bound + _EPSILON))
    closed_by = START if iterations == 1 else BOUND
    if most > best:
        closed_by = OPEN
    elif nodes > 1:
        closed_by = SEARCH
    return best, state.best_of, most, closed_by, steps - steps_left[0]


@kernel
def _tighten(problem: Problem, state: State, allowed: Any, shares: Any, best: float, known_bound: float) -> Any:
    """Improve the shares of a node, and the best alignment; forbid cells that cannot be part of a better one.

    `best`, the matches of the best alignment so far, is -1 at the root; no alignment of the node has more matches than
    `known_bound`. Returned are the best so far, a bound on the node's alignments that exceed it, and the iterations.
    """
    n_rows, n_columns = problem.n_rows, problem.n_columns
    value, stale = state.value, state.stale
    stale[:] = True
    step = 1.0
    least_bound = known_bound
    stalled = 0
    last_score = -1.0
    is_root = best < 0
    iterations = _ROOT_ITERATIONS if is_root else _NODE_ITERATIONS
    for iteration in range(iterations):
        value_cells(problem, shares, allowed, stale, value, state.picked, state.local)
        bound = assign(value, n_rows, n_columns, state.column_of, state.work)
        score = matches(problem, state.column_of)
        alignment = state.column_of
        tightest = min(bound, least_bound)  # an earlier bound still holds: no better alignment was forbidden since
        is_open = tightest >= max(score, best) + 1 - _EPSILON
        if is_open and (iteration == 0 or (score >= best - _RETRY and score != last_score)):
            last_score = score
            state.climbed[:] = state.column_of
            score = climb(problem, state.climbed, score, state.row_of, state.gain, state.work.steps_left)
            alignment = state.climbed
        if score > best:
            best = score
            state.best_of[:] = alignment
        if is_root and iteration == _GROW and tightest >= best + 1 - _EPSILON:
            score = grow(problem, state.climbed, state.row_of, state.gain, state.work.steps_left)
            score = climb(problem, state.climbed, score, state.row_of, state.gain, state.work.steps_left)
            if score > best:
                best = score
                state.best_of[:] = state.climbed
        if tightest < best + 1 - _EPSILON or state.work.steps_left[0] <= 0:
            return best, tightest, iteration + 1
        _forbid(problem, state, allowed, bound - (best + 1 - _EPSILON))
        if bound < least_bound - _PROGRESS:
            least_bound = bound
            stalled = 0
        else:
            stalled += 1
            if stalled == _STALL:
                step *= _SHORTEN
                stalled = 0
        _move_shares(problem, state, allowed, shares, step * (bound - best - 0.5))
    return best, least_bound, iterations


@kernel
def _forbid(problem: Problem, state: State, allowed: Any, slack: float) -> None:
    """Forbid each cell whose reduced cost exceeds the slack: choosing it takes the bound below best + 1."""
    offsets, there = problem.offsets, problem.there
    row_price, column_price = state.work.row_price, state.work.column_price
    value, stale = state.value, state.stale
    for i in range(problem.n_rows):
        for j in range(problem.n_columns):
            cell = i * problem.n_columns + j
            if allowed[cell] and -value[cell] - row_price[i + 1] - column_price[j + 1] > slack:
                allowed[cell] = False
                stale[cell] = True
                for t in range(offsets[cell], offsets[cell + 1]):
                    stale[there[t]] = True


@kernel
def _move_shares(problem: Problem, state: State, allowed: Any, shares: Any, distance: float) -> None:
    """Take a subgradient step: an end picked in vain gives some of its share to the other end.

    In vain means that its own cell is chosen, and the other cell is not chosen or does not pick the link.
    """
    offsets, there, twin, n_columns = problem.offsets, problem.there, problem.twin, problem.n_columns
    picked, column_of, stale = state.picked, state.column_of, state.stale
    in_vain = 0
    for counting in (True, False):
        step = 0.0 if counting else distance / in_vain
        for i in range(problem.n_rows):
            cell = i * n_columns + column_of[i]
            if not allowed[cell]:
                continue
            for t in range(offsets[cell], offsets[cell + 1]):
                if not picked[t] or (picked[twin[t]] and is_chosen(there[t], n_columns, column_of)):
                    continue
                if counting:
                    in_vain += 1
                else:
                    shares[t] -= step
                    shares[twin[t]] += step
                    stale[cell] = True
                    stale[there[t]] = True
        if in_vain == 0:
            return


@kernel
def _alternatives(problem: Problem, allowed: Any, cell: int) -> int:
    """Return the number of other allowed cells in the row and the column of an allowed cell."""
    n_columns = problem.n_columns
    row, column = divmod(cell, n_columns)
    in_row = np.count_nonzero(allowed[row * n_columns : (row + 1) * n_columns])
    return int(in_row + np.count_nonzero(allowed[column::n_columns]) - 2)


@kernel
def _branching_cell(problem: Problem, state: State, allowed: Any) -> int:
    """Return the chosen cell whose links disagree most, among those with alternatives; else any of these; else -1."""
    n_columns = problem.n_columns
    best = -1
    most = -1.0
    for i in range(problem.n_rows):
        cell = i * n_columns + state.column_of[i]
        if not allowed[cell]:
            continue
        alternatives = _alternatives(problem, allowed, cell)
        if alternatives == 0:
            continue
        disagreement = 0.01 * alternatives  # where the links agree, the cell with most alternatives
        for t in range(problem.offsets[cell], problem.offsets[cell + 1]):
            other = problem.there[t]
            other_picks = is_chosen(other, n_columns, state.column_of) and state.picked[problem.twin[t]]
            if allowed[other] and state.picked[t] != other_picks:
                disagreement += 1.0
        if disagreement > most:
            most = disagreement
            best = cell
    if best >= 0:
        return best
    for cell in range(len(allowed)):
        if allowed[cell] and _alternatives(problem, allowed, cell) > 0:
            return cell
    return -1


@kernel
def _only_alignment(problem: Problem, state: State, allowed: Any, best: float) -> float:
    """Return the matches of the alignment formed by the allowed cells, or the best so far."""
    state.climbed[:] = -1
    for cell in np.flatnonzero(allowed):
        state.climbed[cell // problem.n_columns] = cell % problem.n_columns
    score = matches(problem, state.climbed)
    if score > best:
        best = score
        state.best_of[:] = state.climbed
    return best


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
