"""PAS-SBERT: predicate-argument spans beside the mean of all word pieces (Peng et al. 2022)."""
