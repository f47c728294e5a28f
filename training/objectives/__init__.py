"""Objectives of S3BERT, L = α · decomposition + consistency (Opitz & Frank 2022, Eq. 4), and InfoNCE."""
