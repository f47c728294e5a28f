"""Suspicious judgements of pairs, which are reported: missing in some pairs or in all, two spellings of one label."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import JudgementFaultReport
from features.ingest.label_faults import spelt_alike
from features.ingest.split_pairs import SplitPairs

_JUDGEMENTS: tuple[Literal["label", "score"], ...] = ("label", "score")


def judgement_faults(corpora: Sequence[CorpusSettings], splits: Sequence[SplitPairs]) -> list[JudgementFaultReport]:
    """Return what is suspicious about the judgements of corpora of pairs, over all their splits.

    Args:
        corpora: the corpora that were read.
        splits: splits of those with pairs.
    """
    found = []
    for corpus in corpora:
        kinds = [
            kind for split in splits if split.report.corpus == corpus.name for kind in (split.positives, split.stored)
        ]
        for judgement in _JUDGEMENTS:
            counts = Counter(value for kind in kinds for value in getattr(kind, judgement))
            pairs, missing = counts.total(), counts.pop(None, 0)
            # A corpus without judgements lacks none, unless its settings name a column for them.
            if missing and (counts.total() or judgement in (corpus.columns or {})):
                found.append(
                    JudgementFaultReport(
                        corpus=corpus.name, judgement=judgement, fault="missing", pairs=pairs, affected=missing
                    )
                )
            if judgement == "label" and (several := spelt_alike(counts)):
                affected = sum(counts[label] for labels in several for label in labels)
                examples = {label: counts[label] for label in several[0]}
                found.append(
                    JudgementFaultReport(
                        corpus=corpus.name,
                        judgement=judgement,
                        fault="spelling",
                        pairs=pairs,
                        affected=affected,
                        examples=examples,
                    )
                )
    return found
