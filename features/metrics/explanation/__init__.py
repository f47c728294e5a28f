"""Which nodes and triples of two graphs match, facet by facet: as data and as a drawing.

    views       what each facet reads of a graph, in plain Python, with where it stands in the graph
    matching    which of these find a partner on the other side
    pair        a pair of graphs, explained
    layout      a graph in layers, without a library
    drawing     two graphs side by side, as SVG
    legend      the facets beside the drawing; choosing one colours what it reads
    naming      what a node is called in plain words
    comparing   two graphs, as those ask who put their differences into words
    differences what differs, aspect by aspect
    words       the same and the different in one sentence

The engine measures thousands of pairs a second and keeps numbers only; here a few pairs are read again, slowly, with
every item named. Both agree on every count (`tests/features/metrics/explanation`).
"""
