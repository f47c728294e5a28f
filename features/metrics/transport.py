"""The Earth Mover's distance between two uniform distributions, exactly.

n points of mass 1/n go to m points of mass 1/m. With n = m this is an assignment; else masses are made whole (m and n,
divided by their greatest common divisor) and the transport problem is solved by successive shortest paths with dual
prices, as in `alignment.assignment`, but with rows and columns that take more than one unit.
"""

from typing import Any

import numpy as np

from features.metrics.alignment.assignment import assign, make_workspace
from features.metrics.compiled import kernel


@kernel
def earth_movers_distance(costs: Any) -> float:
    """Return the least mean cost of moving one uniform distribution onto the other.

    Args:
        costs: float64 ≥ 0, shape (n, m), cost of moving mass from point i to point j; n, m ≥ 1.
    """
    n, m = costs.shape
    if n == m:
        column_of = np.empty(n, np.int64)
        return -assign(-costs.ravel(), n, m, column_of, make_workspace(m)) / n
    divisor, rest = n, m
    while rest:
        divisor, rest = rest, divisor % rest
    supply = np.full(n, m // divisor, np.int64)
    demand = np.full(m, n // divisor, np.int64)
    return least_cost(costs, supply, demand) / (n * (m // divisor))


@kernel
def least_cost(costs: Any, supply: Any, demand: Any) -> float:
    """Return the least cost of moving all supply to the demand.

    Args:
        costs: float64, shape (n, m).
        supply: int64, shape (n,), used up.
        demand: int64, shape (m,), used up; its sum is that of the supply.
    """
    n, m = costs.shape
    flow = np.zeros((n, m), np.int64)
    row_price = np.zeros(n)
    column_price = np.empty(m)
    for column in range(m):
        column_price[column] = costs[:, column].min()
    distance = np.empty(m)  # to each column, by reduced costs
    row_distance = np.empty(n)
    from_row = np.empty(m, np.int64)
    from_column = np.empty(n, np.int64)
    settled = np.empty(m, np.bool_)
    reached = np.empty(n, np.bool_)
    for start in range(n):
        while supply[start] > 0:
            settled[:] = False
            reached[:] = False
            reached[start] = True
            row_distance[start] = 0.0
            from_column[start] = -1
            for column in range(m):
                distance[column] = costs[start, column] - row_price[start] - column_price[column]
                from_row[column] = start
            end = _nearest(distance, settled)
            while demand[end] == 0:
                settled[end] = True
                for row in range(n):  # mass that arrives here may be sent elsewhere from the row it came from
                    if flow[row, end] > 0 and not reached[row]:
                        reached[row] = True
                        row_distance[row] = distance[end]
                        from_column[row] = end
                        for column in range(m):
                            if not settled[column]:
                                reduced = costs[row, column] - row_price[row] - column_price[column]
                                if distance[end] + reduced < distance[column]:
                                    distance[column] = distance[end] + reduced
                                    from_row[column] = row
                end = _nearest(distance, settled)
            for row in range(n):
                if reached[row]:
                    row_price[row] += distance[end] - row_distance[row]
            for column in range(m):
                if settled[column]:
                    column_price[column] -= distance[end] - distance[column]
            _send(start, end, supply, demand, flow, from_row, from_column)
    total = 0.0
    for row in range(n):
        for column in range(m):
            total += flow[row, column] * costs[row, column]
    return total


@kernel
def _nearest(distance: Any, settled: Any) -> int:
    best = -1
    for column in range(len(distance)):
        if not settled[column] and (best < 0 or distance[column] < distance[best]):
            best = column
    return best


@kernel
def _send(start: int, end: int, supply: Any, demand: Any, flow: Any, from_row: Any, from_column: Any) -> None:
    """Send as much as the path from row `start` to column `end` takes."""
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
