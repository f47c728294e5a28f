"""S3BERT: an encoder whose embedding is cut into facets, each of which mirrors an AMR metric (Opitz & Frank 2022)."""
