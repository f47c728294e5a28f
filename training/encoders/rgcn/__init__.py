"""SBERT-RGCN: the dependency tree of a sentence inside its encoder (Peng et al. 2021)."""
