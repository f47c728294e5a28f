"""AMR graphs: PENMAN files, the decoder, the columns of the AMR table, and batches of integer arrays for the metrics.

PENMAN file ── read_blocks ──> text ── decode ──> AmrGraph ── encode ──> rows of `amr` ── GraphBatch ──> metrics
"""
