"""Texts that are searched by what an encoder finds similar: which encoder, which texts, and their vectors, kept."""
