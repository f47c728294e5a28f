"""The integer programme of a pair, for the few that the search leaves open.

    maximise    Σ own(c) x(c) + Σ weight(q) y(q)
    subject to  Σ x(c) ≤ 1          over the cells of each row, and of each column
                Σ y(q) ≤ x(c)       over the links of a cell c whose other ends lie in one row, or in one column
                x whole, y ≥ 0      the y are whole by themselves once the x are

Solved by HiGHS (Huangfu & Hall 2018) through scipy.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from features.metrics.alignment.problem import Problem

MAX_LINKS = 2_500
"""With more links than this, HiGHS takes minutes: such a pair stays open."""
NODE_LIMIT = 1_000
"""Nodes of HiGHS' tree; not seconds, because the outcome must not depend on the machine."""
_OPTIMAL = 0
_EPSILON = 1e-6

Positions = npt.NDArray[np.integer[Any]]


def solve_exactly(problem: Problem, known: float) -> tuple[float, bool]:
    """Solve a pair by integer programming.

    Args:
        problem: the problem of the pair.
        known: matches of an alignment found so far.

    Returns:
        (greatest number of matches found, whether it is proven to be optimal).
    """
    n_cells, n_links = len(problem.own), len(problem.weight)
    if n_links > MAX_LINKS:
        return known, False
    width = n_cells + n_links
    cells, ends = np.arange(n_cells), np.arange(2 * n_links)
    rows, columns = np.divmod(cells, problem.n_columns)
    one_each = [_sums(rows, cells, width), _sums(columns, cells, width)]
    there_rows, there_columns = np.divmod(problem.cell_of[ends ^ 1], problem.n_columns)
    within_cell = [
        _sums_within_cell(problem.cell_of, there, n_cells, ends >> 1, width) for there in (there_rows, there_columns)
    ]
    constraints = vstack(one_each + within_cell)
    upper = np.zeros(constraints.shape[0])
    upper[: problem.n_rows + problem.n_columns] = 1.0
    result = milp(
        -np.concatenate([problem.own, problem.weight]),
        constraints=LinearConstraint(constraints, -np.inf, upper),
        integrality=np.concatenate([np.ones(n_cells), np.zeros(n_links)]),
        bounds=Bounds(0, 1),
        options={"node_limit": NODE_LIMIT, "mip_rel_gap": 0.0},
    )
    found = known if result.x is None else max(known, float(np.round(-result.fun)))
    if result.status == _OPTIMAL:
        return found, True
    bound = result.mip_dual_bound
    return found, bound is not None and bool(-bound < found + 1 - _EPSILON)  # scores are whole numbers


def _sums(groups: Positions, variables: Positions, width: int) -> Any:
    """Return the matrix whose rows sum the variables of each group."""
    return csr_array((np.ones(len(groups)), (groups, variables)), shape=(int(groups.max()) + 1, width))


def _sums_within_cell(cell_of: Positions, there: Positions, n_cells: int, links: Positions, width: int) -> Any:
    """Return the rows Σ y(q) − x(c), one for each cell c and each row (or column) `there` at the other ends."""
    stride = int(there.max(initial=0)) + 1
    groups, group_of = np.unique(cell_of * stride + there, return_inverse=True)
    coefficients = np.concatenate([np.ones(len(links)), -np.ones(len(groups))])
    constraint = np.concatenate([group_of, np.arange(len(groups))])
    variable = np.concatenate([n_cells + links, groups // stride])
    return csr_array((coefficients, (constraint, variable)), shape=(len(groups), width))
