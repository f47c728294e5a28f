"""How good an encoder is: facets against metrics, similarity against human ratings; scores, tables and a report."""
