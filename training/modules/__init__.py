"""Torch modules that stand in saved encoders: `modules.json` names them by import path, so they never move again.

S3BERT has none of its own: it is saved as modules of sentence-transformers alone. Encoders with dependency trees have
`parsing_transformer`, `graph_pooling` and what these stand on (`trees`, `relational_graph`); those with
predicate-argument spans have `tagging_transformer`, `span_pooling` and `frames`. `structured_transformer`, `saved` and
`parse` are common to both; `training.encoders.loading` knows them by name.
"""
