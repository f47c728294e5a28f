"""What is learnt from: tables in memory, read from a release of the store or from a file."""
