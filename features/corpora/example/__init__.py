"""The example corpus: 96 sentence pairs with their graphs, written for this project (see README.md)."""
