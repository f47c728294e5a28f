"""Semantic roles: who did what to whom, when and where, for every predicate of a sentence.

    The cat   chased   a mouse   yesterday         one frame: its predicate and labelled spans
    ARG0      V        ARG1      ARGM-TMP

A tagger in the architecture and file format of AllenNLP's `srl_bert` (Shi & Lin 2019): BERT reads the sentence once for
each predicate, which is marked by token types, and assigns every word a BIO tag.

| file | idea |
|---|---|
| `frames` | frames, spans and BIO tags |
| `conll` | the column format of the CoNLL-2005 shared task |
| `archive` | the files of a tagger: configuration, labels, weights |
| `network` | BERT, a projection to tags, and a head that finds predicates |
| `viterbi` | the best well-formed sequence of tags |
| `words` | raw text to words, and predicates by part of speech |
| `tagger` | everything together: sentences in, frames out |
| `scoring` | precision, recall and F1 as `srl-eval.pl` counts them |
"""
