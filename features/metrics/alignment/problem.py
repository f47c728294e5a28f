"""The problem of a pair: cells, and the links between them.

Cell (i, j) stands for "node i of the smaller graph is aligned with node j of the larger". Two things earn matches:

    own     a cell alone: equal concepts, equal attributes, equal self-loops
    link    two cells together: a relation i → k with the role of a relation j → l, for cells (i, j) and (k, l)

A link is kept at both of its cells: end t of a cell leads to the cell `there[t]`, where it is end `twin[t]`.
"""

from typing import Any, NamedTuple

import numpy as np

from features.metrics.compiled import kernel
from features.metrics.triples import TripleBatch

ALL, ONE, MATCHING = 0, 1, 2  # How the links of a cell exclude each other: not at all, mutually, or as in an assignment


class Problem(NamedTuple):
    """Cells and links of a pair; cell (i, j) has the number i · n_columns + j."""

    n_rows: int  # nodes of the smaller graph
    n_columns: int  # nodes of the larger graph
    own: Any  # float64, matches of each cell alone, (n_cells,)
    offsets: Any  # the ends of cell c are `offsets[c]:offsets[c + 1]`
    there: Any  # cell at the other end, (n_ends,), n_ends = 2 · n_links
    twin: Any  # the other end, (n_ends,)
    weight: Any  # float64, matches of the link, (n_ends,)
    local_row: Any  # which of the distinct rows that the links of the cell lead to, from 0, (n_ends,)
    local_column: Any  # the same for columns
    local_rows: Any  # number of distinct rows that the links of each cell lead to, (n_cells,)
    local_columns: Any  # the same for columns
    kind: Any  # ALL, ONE or MATCHING for each cell
    widest: int  # the greatest number of local rows or columns


@kernel
def build_pair(triples: TripleBatch, left: int, right: int) -> Problem:
    """Build the problem of two graphs of a batch, the smaller one first."""
    nodes, all_labels, attribute_offsets, all_attributes, relation_offsets, all_relations = triples
    if nodes[left + 1] - nodes[left] > nodes[right + 1] - nodes[right]:
        left, right = right, left
    labels = all_labels[nodes[left] : nodes[left + 1]]
    other_labels = all_labels[nodes[right] : nodes[right + 1]]
    attributes = all_attributes[attribute_offsets[left] : attribute_offsets[left + 1]]
    other_attributes = all_attributes[attribute_offsets[right] : attribute_offsets[right + 1]]
    relations = all_relations[relation_offsets[left] : relation_offsets[left + 1]]
    other_relations = all_relations[relation_offsets[right] : relation_offsets[right + 1]]
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
    return _arrange(n_rows, n_columns, own, *_links(relations, other_relations, n_rows, n_columns, own))


@kernel
def _links(relations: Any, others: Any, n_rows: int, n_columns: int, own: Any) -> Any:
    """Return the two cells of each link and its weight; matching self-loops are added to `own`."""
    most = relations.shape[0] * others.shape[0]
    cells = np.empty((most, 2), np.int64)
    weight = np.empty(most)
    n_links = 0
    for x in range(relations.shape[0]):
        source, target, role, count = relations[x]
        for y in range(others.shape[0]):
            if role != others[y, 2] or (source == target) != (others[y, 0] == others[y, 1]):
                continue
            cell = source * n_columns + others[y, 0]
            if source == target:
                own[cell] += min(count, others[y, 3])
                continue
            cells[n_links, 0] = cell
            cells[n_links, 1] = target * n_columns + others[y, 1]
            weight[n_links] = min(count, others[y, 3])
            n_links += 1
    if _has_parallels(relations) and _has_parallels(others):
        n_links = _merge(cells, weight, n_links, n_rows * n_columns)
    return cells[:n_links], weight[:n_links]


@kernel
def _has_parallels(relations: Any) -> bool:
    """Return whether two nodes have more than one relation, in either direction."""
    for x in range(relations.shape[0]):
        low, high = min(relations[x, 0], relations[x, 1]), max(relations[x, 0], relations[x, 1])
        for y in range(x):
            if low == min(relations[y, 0], relations[y, 1]) and high == max(relations[y, 0], relations[y, 1]):
                return True
    return False


