"""The training loop shared by all kinds of encoders and parsers."""
