"""Suites for encoders with facets (S3BERT): facets against metrics, and facets against human ratings."""
