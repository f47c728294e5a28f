"""Torch modules that stand in saved encoders: `modules.json` names them by import path, so they never move again.

S3BERT has none of its own: it is saved as modules of sentence-transformers alone.
"""
