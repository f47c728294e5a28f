"""Kinds of encoders, one folder each; shared code (settings, loading) is next to the folders."""
