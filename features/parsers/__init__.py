"""Pretrained models at work: sentences become AMR graphs, dependency trees and embeddings; labels become vectors.

Each parser is loaded once per process (`load`, cached by its settings) and gives a row or a reject for every sentence.
torch, transformers, spaCy and amrlib are imported only here, and only inside functions.
"""
