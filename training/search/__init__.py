"""Search by similarity: the choice of the encoder, the texts, and their cached vectors."""
