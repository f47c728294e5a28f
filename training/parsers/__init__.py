"""Training of the parsers that come with the project."""
