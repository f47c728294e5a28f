"""Training of the embedded AMR parser on any file of graphs: `python -m training.parsers.amr.train --settings FILE`.

flat graphs ── alignment ── targets ── examples ── loop ── thresholds, scores, model card
corpus.py      alignment.py targets.py preparing.py task.py train.py
"""
