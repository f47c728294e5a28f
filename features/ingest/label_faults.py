"""Suspicious labels of texts, which are reported: none, one for all or each, several in a cell, two spellings of one.

So are stored labels that are gone now, and how many texts have none in an aspect.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from features.corpora.dataset import TextLayout
from features.corpora.reading import own_record
from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import LabelFaultReport
from features.ingest.known import Known
from features.ingest.split_labels import SplitLabels
from features.sentences import normalise

_SEPARATORS = (",", ";", "|")
"""What people write between several labels in a cell."""
_MANY = 10  # texts that hardly differ in all of their labels by chance


def label_faults(
    corpora: Sequence[CorpusSettings], splits: Sequence[SplitLabels], known: Known
) -> list[LabelFaultReport]:
    """Return what is suspicious about the labels of corpora, over all their splits; texts with one class are ignored.

    Args:
        corpora: the corpora that were read.
        splits: splits of those with labels.
        known: what is stored.
    """
    found = []
    for corpus in corpora:
        counts: Counter[tuple[str, str]] = Counter()
        for split in splits:
            if split.report.corpus == corpus.name and split.several:
                counts += split.counts
        layout = own_record(corpus).layouts[0]
        for aspect in layout.aspects if counts and isinstance(layout, TextLayout) else ():
            of_aspect = {label: texts for (name, label), texts in counts.items() if name == aspect}
            found += _faults(corpus.name, aspect, of_aspect)
            # Texts of a known dataset lack what its makers did not label.
            if of_aspect and (corpus.record.kind == "own" or corpus.aspects):
                found += _missing(corpus.name, aspect, [one for one in splits if one.report.corpus == corpus.name])
                found += _joined(corpus.name, aspect, of_aspect) if corpus.separator is None else []
        found += _gone(corpus.name, [split for split in splits if split.report.corpus == corpus.name], known)
    return found


def _gone(corpus: str, splits: Sequence[SplitLabels], known: Known) -> list[LabelFaultReport]:
    """Return stored labels of texts that were read again without them."""
    if not known.labels.height:
        return []
    came = {(split.report.split, sentence) for split in splits if split.several for sentence in split.occurrences}
    seen = set().union(*(split.seen for split in splits))
    found: dict[str, list[tuple[str, str]]] = {}
    stored = known.labels.filter(corpus=corpus).select("label_id", "split", "sentence", "aspect", "label")
    for identity, split, sentence, aspect, label in stored.iter_rows():
        if identity not in seen and (split, sentence) in came:
            found.setdefault(aspect, []).append((sentence, label))
    return [
        LabelFaultReport(
            corpus=corpus,
            aspect=aspect,
            fault="gone",
            labels=len({label for _, label in rows}),
            texts=len({sentence for sentence, _ in rows}),
            examples=dict(Counter(label for _, label in rows).most_common(1)),
        )
        for aspect, rows in sorted(found.items())
    ]


def _missing(corpus: str, aspect: str, splits: Sequence[SplitLabels]) -> list[LabelFaultReport]:
    """Return how many texts have no label in an aspect."""
    among = sum(len(split.having) for split in splits)
    lacking = sum(aspect not in aspects for split in splits for aspects in split.having.values())
    if not lacking:
        return []
    return [LabelFaultReport(corpus=corpus, aspect=aspect, fault="missing", texts=lacking, among=among)]


def _joined(corpus: str, aspect: str, texts: Mapping[str, int]) -> list[LabelFaultReport]:
    """Return labels that look like several in one cell: other cells have all of their parts, too."""
    for separator in _SEPARATORS:
        parts = {label: {part.strip() for part in label.split(separator)} for label in texts}
        cells = Counter(chain.from_iterable(parts.values()))
        several = [label for label in texts if len(parts[label]) > 1]
        joined = [label for label in several if all(cells[part] > 1 for part in parts[label])]
        # Fewer are names with a comma in them.
        if len(joined) > 1 and 2 * len(joined) >= len(several):
            example = max(joined, key=lambda label: (texts[label], label))
            return [
                LabelFaultReport(
                    corpus=corpus,
                    aspect=aspect,
                    fault="joined",
                    labels=len(joined),
                    texts=sum(texts[label] for label in joined),
                    examples={example: texts[example]},
                    separator=separator,
                )
            ]
    return []


def _faults(corpus: str, aspect: str, texts: Mapping[str, int]) -> list[LabelFaultReport]:
    if not texts:
        return [LabelFaultReport(corpus=corpus, aspect=aspect, fault="no label")]
    if len(texts) == 1:
        return [
            LabelFaultReport(
                corpus=corpus,
                aspect=aspect,
                fault="one label",
                labels=1,
                texts=sum(texts.values()),
                examples=dict(texts),
            )
        ]
    if len(texts) >= _MANY and max(texts.values()) == 1:
        examples = dict([next(iter(texts.items()))])
        return [
            LabelFaultReport(
                corpus=corpus,
                aspect=aspect,
                fault="each its own",
                labels=len(texts),
                texts=len(texts),
                examples=examples,
            )
        ]
    several = spelt_alike(texts)
    if not several:
        return []
    return [
        LabelFaultReport(
            corpus=corpus,
            aspect=aspect,
            fault="spelling",
            labels=sum(map(len, several)),
            texts=sum(texts[label] for labels in several for label in labels),
            examples={label: texts[label] for label in several[0]},
        )
    ]


def spelt_alike(counts: Mapping[str, int]) -> list[list[str]]:
    """Return groups of labels that differ only in case or white space, the most frequent group first.

    Args:
        counts: label → how often it occurs.
    """
    spelt: dict[str, list[str]] = {}
    for label in sorted(counts):
        spelt.setdefault("".join(normalise(label).casefold().split()), []).append(label)
    return sorted((labels for labels in spelt.values() if len(labels) > 1), key=lambda ls: -sum(counts[x] for x in ls))
