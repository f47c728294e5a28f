"""The training of the tagger of semantic roles.

    python -m training.parsers.srl.train --train GOLD.conll.gz --dev GOLD.conll.gz --output FOLDER

One sequence per predicate, as AllenNLP's `srl_bert` is trained, and some sentences with nothing marked, on which the
head that finds predicates is trained. The word vectors of the base encoder are frozen: a tagger need not store them.
"""
