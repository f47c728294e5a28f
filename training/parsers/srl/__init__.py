"""The training of the tagger of semantic roles.

    python -m training.parsers.srl.train --train GOLD.conll.gz --dev GOLD.conll.gz --output FOLDER

One sequence a predicate, as AllenNLP's `srl_bert` is trained, and some sentences with nothing marked, from which the
head learns that finds predicates. The word vectors of the base encoder stay as they are: a tagger need not carry them.
"""
