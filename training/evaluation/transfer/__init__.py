"""SentEval's transfer tasks: what simple classifiers read from frozen embeddings (Conneau & Kiela 2018)."""
