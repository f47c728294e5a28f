"""How good an encoder is: scores by suites, their intervals, comparison and promotion; tables and a report."""
