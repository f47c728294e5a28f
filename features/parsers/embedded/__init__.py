"""The embedded AMR parser: small, fast on a CPU, with its weights in the package; only the sentence encoder is pulled.

    text ── words ── encoder ── labels of each word ── nodes ── arcs, roles, root ── graph ── PENMAN
            words.py network.py realising.py          nodes.py network.py connecting.py      penman_text.py

Nothing is generated token by token: each word says which concepts hang on it, and then each pair of concepts says
whether and how it is related. `parser` puts the steps together; `training.parsers.amr` learns them from graphs.
"""
