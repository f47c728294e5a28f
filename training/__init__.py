"""Training: encoders, objectives, loops and evaluation. torch lives here."""
