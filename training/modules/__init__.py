"""Torch modules of saved encoders: `modules.json` names them by import path, so they must never move.

S3BERT has none of its own: it is saved with modules of sentence-transformers only. Encoders with dependency trees have
`parsing_transformer`, `graph_pooling` and what these build on (`trees`, `relational_graph`); those with
predicate-argument spans have `tagging_transformer`, `span_pooling` and `frames`. `structured_transformer`, `saved` and
`parse` are common to both; `training.encoders.loading` knows them by name.
"""
