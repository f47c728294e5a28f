"""AspectCSE: embeddings whose similarity reflects one or several aspects of texts (Schopf et al. 2023)."""
