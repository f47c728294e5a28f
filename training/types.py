"""The vocabulary of the trainings: values that settings, modules and results of encoders share. No torch."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]
"""Positions of texts, sentences or pairs among others, (n,)."""

Part = Literal["u", "v", "|u-v|", "u*v"]
"""Inputs of a classifier, made of the embeddings u and v. The last two are the same for (u, v) and (v, u)."""
USUAL_PARTS: tuple[Part, ...] = ("u", "v", "|u-v|")
"""Classifier input of SBERT and SBERT-RGCN."""

Similarity = Literal["cosine", "manhattan"]
"""Similarity of a facet's two sub-vectors: the cosine, or 1 - L1 distance."""

Direction = Literal["both", "down", "up"]
"""Direction of tree edges: `down` from heads to dependents, `up` the other way, or both."""

Drawn = Literal["tagged", "random", "continuous"]
"""Which spans an encoder sees: those of the tagger, or as many words drawn from the sentence, alone or in runs."""
Harm = Literal["dropped", "moved"]
"""How spans are corrupted: they are left out, or their arguments are elsewhere."""
SpanWeights = Literal["learnt", "equal", "by_role"]
"""Weights of the spans of a sentence: from their vectors, all the same, or from their roles as well."""

Classifier = Literal["logistic regression", "mlp"]
"""Classifier of texts and pairs that an evaluation trains on embeddings, as in SentEval."""
