"""Corpora: the known sets of sentence pairs and labelled texts, and how their files are read.

To add a dataset, write its record in `records/` and add it to `registry.py`; the test that walks the registry reads a
small file in each of its layouts.
"""