@kernel
def _merge(cells: Any, weight: Any, n_links: int, n_cells: int) -> int:
    """Merge links of the same two cells in place, adding their weights; return how many are left."""
    codes = np.empty(n_links, np.int64)
    for link in range(n_links):
        codes[link] = min(cells[link, 0], cells[link, 1]) * n_cells + max(cells[link, 0], cells[link, 1])
    order = np.argsort(codes)
    weights = weight[:n_links].copy()
    kept = -1
    last = -1
    for link in order:
        if codes[link] != last:
            last = codes[link]
            kept += 1
            cells[kept, 0] = last // n_cells
            cells[kept, 1] = last % n_cells
            weight[kept] = 0.0
        weight[kept] += weights[link]
    return kept + 1


@kernel
def _arrange(n_rows: int, n_columns: int, own: Any, cells: Any, weights: Any) -> Problem:
    """Sort the ends by cell."""
    n_cells = n_rows * n_columns
    n_ends = 2 * len(weights)
    offsets = np.zeros(n_cells + 1, np.int64)
    for link in range(len(weights)):
        offsets[cells[link, 0] + 1] += 1
        offsets[cells[link, 1] + 1] += 1
    for cell in range(n_cells):
        offsets[cell + 1] += offsets[cell]
    free = offsets[:n_cells].copy()
    there = np.empty(n_ends, np.int64)
    twin = np.empty(n_ends, np.int64)
    weight = np.empty(n_ends)
    for link in range(len(weights)):
        one, other = cells[link, 0], cells[link, 1]
        s, t = free[one], free[other]
        free[one] = s + 1
        free[other] = t + 1
        there[s], there[t] = other, one
        twin[s], twin[t] = t, s
        weight[s] = weight[t] = weights[link]

    local = _local_numbers(n_rows, n_columns, offsets, there)
    return Problem(n_rows, n_columns, own, offsets, there, twin, weight, *local)


@kernel
def _local_numbers(n_rows: int, n_columns: int, offsets: Any, there: Any) -> Any:
    """Number the distinct rows and columns that each cell's links lead to; return the last six fields of `Problem`."""
    n_cells = n_rows * n_columns
    local_row = np.empty(len(there), np.int64)
    local_column = np.empty(len(there), np.int64)
    local_rows = np.zeros(n_cells, np.int64)
    local_columns = np.zeros(n_cells, np.int64)
    kind = np.zeros(n_cells, np.int8)
    number_of_row = np.full(n_rows, -1, np.int64)
    number_of_column = np.full(n_columns, -1, np.int64)
    widest = 1
    for cell in range(n_cells):
        first, last = offsets[cell], offsets[cell + 1]
        if last - first <= 1:  # no numbers needed: most cells of a labelled pair
            continue
        rows = 0
        columns = 0
        for t in range(first, last):
            i, j = divmod(there[t], n_columns)
            if number_of_row[i] < 0:
                number_of_row[i] = rows
                rows += 1
            if number_of_column[j] < 0:
                number_of_column[j] = columns
                columns += 1
            local_row[t] = number_of_row[i]
            local_column[t] = number_of_column[j]
        for t in range(first, last):
            i, j = divmod(there[t], n_columns)
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
    return local_row, local_column, local_rows, local_columns, kind, widest


@kernel
def matches(problem: Problem, column_of: Any) -> float:
    """Return the number of matching triples under an alignment: the column of each row, -1 for unaligned rows."""
    n_columns = problem.n_columns
    own, offsets, there, weight = problem.own, problem.offsets, problem.there, problem.weight
    total = 0.0
    for i in range(problem.n_rows):
        if column_of[i] < 0:
            continue
        cell = i * n_columns + column_of[i]
        total += own[cell]
        for t in range(offsets[cell], offsets[cell + 1]):
            if there[t] > cell and is_chosen(there[t], n_columns, column_of):  # each link once
                total += weight[t]
    return total


@kernel
def is_chosen(cell: int, n_columns: int, column_of: Any) -> bool:
    """Return whether an alignment contains a cell."""
    row = cell // n_columns
    return bool(column_of[row] == cell - row * n_columns)
