"""Texts of a corpus that differ only in case or punctuation, which are reported: they count as different texts."""

from collections.abc import Sequence

from features.core.types import SentenceId, Split
from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import TextFaultReport
from features.ingest.sentences import Sentences
from features.ingest.split_labels import SplitLabels

_SHOWN = 40
"""Characters of a text that a message shows."""


def text_faults(
    corpora: Sequence[CorpusSettings], splits: Sequence[SplitLabels], sentences: Sentences
) -> list[TextFaultReport]:
    """Return the corpora that have texts in several spellings, over all their splits; texts with one class are ignored.

    Args:
        corpora: the corpora that were read.
        splits: splits of those with labels.
        sentences: knows which texts are spellings of one.
    """
    found = []
    for corpus in corpora:
        spellings: dict[SentenceId, dict[str, set[Split]]] = {}
        for split in splits:
            if split.report.corpus == corpus.name and split.several:
                for text in split.texts.values():
                    places = spellings.setdefault(sentences.shared_id(text), {})
                    places.setdefault(text, set()).add(split.report.split)
        several = [places for places in spellings.values() if len(places) > 1]
        if several:
            parted = [places for places in several if len(set().union(*places.values())) > 1]
            first, second, *_ = several[0]
            found.append(
                TextFaultReport(
                    corpus=corpus.name,
                    texts=sum(map(len, several)),
                    parted=sum(map(len, parted)),
                    examples=_shortened(first, second),
                )
            )
    return found


def _shortened(first: str, second: str) -> tuple[str, str]:
    """Return two texts, long ones around the place where they begin to differ."""
    length = min(len(first), len(second))
    place = next((place for place in range(length) if first[place] != second[place]), length)
    start = 0 if place < _SHOWN else place - _SHOWN // 2
    return cut(first, start), cut(second, start)


def cut(text: str, start: int = 0) -> str:
    """Return the part of a text that a message shows."""
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
