"""The transformer of an SBERT-RGCN, which reads dependency trees (`trees`)."""

from training.modules.structured_transformer import StructuredTransformer
from training.modules.trees import Trees


class ParsingTransformer(StructuredTransformer):
    """A transformer with dependency trees."""

    kind = Trees
    structure: Trees
