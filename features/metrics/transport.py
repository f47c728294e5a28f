"""The Earth Mover's distance between two uniform distributions, exactly.

n points of mass 1/n go to m points of mass 1/m. With n = m this is an assignment; otherwise masses are scaled to
integers (m and n, divided by their greatest common divisor) and the transport problem is solved by successive shortest
paths with dual prices, as in `alignment.assignment`, but with rows and columns that take more than one unit.
"""

from typing import Any, NamedTuple

import numpy as np

from features.metrics.alignment.assignment import assign, make_workspace
from features.metrics.compiled import kernel


class Tree(NamedTuple):
    """Shortest paths, by reduced costs, from a row along columns and back along the flow."""

    distance: Any  # distance to each column, (m,)
    row_distance: Any  # distance to each row that was reached, (n,)
    from_row: Any  # the row before each column, (m,)
    from_column: Any  # the column before each row, -1 at the start, (n,)
    settled: Any  # whether a column's distance is final, (m,)
    reached: Any  # whether a row is in the tree, (n,)


@kernel
def earth_movers_distance(costs: Any) -> float:
    """Return the minimum mean cost of moving one uniform distribution onto the other; costs are float64 ≥ 0, (n, m)."""
    n, m = costs.shape
    if n == m:
        column_of = np.empty(n, np.int64)
        return float(-assign(-costs.ravel(), n, m, column_of, make_workspace(m, np.zeros(1, np.int64))) / n)
    divisor, rest = n, m
    while rest:
        divisor, rest = rest, divisor % rest
    supply = np.full(n, m // divisor, np.int64)
    demand = np.full(m, n // divisor, np.int64)
    return float(least_cost(costs, supply, demand) / (n * (m // divisor)))


@kernel
def least_cost(costs: Any, supply: Any, demand: Any) -> float:
    """Return the minimum cost of moving all supply, int64 (n,), to the demand, int64 (m,); both are used up."""
    n, m = costs.shape
    flow = np.zeros((n, m), np.int64)
    row_price = np.zeros(n)
    column_price = np.empty(m)
    for column in range(m):
        column_price[column] = costs[:, column].min()
    _send_for_nothing(costs, supply, demand, flow, row_price, column_price)
    tree = Tree(
        np.empty(m),
        np.empty(n),
        np.empty(m, np.int64),
        np.empty(n, np.int64),
        np.empty(m, np.bool_),
        np.empty(n, np.bool_),
    )
    for start in range(n):
        while supply[start] > 0:
            end = _grow(costs, flow, demand, row_price, column_price, start, tree)
            for row in range(n):
                if tree.reached[row]:
                    row_price[row] += tree.distance[end] - tree.row_distance[row]
            for column in range(m):
                if tree.settled[column]:
                    column_price[column] -= tree.distance[end] - tree.distance[column]
            _send(start, end, supply, demand, flow, tree.from_row, tree.from_column)
    total = 0.0
    for row in range(n):
        for column in range(m):
            total += flow[row, column] * costs[row, column]
    return total


@kernel
def _send_for_nothing(costs: Any, supply: Any, demand: Any, flow: Any, row_price: Any, column_price: Any) -> None:
    """Raise the prices of the rows as far as possible, and send what then costs nothing more: most of the mass."""
    for row in range(costs.shape[0]):
        least = np.inf
        for column in range(costs.shape[1]):
            least = min(least, costs[row, column] - column_price[column])
        row_price[row] = least
        for column in range(costs.shape[1]):
            if costs[row, column] - column_price[column] == least:
                amount = min(supply[row], demand[column])
                flow[row, column] += amount
                supply[row] -= amount
                demand[column] -= amount


@kernel
def _grow(costs: Any, flow: Any, demand: Any, row_price: Any, column_price: Any, start: int, tree: Tree) -> int:
    """Grow a tree of shortest paths from a row to the first column with demand left, and return that column."""
    n = costs.shape[0]
    distance, row_distance, _, from_column, settled, reached = tree
    settled[:] = False
    reached[:] = False
    distance[:] = np.inf
    from_column[start] = -1
    reached[start] = True
    row_distance[start] = 0.0
    _relax(costs, row_price, column_price, start, 0.0, tree)
    end = _nearest(distance, settled)
    while demand[end] == 0:
        settled[end] = True
        here = distance[end]
        for row in range(n):  # mass arriving at `end` may be redirected by the row it came from
            if flow[row, end] > 0 and not reached[row]:
                reached[row] = True
                row_distance[row] = here
                from_column[row] = end
                _relax(costs, row_price, column_price, row, here, tree)
        end = _nearest(distance, settled)
    return end


@kernel
def _relax(costs: Any, row_price: Any, column_price: Any, row: int, here: float, tree: Tree) -> None:
    """Shorten the paths to columns through a row."""
    distance, from_row, settled = tree.distance, tree.from_row, tree.settled
    for column in range(costs.shape[1]):
        if not settled[column]:
            there = here + costs[row, column] - row_price[row] - column_price[column]
            if there < distance[column]:
                distance[column] = there
                from_row[column] = row


@kernel
def _nearest(distance: Any, settled: Any) -> int:
    best = -1
    for column in range(len(distance)):
        if not settled[column] and (best < 0 or distance[column] < distance[best]):
            best = column
    return best


@kernel
def _send(start: int, end: int, supply: Any, demand: Any, flow: Any, from_row: Any, from_column: Any) -> None:
    """Send as much as the path from row `start` to column `end` admits."""
    amount = min(supply[start], demand[end])
    column = end
    while from_row[column] != start:
        row = from_row[column]
        column = from_column[row]
        amount = min(amount, flow[row, column])
    column = end
    while True:
        row = from_row[column]
        flow[row, column] += amount
        if row == start:
            break
        column = from_column[row]
        flow[row, column] -= amount
    supply[start] -= amount
    demand[end] -= amount
