"""Contrast pairs: a sentence, and the same words saying something else, or other words saying the same.

    A dog chased two cats.   swap      Two cats chased a dog.
                             voice     Two cats were chased by a dog.
                             negation  A dog did not chase two cats.
                             number    A dog chased five cats.

Encoders overlook such edits, since nearly all words stay. The edits are rules over dependency trees (`edits`). A pair
is parsed and measured like any other, so its targets are what the graphs say, and an edit that fails does no harm.
"""
