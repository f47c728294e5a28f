"""The integer program of a pair, for the few pairs that the search leaves open.

    maximise    Σ own(c) x(c) + Σ weight(q) y(q)
    subject to  Σ x(c) ≤ 1          over the cells of each row, and of each column
                Σ y(q) ≤ x(c)       over the links of a cell c whose other ends lie in one row, or in one column
                x integer, y ≥ 0    the y are integers automatically if the x are

Solved by HiGHS (Huangfu & Hall 2018) through scipy.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from features.metrics.alignment.problem import Problem

MAX_LINKS = 2_500
"""With more links than this, HiGHS takes minutes: such a pair stays open."""
NODE_LIMIT = 1_000
"""Nodes of HiGHS's tree; not seconds, because the result must not depend on the machine."""
_OPTIMAL = 0
_EPSILON = 1e-6

Positions = npt.NDArray[np.integer[Any]]
Columns = npt.NDArray[np.int64]


def solve_exactly(problem: Problem, known: float, known_columns: Columns) -> tuple[float, Columns, bool]:
    """Solve a pair by integer programming.

    Args:
        problem: the problem of the pair.
        known: matches of an alignment found so far.
        known_columns: that alignment, the column of each row, shape (n_rows,).

    Returns:
        (greatest number of matches found, the alignment, whether it is proven optimal).
    """
    n_cells, n_links = len(problem.own), len(problem.there) // 2
    if n_links > MAX_LINKS:
        return known, known_columns, False
    # Imported here because it takes half a second, and most users of the metrics have no pair that needs it.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import vstack

    width = n_cells + n_links
    cells = np.arange(n_cells)
    rows, columns = np.divmod(cells, problem.n_columns)
    one_each = [_sums(rows, cells, width), _sums(columns, cells, width)]
    here = np.repeat(cells, np.diff(problem.offsets))
    first = np.flatnonzero(problem.there > here)  # the end that represents each link
    link_of = np.empty(2 * n_links, np.int64)
    link_of[first] = link_of[problem.twin[first]] = np.arange(n_links)
    within_cell = [
        _sums_within_cell(here, there, n_cells, link_of, width) for there in np.divmod(problem.there, problem.n_columns)
    ]
    constraints = vstack(one_each + within_cell)
    upper = np.zeros(constraints.shape[0])
    upper[: problem.n_rows + problem.n_columns] = 1.0
    result = milp(
        -np.concatenate([problem.own, problem.weight[first]]),
        constraints=LinearConstraint(constraints, -np.inf, upper),
        integrality=np.concatenate([np.ones(n_cells), np.zeros(n_links)]),
        bounds=Bounds(0, 1),
        options={"node_limit": NODE_LIMIT, "mip_rel_gap": 0.0},
    )
    if result.x is not None and round(-result.fun) > known:
        chosen = result.x[:n_cells].reshape(problem.n_rows, problem.n_columns)
        known, known_columns = float(round(-result.fun)), np.where(chosen.max(axis=1) > 0.5, chosen.argmax(axis=1), -1)
    if result.status == _OPTIMAL:
        return known, known_columns, True
    bound = result.mip_dual_bound
    proven = bound is not None and bool(-bound < known + 1 - _EPSILON)  # scores are integers
    return known, known_columns, proven


def _sums(groups: Positions, variables: Positions, width: int) -> Any:
    """Return the matrix whose rows sum the variables in each group."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(groups)), (groups, variables)), shape=(int(groups.max()) + 1, width))


def _sums_within_cell(here: Positions, there: Positions, n_cells: int, links: Positions, width: int) -> Any:
    """Return the rows Σ y(q) − x(c): one for each cell c in `here` and each row (or column) `there` of its links."""
    from scipy.sparse import csr_array

    stride = int(there.max(initial=0)) + 1
    groups, group_of = np.unique(here * stride + there, return_inverse=True)
    coefficients = np.concatenate([np.ones(len(links)), -np.ones(len(groups))])
    constraint = np.concatenate([group_of, np.arange(len(groups))])
    variable = np.concatenate([n_cells + links, groups // stride])
    return csr_array((coefficients, (constraint, variable)), shape=(len(groups), width))
