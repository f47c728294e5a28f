"""Where two encoders differ: by length, depth and word overlap of the pairs, and in what each sees of a sentence.

    evaluations of A ─┐              pairs of both: whose score moved most towards human ratings, and away from them
                      ├── shared ──┬── parts     short and long, flat and deep, with the same words in another order
    evaluations of B ─┘            └── views     the same sentences as A and as B see them: trees, spans, words
    maps of A, maps of B ───────────── maps      the same texts as A and as B embed them

Scores are those of the evaluations: only the few sentences whose spans are drawn are embedded again.
"""
