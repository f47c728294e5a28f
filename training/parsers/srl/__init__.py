"""Training of the tagger of semantic roles on gold frames: `python -m training.parsers.srl.train --settings FILE`.

One sequence per predicate, as AllenNLP's `srl_bert` is trained, and some sentences with nothing marked, as the head
that finds predicates reads them; it is trained on both. The word vectors of the base encoder are frozen: a tagger need
not store them.
"""
