"""Files of AMR graphs, without a project or a store: measured, aligned and scored pair by pair."""
