"""Corpora of whose stored rows some were not read again: deleted, edited, in another split, left out, or cut off."""

from collections.abc import Sequence
from typing import Literal

from features.ingest.known import Known
from features.ingest.report import ShrunkReport
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs


def shrunk(corpora: Sequence[str], splits: Sequence[SplitPairs | SplitLabels], known: Known) -> list[ShrunkReport]:
    """Return the corpora of whose stored pairs or texts some were not read again.

    Args:
        corpora: names of the corpora that were read; those stored but not among them are returned last.
        splits: splits of the corpora that were read.
        known: what is stored.
    """
    found = []
    pairs = known.judgements.filter(kind="positive") if known.judgements.height else None
    of_pairs = {} if pairs is None else dict(pairs.group_by("corpus").len().iter_rows())
    stored_names = {name for name, _ in known.splits_of_text} | of_pairs.keys()
    for corpus in [*corpora, *sorted(stored_names - {*corpora})]:
        of_corpus = [split for split in splits if split.report.corpus == corpus]
        texts = {sentence for name, sentence in known.splits_of_text if name == corpus}
        if texts:
            came = {sentence for split in of_corpus if isinstance(split, SplitLabels) for sentence in split.occurrences}
            stored, read = len(texts), len(texts & came)
        else:
            stored = of_pairs.get(corpus, 0)
            read = sum(len(split.stored.pair_id) for split in of_corpus if isinstance(split, SplitPairs))
        if read < stored:
            what: Literal["texts", "pairs"] = "texts" if texts else "pairs"
            found.append(ShrunkReport(corpus=corpus, stored=stored, found=read, what=what, named=corpus in corpora))
    return found
