"""Inference with pretrained models: sentences to AMR graphs, trees, frames and embeddings; labels to vectors.

Each parser is loaded once per process (`load`, cached by its settings and files) and returns a row or a reject per
sentence. torch, transformers, spaCy and amrlib are imported only here, in functions or in modules that functions
import.
"""
