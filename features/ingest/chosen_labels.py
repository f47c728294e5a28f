"""Labels that the settings of a corpus choose and no row has, which are reported: perhaps misspelt ones."""

from collections.abc import Sequence

from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import ChosenLabelReport
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs


def unused_labels(
    corpora: Sequence[CorpusSettings], splits: Sequence[SplitPairs | SplitLabels]
) -> list[ChosenLabelReport]:
    """Return the chosen labels that no row of a corpus has.

    Args:
        corpora: the corpora that were read.
        splits: their splits.
    """
    found = []
    for corpus in corpora:
        had: set[str | None] = set()
        for split in splits:
            if split.report.corpus == corpus.name:
                had |= _labels_of(split)
        found += [
            ChosenLabelReport(corpus=corpus.name, label=label)
            for label in corpus.chosen_labels or ()
            if label not in had
        ]
    return found


def _labels_of(split: SplitPairs | SplitLabels) -> set[str | None]:
    if isinstance(split, SplitLabels):
        return {label for _, label in split.counts}
    return {*split.positives.label, *split.stored.label}
