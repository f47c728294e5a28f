"""S3BERT: an encoder whose embedding is divided into facets that each mirror an AMR metric (Opitz & Frank 2022)."""
