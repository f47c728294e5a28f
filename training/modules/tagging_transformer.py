"""The transformer of a PAS-SBERT, which reads predicate-argument spans (`spans`)."""

from training.modules.spans import Spans
from training.modules.structured_transformer import StructuredTransformer


class TaggingTransformer(StructuredTransformer):
    """A transformer with predicate-argument spans."""

    kind = Spans
    structure: Spans
