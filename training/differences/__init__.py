"""Where two encoders differ: on which pairs, of which length, depth and words, with what each sees of a sentence.

    evaluations of A ─┐
                      ├── shared ──┬── moves     pairs whose score moved most towards people, and away from them
    evaluations of B ─┘            ├── parts     short and long, flat and deep, of the same words in another order
                                   └── views     the same sentences as A sees them and as B does: trees, spans, words

Scores are those that the evaluations left: nothing is embedded again but the few sentences whose spans are drawn.
"""
