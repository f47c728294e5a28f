"""The integer programme of a pair, for the few that the search leaves open.

    maximise  Σ own(c) x(c) + Σ weight(q) y(q)
    subject to  Σ over a row of x ≤ 1,  Σ over a column of x ≤ 1
                y(links of c into one row or one column) summed ≤ x(c)      as those exclude each other
                x whole, y between 0 and 1

Solved by HiGHS (Huangfu & Hall 2018) through scipy.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from features.metrics.alignment.problem import Problem

MAX_LINKS = 200_000
"""More links than this take gigabytes and minutes: such a pair stays open."""
_NODE_LIMIT = 5_000  # nodes, not seconds: the outcome must not depend on the machine
_OPTIMAL = 0


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
    rows, columns = np.divmod(np.arange(n_cells), problem.n_columns)
    blocks = [_membership(rows, np.arange(n_cells), n_cells + n_links)]
    blocks.append(_membership(columns, np.arange(n_cells), n_cells + n_links))
    upper = [np.ones(problem.n_rows), np.ones(problem.n_columns)]
    ends = np.arange(2 * n_links)
    here, there = problem.cell_of, problem.cell_of[ends ^ 1]
    for line, width in ((there // problem.n_columns, problem.n_rows), (there % problem.n_columns, problem.n_columns)):
        groups, group_of = np.unique(here * np.int64(width) + line, return_inverse=True)
        block = _membership(group_of, n_cells + (ends >> 1), n_cells + n_links)
        block -= csr_array(
            (np.ones(len(groups)), (np.arange(len(groups)), groups // width)), shape=(len(groups), n_cells + n_links)
        )
        blocks.append(block)
        upper.append(np.zeros(len(groups)))
    result = None
    from scipy.sparse import vstack

    result = milp(
        -np.concatenate([problem.own, problem.weight]),
        constraints=LinearConstraint(vstack(blocks), -np.inf, np.concatenate(upper)),
        integrality=np.concatenate([np.ones(n_cells), np.zeros(n_links)]),
        bounds=Bounds(0, 1),
        # Scores are whole numbers: a gap below one is a proof.
        options={"node_limit": _NODE_LIMIT, "mip_rel_gap": 0.0},
    )
    found = known if result.x is None else max(known, float(np.round(-result.fun)))
    if result.status == _OPTIMAL:
        return found, True
    bound = result.mip_dual_bound
    return found, bound is not None and -bound < found + 1 - 1e-6


def _membership(groups: np.ndarray, members: np.ndarray, width: int) -> csr_array:
    """Return the matrix with a 1 at (group, member)."""
    return csr_array((np.ones(len(groups)), (groups, members)), shape=(int(groups.max(initial=-1)) + 1, width))
