"""Suspicious labels of texts, and texts that are suspiciously alike, which are reported; the rows are kept.

one column    no label at all, the same for all, one for each, missing in some, several in a cell, two spellings
the store     a label that is gone now
the settings  `labels` names one that no row has
the texts     two that differ only in case or punctuation: they count as different texts
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from os.path import commonprefix

from features.core.types import SentenceId, Split
from features.corpora.dataset import TextLayout
from features.corpora.reading import own_record
from features.ingest.corpus_pairs import CorpusPairs
from features.ingest.fault_reports import ChosenLabelReport, LabelFaultReport, TextFaultReport
from features.ingest.known import Known
from features.ingest.sentences import Sentences
from features.ingest.split_labels import CorpusLabels, SplitLabels
from features.sentences import normalise

_SEPARATORS = (",", ";", "|")
"""What people write between several labels in a cell."""
_MANY = 10  # texts that hardly differ in all of their labels by chance
_SHOWN = 40  # characters of a text that a message shows


def label_faults(corpora: Sequence[CorpusLabels], known: Known) -> list[LabelFaultReport]:
    """Return what is suspicious about the labels of corpora, over all their splits; not of texts with one class."""
    reports = []
    for of_corpus in corpora:
        corpus, own = of_corpus.corpus, of_corpus.splits
        counts: Counter[tuple[str, str]] = Counter()
        for split in own:
            if split.several:
                counts += split.counts
        layout = own_record(corpus).layouts[0]
        for aspect in layout.aspects if counts and isinstance(layout, TextLayout) else ():
            texts = {label: count for (name, label), count in counts.items() if name == aspect}
            reports += _faults(corpus.name, aspect, texts)
            # Texts of a known dataset lack what its makers did not label.
            if texts and (corpus.record.kind == "own" or corpus.aspects):
                reports += _missing(corpus.name, aspect, own)
                reports += _joined(corpus.name, aspect, texts) if corpus.separator is None else []
        reports += _gone(corpus.name, own, known)
    return reports


def _faults(corpus: str, aspect: str, texts: Mapping[str, int]) -> list[LabelFaultReport]:
    """Return what is wrong with all labels of an aspect; `texts` is their number by label."""
    report = partial(LabelFaultReport, corpus=corpus, aspect=aspect)
    total = sum(texts.values())
    if not texts:
        return [report(fault="no label")]
    if len(texts) == 1:
        return [report(fault="one label", labels=1, texts=total, examples=dict(texts))]
    if len(texts) >= _MANY and max(texts.values()) == 1:
        return [report(fault="each its own", labels=total, texts=total, examples={next(iter(texts)): 1})]
    several = spelt_alike(texts)
    if not several:
        return []
    alike = list(chain.from_iterable(several))
    examples = {label: texts[label] for label in several[0]}
    return [report(fault="spelling", labels=len(alike), texts=sum(map(texts.__getitem__, alike)), examples=examples)]


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


def _gone(corpus: str, splits: Sequence[SplitLabels], known: Known) -> list[LabelFaultReport]:
    """Return stored labels of texts that were read again without them."""
    read = {(split.report.split, sentence) for split in splits if split.several for sentence in split.occurrences}
    seen = set().union(*(split.seen for split in splits))
    gone: dict[str, list[tuple[str, str]]] = {}
    stored = known.labels.filter(corpus=corpus).select("label_id", "split", "sentence", "aspect", "label")
    for identity, split, sentence, aspect, label in stored.iter_rows():
        if identity not in seen and (split, sentence) in read:
            gone.setdefault(aspect, []).append((sentence, label))
    reports = []
    for aspect, rows in sorted(gone.items()):
        labels = Counter(label for _, label in rows)
        reports.append(
            LabelFaultReport(
                corpus=corpus,
                aspect=aspect,
                fault="gone",
                labels=len(labels),
                texts=len({sentence for sentence, _ in rows}),
                examples=dict(labels.most_common(1)),
            )
        )
    return reports


def spelt_alike(counts: Mapping[str, int]) -> list[list[str]]:
    """Return groups of labels, given with their counts, that differ only in case or white space, the largest first."""
    spelt: dict[str, list[str]] = {}
    for label in sorted(counts):
        spelt.setdefault("".join(normalise(label).casefold().split()), []).append(label)
    return sorted((labels for labels in spelt.values() if len(labels) > 1), key=lambda ls: -sum(counts[x] for x in ls))


def unused_labels(read: Sequence[CorpusPairs | CorpusLabels]) -> list[ChosenLabelReport]:
    """Return the labels that the settings of corpora choose and no row of their splits has: perhaps misspelt ones."""
    reports = []
    for each in read:
        corpus = each.corpus
        if isinstance(each, CorpusPairs):
            had = {*each.rows["label"].unique()}
        else:
            had = {label for split in each.splits for _, label in split.counts}
        unused = [label for label in corpus.chosen_labels or () if label not in had]
        reports += [ChosenLabelReport(corpus=corpus.name, label=label) for label in unused]
    return reports


def text_faults(corpora: Sequence[CorpusLabels], sentences: Sentences) -> list[TextFaultReport]:
    """Return the corpora that have texts in several spellings, over all their splits; not texts with one class."""
    reports = []
    for corpus in corpora:
        spellings: dict[SentenceId, dict[str, set[Split]]] = {}
        for split in corpus.splits:
            if split.several:
                for text in split.texts.values():
                    splits_of = spellings.setdefault(sentences.shared_id(text), {})
                    splits_of.setdefault(text, set()).add(split.report.split)
        several = [splits_of for splits_of in spellings.values() if len(splits_of) > 1]
        if several:
            parted = sum(len(splits_of) for splits_of in several if len(set().union(*splits_of.values())) > 1)
            first, second, *_ = several[0]
            # Long texts are shown around the place where they begin to differ.
            same = len(commonprefix([first, second]))  # noqa: RUF071 - no paths
            start = 0 if same < _SHOWN else same - _SHOWN // 2
            examples = cut(first, start), cut(second, start)
            texts = sum(map(len, several))
            reports.append(TextFaultReport(corpus=corpus.corpus.name, texts=texts, parted=parted, examples=examples))
    return reports


def cut(text: str, start: int = 0) -> str:
    """Return the part of a text that a message shows."""
    end = start + _SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
