"""What the numbers of the metrics depend on besides the graphs; apart from the metrics, which are slow to import."""

ALGORITHM_VERSION = "1"
"""Incremented when a code change changes a number; part of the fingerprint of the stage and of every signature."""

STEPS = 10**8
"""Steps after which the search for the best alignment of a pair ends, proven or not: half a second. The pairs of BAMBOO
and UKP ASPECT take at most 5 · 10⁶."""
