"""Corpora: the known sets of sentence pairs and labelled texts, and how their files are read.

To add a dataset, write its record in `datasets.toml`; the test that walks the registry reads a small file in each of
its layouts.
"""
