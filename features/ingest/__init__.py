"""Ingest: the only place where sentences and pairs get their ids and shards.

    corpora ─ rows ─┬─ new pairs ─┬─ positives ─┐
                    ├─ known      └─ negatives ─┴─ new shards, numbered after the known ones
                    └─ rejects

Known pairs are skipped and known shards never change, so that a refresh, the second call with everything known, and the
first build are the same code. Files are cumulative: the n-th repeat of a pair within a split is known by counting, so a
refresh reads the old rows and the new ones.
"""

from features.ingest.building import ALGORITHM_VERSION, Ingested, ingest
from features.ingest.known import KNOWN_PAIRS, KNOWN_SENTENCES
from features.ingest.report import IngestReport

__all__ = ["ALGORITHM_VERSION", "KNOWN_PAIRS", "KNOWN_SENTENCES", "IngestReport", "Ingested", "ingest"]
