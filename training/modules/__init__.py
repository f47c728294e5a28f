"""Torch modules that stand in saved encoders: `modules.json` names them by import path, so they never move again.

S3BERT has none of its own: it is saved as modules of sentence-transformers alone. Encoders with dependency trees have
`parsing_transformer` and `graph_pooling`, which stand on `trees` and `relational_graph`; `training.encoders.loading`
knows them by name.
"""
