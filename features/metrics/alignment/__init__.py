"""The best one-to-one alignment of the nodes of two graphs, with a proof.

Smatch asks for the injective mapping of nodes under which most triples match: a quadratic assignment problem. Scores
are whole numbers, so that a bound below `best + 1` is a proof that `best` is optimal.

    problem              cells (node i on node j): their own matches, and the matches that two cells have together
    assignment           the best assignment of rows to columns, with dual prices
    bound                what a cell can be worth at most (Lagrangian relaxation)
    climbing             a good alignment, found by moves and swaps
    search               bound and climbing, then branch and bound
    integer_program      what the search leaves open, given to HiGHS
    solve                all pairs of a batch
"""
