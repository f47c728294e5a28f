"""PAS-SBERT: predicate-argument spans in addition to the mean of all word pieces (Peng et al. 2022)."""
