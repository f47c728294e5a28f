"""What tells sets of human ratings apart: one may choose a model, and encoders are evaluated on all."""

import hashlib

from features.corpora.reading import EvaluationPairs


def rating_digest(rated: EvaluationPairs) -> str:
    """Return a hash of the sentences of a set and of their ratings, independent of its name."""
    digest = hashlib.sha256()
    for a, b, score in zip(rated.texts_a, rated.texts_b, rated.scores, strict=True):
        digest.update(f"{a}\0{b}\0{score!r}\n".encode())
    return digest.hexdigest()
