"""Torch modules of saved encoders: `modules.json` names them by import path, so they must never move.

Encoders with dependency trees have `parsing_transformer` and `graph_pooling`, those with predicate-argument spans
`tagging_transformer` and `span_pooling`; S3BERT has modules of sentence-transformers only. `training.encoders.loading`
knows them by name.
"""
