"""The problem of a pair: cells, and the links between them.

Cell (i, j) stands for "node i of the smaller graph is aligned with node j of the larger". Two things earn matches:

    own     a cell alone: equal concepts, equal attributes, equal self-loops
    link    two cells together: a relation i → k with the role of a relation j → l, for cells (i, j) and (k, l)

A link has two ends, numbered 2q and 2q + 1, so that `end ^ 1` is its other end and `end >> 1` the link.
"""

from typing import Any, NamedTuple

import numpy as np

from features.metrics.compiled import kernel

ALL, ONE, MATCHING = 0, 1, 2
"""How the links of a cell exclude each other: not at all, all of them, or like an assignment."""


class Problem(NamedTuple):
    """Cells and links of a pair; cell (i, j) has the number i · n_columns + j.

    Args:
        n_rows: nodes of the smaller graph.
        n_columns: nodes of the larger graph.
        own: float64, matches of each cell alone, shape (n_cells,).
        cell_of: cell of each end, shape (2 · n_links,).
        weight: float64, matches of each link, shape (n_links,).
        offsets: the ends of cell c are `ends[offsets[c]:offsets[c + 1]]`.
        ends: shape (2 · n_links,).
        local_row: of each of `ends`: which of the distinct rows at the other ends, from 0.
        local_column: likewise.
        local_rows: number of distinct rows at the other ends of each cell, shape (n_cells,).
        local_columns: likewise.
        kind: ALL, ONE or MATCHING for each cell.
        widest: the greatest number of local rows or columns.
    """

    n_rows: int
    n_columns: int
    own: Any
    cell_of: Any
    weight: Any
    offsets: Any
    ends: Any
    local_row: Any
    local_column: Any
    local_rows: Any
    local_columns: Any
    kind: Any
    widest: int


@kernel
def build(
    labels: Any, attributes: Any, relations: Any, other_labels: Any, other_attributes: Any, other_relations: Any
) -> Problem:
    """Build the problem of a pair; the first graph has no more nodes than the other.

    Args:
        labels: concept of each node.
        attributes: (node, key, count) of each distinct attribute.
        relations: (source, target, role, count) of each distinct relation.
        other_labels: of the larger graph.
        other_attributes: of the larger graph.
        other_relations: of the larger graph.

    Returns:
        The problem.
    """
    n_rows = len(labels)
    n_columns = len(other_labels)
    own = np.zeros(n_rows * n_columns)
    for i in range(n_rows):
        for j in range(n_columns):
            if labels[i] == other_labels[j]:
                own[i * n_columns + j] = 1.0
    for x in range(attributes.shape[0]):
        for y in range(other_attributes.shape[0]):
            if attributes[x, 1] == other_attributes[y, 1]:
                cell = attributes[x, 0] * n_columns + other_attributes[y, 0]
                own[cell] += min(attributes[x, 2], other_attributes[y, 2])
    cell_of, weight = _links(relations, other_relations, n_rows, n_columns, own)
    return _arrange(n_rows, n_columns, own, cell_of, weight)


@kernel
def _links(relations: Any, others: Any, n_rows: int, n_columns: int, own: Any) -> Any:
    """Return the cells of the ends and the weights of the links; matching self-loops are added to `own`."""
    n_cells = n_rows * n_columns
    codes = np.empty(relations.shape[0] * others.shape[0], np.int64)
    counts = np.empty(len(codes), np.int64)
    n_codes = 0
    for x in range(relations.shape[0]):
        for y in range(others.shape[0]):
            if relations[x, 2] != others[y, 2]:
                continue
            loop = relations[x, 0] == relations[x, 1]
            if loop != (others[y, 0] == others[y, 1]):
                continue
            count = min(relations[x, 3], others[y, 3])
            source = relations[x, 0] * n_columns + others[y, 0]
            target = relations[x, 1] * n_columns + others[y, 1]
            if loop:
                own[source] += count
                continue
            codes[n_codes] = min(source, target) * n_cells + max(source, target)
            counts[n_codes] = count
            n_codes += 1
    # Two nodes may have several relations: their links are one, with the sum of the weights.
    order = np.argsort(codes[:n_codes])
    cell_of = np.empty(2 * n_codes, np.int64)
    weight = np.empty(n_codes)
    n_links = 0
    last = -1
    for position in order:
        code = codes[position]
        if code == last:
            weight[n_links - 1] += counts[position]
        else:
            cell_of[2 * n_links] = code // n_cells
            cell_of[2 * n_links + 1] = code % n_cells
            weight[n_links] = counts[position]
            n_links += 1
            last = code
    return cell_of[: 2 * n_links], weight[:n_links]


