"""Retrieval by aspect: of all texts of a split, are the most similar to one those that share its label?"""
