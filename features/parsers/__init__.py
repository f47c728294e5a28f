"""Inference with pretrained models: sentences to AMR graphs, dependency trees and embeddings; labels to vectors.

Each parser is loaded once per process (`load`, cached by its settings) and returns a row or a reject per sentence.
torch, transformers, spaCy and amrlib are imported only here, and only inside functions.
"""
