"""Kinds of encoders, a folder each; what they share (settings, loading) lies beside the folders."""
