"""Corpora of whose stored rows few were read again: a file may have been cut off, or settings leave rows out."""

from collections.abc import Sequence

import polars as pl

from features.ingest.known import Known
from features.ingest.report import ShrunkReport
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs

_FEW = 0.5
"""Share of the stored rows below which a corpus is reported."""


def shrunk(corpora: Sequence[str], splits: Sequence[SplitPairs | SplitLabels], known: Known) -> list[ShrunkReport]:
    """Return the corpora of whose stored pairs or texts few were read again.

    Args:
        corpora: names of the corpora that were read.
        splits: their splits.
        known: what is stored.
    """
    found = []
    for corpus in corpora:
        of_corpus = [split for split in splits if split.report.corpus == corpus]
        texts = {sentence for name, sentence in known.splits_of_text if name == corpus}
        if texts:
            came = {sentence for split in of_corpus if isinstance(split, SplitLabels) for sentence in split.occurrences}
            stored, read = len(texts), len(texts & came)
        else:
            pairs = known.judgements
            stored = pairs.filter(pl.col("positive_id").is_null(), corpus=corpus).height if pairs.height else 0
            read = sum(len(split.stored.pair_id) for split in of_corpus if isinstance(split, SplitPairs))
        if read < _FEW * stored:
            found.append(ShrunkReport(corpus=corpus, stored=stored, found=read, what="texts" if texts else "pairs"))
    return found
