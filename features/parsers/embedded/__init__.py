"""The embedded AMR parser: small, fast on a CPU, with its weights in the package; only the sentence encoder is pulled.

    text ── words ── encoder ── labels of each word ── nodes ── arcs, roles, root ── graph ── PENMAN
            words.py network.py vocabulary.py                  network.py parser.py          nodes.py

Nothing is generated token by token: first the concepts of each word are predicted, then, for each pair of concepts,
whether and how it is related. `parser` combines the steps; `training.parsers.amr` trains them on graphs.
"""
