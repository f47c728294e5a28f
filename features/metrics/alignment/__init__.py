"""The best one-to-one alignment of the nodes of two graphs, with a proof.

Smatch needs the injective mapping of nodes under which most triples match: a quadratic assignment problem. Scores are
integers, so a bound below `best + 1` proves that `best` is optimal.

    problem              cells (node i on node j): their own matches, and the matches of two cells together
    assignment           the best assignment of rows to columns, with dual prices
    bound                the maximum value of a cell (Lagrangian relaxation)
    search               bound, and a good alignment by climbing; then branch and bound, for a number of steps
    solve                all pairs of a batch
"""
