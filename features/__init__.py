"""What is measured: corpora, graphs, parsers, metrics and the store. Pure Python, callable in a notebook."""
