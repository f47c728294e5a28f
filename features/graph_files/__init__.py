"""Files of AMR graphs, measured, aligned and scored pair by pair without a project; graphs of a few sentences."""
