"""Training of the embedded AMR parser on any file of graphs: `python -m training.parsers.amr.train --settings FILE`.

    graphs ── flat graphs ── alignment ── targets ── loop ── weights ── scores, model card
    corpus.py flattening.py  alignment.py targets.py loop.py            scoring.py, model_card.py

The settings file says which graphs to train on, which are held out, and for how long to train (`settings`).
"""
