"""What is scored of encoders with facets (S3BERT): facets against metrics, and facets against people."""
