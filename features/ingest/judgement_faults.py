"""Suspicious judgements of pairs, which are reported: missing in some pairs or in all, two spellings of one label."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import JudgementFaultReport
from features.ingest.label_faults import spelt_alike
from features.ingest.report import ChangedJudgement
from features.ingest.split_pairs import SplitPairs

_JUDGEMENTS: tuple[Literal["label", "score"], ...] = ("label", "score")


def judgement_faults(
    corpora: Sequence[CorpusSettings], splits: Sequence[tuple[SplitPairs, Sequence[ChangedJudgement]]]
) -> list[JudgementFaultReport]:
    """Return what is suspicious about the judgements of corpora of pairs, over all their splits.

    Args:
        corpora: the corpora that were read.
        splits: splits of those with pairs, each with its known pairs whose judgement has changed.
    """
    found = []
    for corpus in corpora:
        own = [(split, changed) for split, changed in splits if split.report.corpus == corpus.name]
        for judgement in _JUDGEMENTS:
            counts = Counter(
                value
                for split, _ in own
                for kind in (split.positives, split.stored)
                for value in getattr(kind, judgement)
            )
            pairs, empty = counts.total(), counts.pop(None, 0)
            # A known pair keeps what is stored, so one that has a judgement there lacks none.
            missing = empty + sum(_lacks_more(each, judgement) for _, changed in own for each in changed)
            # A corpus without judgements lacks none, unless its settings name a column for them.
            if missing and (counts or missing < pairs or judgement in (corpus.columns or {})):
                found.append(
                    JudgementFaultReport(
                        corpus=corpus.name,
                        judgement=judgement,
                        fault="missing" if counts or missing < pairs else "none",
                        pairs=pairs,
                        affected=missing,
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


def _lacks_more(change: ChangedJudgement, judgement: Literal["label", "score"]) -> int:
    """Return 1 for a pair that has a judgement in the file but not in the store, -1 the other way round, else 0."""
    stored, found = (
        (change.stored_label, change.found_label) if judgement == "label" else (change.stored_score, change.found_score)
    )
    return (stored is None) - (found is None)
