"""S3BERT: an encoder whose embeddings are cut into facets, each of which mirrors one AMR metric (Opitz & Frank 2022)."""
