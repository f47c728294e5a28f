"""SentEval's transfer tasks: what simple classifiers can read from frozen embeddings (Conneau & Kiela 2018)."""