@kernel
def _arrange(n_rows: int, n_columns: int, own: Any, cell_of: Any, weight: Any) -> Problem:
    """Sort the ends by cell, and number the distinct rows and columns that each cell's links lead to."""
    n_cells = n_rows * n_columns
    offsets = np.zeros(n_cells + 1, np.int64)
    for end in range(len(cell_of)):
        offsets[cell_of[end] + 1] += 1
    for cell in range(n_cells):
        offsets[cell + 1] += offsets[cell]
    free = offsets[:n_cells].copy()
    ends = np.empty(len(cell_of), np.int64)
    for end in range(len(cell_of)):
        ends[free[cell_of[end]]] = end
        free[cell_of[end]] += 1

    local_row = np.zeros(len(ends), np.int64)
    local_column = np.zeros(len(ends), np.int64)
    local_rows = np.zeros(n_cells, np.int64)
    local_columns = np.zeros(n_cells, np.int64)
    kind = np.zeros(n_cells, np.int8)
    number_of_row = np.full(n_rows, -1, np.int64)
    number_of_column = np.full(n_columns, -1, np.int64)
    widest = 1
    for cell in range(n_cells):
        first, last = offsets[cell], offsets[cell + 1]
        rows = 0
        columns = 0
        for t in range(first, last):
            i, j = divmod(cell_of[ends[t] ^ 1], n_columns)
            if number_of_row[i] < 0:
                number_of_row[i] = rows
                rows += 1
            if number_of_column[j] < 0:
                number_of_column[j] = columns
                columns += 1
            local_row[t] = number_of_row[i]
            local_column[t] = number_of_column[j]
        for t in range(first, last):
            i, j = divmod(cell_of[ends[t] ^ 1], n_columns)
            number_of_row[i] = -1
            number_of_column[j] = -1
        local_rows[cell] = rows
        local_columns[cell] = columns
        widest = max(widest, rows, columns)
        if rows == last - first and columns == last - first:
            kind[cell] = ALL
        elif rows == 1 or columns == 1:
            kind[cell] = ONE
        else:
            kind[cell] = MATCHING
    return Problem(
        n_rows,
        n_columns,
        own,
        cell_of,
        weight,
        offsets,
        ends,
        local_row,
        local_column,
        local_rows,
        local_columns,
        kind,
        widest,
    )


@kernel
def matches(problem: Problem, column_of: Any) -> float:
    """Return the number of matching triples under an alignment.

    Args:
        problem: the problem of the pair.
        column_of: column of each row, -1 where the row is not aligned.
    """
    n_columns = problem.n_columns
    own, cell_of, weight = problem.own, problem.cell_of, problem.weight
    total = 0.0
    for i in range(problem.n_rows):
        if column_of[i] >= 0:
            total += own[i * n_columns + column_of[i]]
    for link in range(len(weight)):
        if is_chosen(cell_of[2 * link], n_columns, column_of) and is_chosen(
            cell_of[2 * link + 1], n_columns, column_of
        ):
            total += weight[link]
    return total


@kernel
def is_chosen(cell: int, n_columns: int, column_of: Any) -> bool:
    """Return whether an alignment has a cell."""
    row = cell // n_columns
    return bool(column_of[row] == cell - row * n_columns)
