"""Training data: tables in memory, read from a release of the store or from a file."""
