"""AspectCSE: embeddings whose similarity means one aspect of texts, or several (Schopf et al. 2023)."""
