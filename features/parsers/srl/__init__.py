"""Semantic roles: who did what to whom, when and where, for every predicate of a sentence.

    The cat   chased   a mouse   yesterday         one frame: its predicate and labelled spans
    ARG0      V        ARG1      ARGM-TMP

A tagger in the architecture and file format of AllenNLP's `srl_bert` (Shi & Lin 2019): BERT reads the sentence once for
each predicate, which is marked by token types, and assigns every word a BIO tag.
"""
