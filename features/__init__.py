"""What is measured: corpora, graphs, parsers, metrics and the store; callable in a notebook."""
