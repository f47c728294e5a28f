"""What S3BERT minimises: L = α · decomposition + consistency (Opitz & Frank 2022, Eq. 4)."""
