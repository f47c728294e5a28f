"""Which nodes and triples of two graphs match, facet by facet: as data and as a drawing.

    pair        a pair of graphs, explained: which of the items that a facet reads have a partner on the other side
    layout      a graph in layers, without a library
    drawing     two graphs side by side, as SVG; on a page, choosing a facet colours what it reads
    tokens      the words of a sentence: stems, and what they do
    voice       sentences in the passive
    texts       two sentences, word by word
    anchors     a graph as facets compare it, the name of a node in plain words, and the word that it stands for
    comparing   questions about two graphs and their sentences, and what is told of their differences
    differences what differs, aspect by aspect
    quantities  the aspect of numbers and amounts
    words       similarities and differences in one sentence

The engine measures thousands of pairs a second and keeps only numbers; here every item that it reads from a few pairs
is named, and given its partner. Both agree on every count (`tests/features/metrics/explanation`).
"""
