"""WWLK: the Wasserstein Weisfeiler-Leman kernel on AMR graphs, k = 2 (Opitz et al. 2021a; Togninalli et al. 2019).

    x₀(v)     mean of the word vectors of the node's label
    xᵢ₊₁(v)   xᵢ(v) + mean over the neighbours u, in both directions, of 0.275 · xᵢ(u)
    x(v)      x₀, x₁, x₂ concatenated, scaled to length 1
    score     1 − Earth Mover's distance of the two sets of vectors, uniform masses, Euclidean costs

The score lies in [−1, 1] and is clipped at 0. The reference implementation draws role weights from [0.25, 0.35] and the
vectors of unknown words at random; here both are fixed, so that the score is deterministic.

The distance is exact: n points of mass 1/n go to m points of mass 1/m. With n = m this is an assignment; otherwise
masses are scaled to integers (m and n, divided by their greatest common divisor) and the transport problem is solved by
successive shortest paths with dual prices, as in `alignment.assignment`, but with rows and columns that take more than
one unit.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from features.metrics.alignment.assignment import assign, make_workspace
from features.metrics.arrays import Statistics
from features.metrics.compiled import kernel
from features.metrics.metric import Comparison, Metric, mean, similarities

ITERATIONS = 2
ROLE_WEIGHT = 0.275
_ROUNDING = 1e-12  # a squared distance below this means the same vector, summed in another order


def _statistics(pairs: Comparison) -> Statistics:
    graphs = pairs.readings.neighbourhoods
    scores = _scores(
        pairs.label_vectors,
        graphs.node_offsets,
        graphs.labels,
        graphs.offsets,
        graphs.neighbours,
        pairs.first,
        pairs.second,
    )
    return similarities(np.maximum(scores, 0.0))


@kernel
def _scores(
    vectors: Any, node_offsets: Any, labels: Any, offsets: Any, neighbours: Any, first: Any, second: Any
) -> Any:
    lengths = np.empty(len(labels))
    for graph in range(len(node_offsets) - 1):
        products = _inner_products(vectors, node_offsets, labels, offsets, neighbours, graph, graph)
        for node in range(products.shape[0]):
            lengths[node_offsets[graph] + node] = np.sqrt(products[node, node])
    scores = np.empty(len(first))
    for pair in range(len(first)):
        left, right = first[pair], second[pair]
        costs = _inner_products(vectors, node_offsets, labels, offsets, neighbours, left, right)
        for i in range(costs.shape[0]):
            for j in range(costs.shape[1]):
                length = lengths[node_offsets[left] + i] * lengths[node_offsets[right] + j]
                squared = 2.0 - 2.0 * costs[i, j] / length if length > 0 else 2.0
                costs[i, j] = np.sqrt(squared) if squared > _ROUNDING else 0.0
        scores[pair] = 1.0 - earth_movers_distance(costs)
    return scores


@kernel
def _inner_products(
    vectors: Any, node_offsets: Any, labels: Any, offsets: Any, neighbours: Any, left: int, right: int
) -> Any:
    """Return x(v) · x(u) for the nodes of two graphs, before scaling, shape (n_left, n_right).

    Adding the neighbours is linear, so it is applied to the products of the labels' vectors, x₀(v) · x₀(u), and not to
    the vectors, which are much longer.
    """
    start, end = node_offsets[left], node_offsets[left + 1]
    other_start, other_end = node_offsets[right], node_offsets[right + 1]
    rows, columns = vectors[labels[start:end]], vectors[labels[other_start:other_end]]
    products = np.dot(rows.astype(np.float64), columns.astype(np.float64).T)  # small distances require the precision
    total = products.copy()
    halfway = np.empty_like(products)
    for _ in range(ITERATIONS):
        _take_up_left(products, offsets, neighbours, start, halfway)
        _take_up_right(halfway, offsets, neighbours, other_start, products)
        total += products
    return total


@kernel
def _take_up_left(products: Any, offsets: Any, neighbours: Any, start: int, result: Any) -> None:
    """Add to the row of each node of the left graph the weighted mean of its neighbours' rows."""
    for node in range(products.shape[0]):
        result[node] = products[node]
        first, last = offsets[start + node], offsets[start + node + 1]
        weight = ROLE_WEIGHT / max(last - first, 1)
        for t in range(first, last):
            other = neighbours[t] - start
            for column in range(products.shape[1]):
                result[node, column] += weight * products[other, column]


@kernel
def _take_up_right(products: Any, offsets: Any, neighbours: Any, start: int, result: Any) -> None:
    """Add to the column of each node of the right graph the weighted mean of its neighbours' columns."""
    for node in range(products.shape[1]):
        first, last = offsets[start + node], offsets[start + node + 1]
        weight = ROLE_WEIGHT / max(last - first, 1)
        for row in range(products.shape[0]):
            taken = 0.0
            for t in range(first, last):
                taken += products[row, neighbours[t] - start]
            result[row, node] = products[row, node] + weight * taken


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
    divisor = math.gcd(n, m)
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


WWLK = Metric(
    name="wwlk",
    summary="1 − Earth Mover's distance of contextualised node vectors",
    question="Do similar concepts stand beside similar concepts, a kitten being near a cat?",
    statistics=_statistics,
    number=mean,
    parameters={"k": str(ITERATIONS), "role_weight": str(ROLE_WEIGHT), "transport": "exact"},
    vacuous=None,
)
