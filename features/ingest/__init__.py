"""Ingest: the only place where sentences, pairs and labels get their ids and shards.

    corpora ─ rows ─┬─ new pairs ─┬─ positives ─┐
                    │             └─ negatives ─┼─ new shards of one corpus each, numbered after the known ones
                    ├─ labels of new texts ─────┘
                    ├─ known
                    └─ rejects

Known pairs are skipped and known shards never change, so a refresh, a second call with everything known, and the first
build are the same code. Files are cumulative: the n-th repeat of a pair within a split is recognised by counting, so a
refresh reads the old rows and the new ones.
"""
