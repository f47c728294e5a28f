"""Prefect's server: which one, started or found, what it is told, and what it may have forgotten."""
