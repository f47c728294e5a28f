"""Which nodes and triples of two graphs match, facet by facet: as data and as a drawing.

    views       what each facet reads from a graph, in plain Python, with its place in the graph
    matching    which of these items have a partner on the other side
    pair        a pair of graphs, explained
    layout      a graph in layers, without a library
    drawing     two graphs side by side, as SVG
    legend      the facets next to the drawing; choosing one colours what it reads
    naming      the name of a node in plain words
    comparing   questions about two graphs that describing their differences takes
    differences what differs, aspect by aspect
    words       similarities and differences in one sentence

The engine measures thousands of pairs a second and keeps only numbers; here a few pairs are read again, slowly, with
every item named. Both agree on every count (`tests/features/metrics/explanation`).
"""
