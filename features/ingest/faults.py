"""What is suspicious about labels, scores, texts and keys, which is reported; the rows are kept.

one column    no label at all, the same for all, one for each, missing in some, several in a cell, two spellings
the store     a label that is gone now
the settings  `labels` names one that no row has
the texts     not in English; two that differ only in case or punctuation: they count as different texts
the pairs     a row repeats another, a judgement is missing in some or in all, two sentences have several
the keys      of JSON lines: rows lack one that is read and have another one, perhaps the same misspelt

    {"text": "We parse.", "topic": "parsing"}
    {"text": "We tag.", "topics": "tagging"}      lacks `topic`, and has `topics`, which no row with `topic` has

A row may leave out keys, so neither alone is suspicious.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from os.path import commonprefix
from pathlib import Path
from typing import Literal

import polars as pl

from features.core.errors import InputError
from features.core.files import table_format
from features.core.types import SPLITS, SentenceId, Split
from features.core.wording import clipped
from features.corpora.dataset import Dataset, TableLayout, TextLayout
from features.corpora.headers import fitting_layout
from features.corpora.reading import own_record
from features.corpora.settings import CorpusSettings
from features.corpora.sources import Source, locate
from features.corpora.tables import named_rows
from features.corpora.texts import fitting_texts
from features.ingest.corpus_labels import CorpusLabels
from features.ingest.corpus_pairs import CorpusPairs
from features.ingest.known import Known
from features.ingest.report import ChangedJudgement, Fault
from features.ingest.sentences import Sentences
from features.parsers.language import other_language
from features.sentences import normalise

Judgement = Literal["label", "score"]
_JUDGEMENTS: tuple[Judgement, ...] = ("label", "score")
_SEPARATORS = (",", ";", "|")
"""What people write between several labels in a cell."""
_SAMPLE = 1_000  # texts of which the language is looked at
_MANY = 10  # texts that hardly differ in all of their labels by chance
_SHOWN = 40  # letters of a text in a message
_WHOLE = re.compile(r"^([-+]?\d+)\.0+$")  # a number that became a float, as beside empty cells in pandas


def label_faults(corpora: Sequence[CorpusLabels], known: Known) -> Iterator[Fault]:
    """Yield what is suspicious about the labels of corpora, over all their splits; not of texts with one class."""
    for read in corpora:
        corpus = read.corpus
        layout = own_record(corpus).layouts[0]
        for aspect in layout.aspects if read.multilabel and read.counts and isinstance(layout, TextLayout) else ():
            fault = partial(Fault.of, corpus.name, aspect=aspect)
            texts = {label: count for (name, label), count in read.counts.items() if name == aspect}
            yield from _of_aspect(fault, texts)
            # Texts of a known dataset lack what its makers did not label.
            if texts and (corpus.record.kind == "own" or corpus.aspects):
                labelled = list(chain.from_iterable(split.aspects.values() for split in read.splits.values()))
                if lacking := sum(aspect not in aspects for aspects in labelled):
                    what = f"label in the aspect {aspect!r}"
                    yield Fault.of(corpus.name, "missing", what=what, rows=lacking, unit="text", among=len(labelled))
                if corpus.separator is None:
                    yield from _joined(fault, texts)
        if read.multilabel:
            yield from _gone(read, known)


def _of_aspect(fault: Callable[..., Fault], texts: Mapping[str, int]) -> Iterator[Fault]:
    """Yield what is wrong with all labels of an aspect; `texts` is their number by label."""
    total = sum(texts.values())
    if not texts:
        yield fault("no_label")
    elif len(texts) == 1:
        yield fault("one_label", texts=total, label=clipped(next(iter(texts)), _SHOWN))
    elif len(texts) >= _MANY and max(texts.values()) == 1:
        yield fault("each_its_own", labels=total, label=clipped(next(iter(texts)), _SHOWN))
    elif several := _spelt_alike(texts):
        alike = list(chain.from_iterable(several))
        examples = {label: texts[label] for label in several[0]}
        yield fault("spelt_alike", labels=len(alike), times=sum(map(texts.__getitem__, alike)), examples=examples)


def _joined(fault: Callable[..., Fault], texts: Mapping[str, int]) -> Iterator[Fault]:
    """Yield labels that look like several in one cell: other cells have all of their parts, too."""
    for separator in _SEPARATORS:
        parts = {label: {part.strip() for part in label.split(separator)} for label in texts}
        cells = Counter(chain.from_iterable(parts.values()))
        several = [label for label in texts if len(parts[label]) > 1]
        joined = [label for label in several if all(cells[part] > 1 for part in parts[label])]
        # Fewer are names with a comma in them.
        if len(joined) > 1 and 2 * len(joined) >= len(several):
            example = max(joined, key=lambda label: (texts[label], label))
            shown = {"example": clipped(example, _SHOWN), "count": texts[example], "separator": separator}
            yield fault("joined", labels=len(joined), times=sum(texts[label] for label in joined), **shown)
            return


def _gone(read: CorpusLabels, known: Known) -> Iterator[Fault]:
    """Yield stored labels of texts that were read again without them."""
    gone: dict[str, list[tuple[str, str]]] = {}
    stored = known.labels.filter(corpus=read.corpus.name).select("label_id", "split", "sentence", "aspect", "label")
    for identity, split, sentence, aspect, label in stored.iter_rows():
        if identity not in read.seen and split in read.splits and sentence in read.splits[split].texts:
            gone.setdefault(aspect, []).append((sentence, label))
    for aspect, rows in sorted(gone.items()):
        ((example, _),) = Counter(label for _, label in rows).most_common(1)
        texts = len({sentence for sentence, _ in rows})
        yield Fault.of(read.corpus.name, "gone", aspect=aspect, texts=texts, label=clipped(example, _SHOWN))


def _spelt_alike(counts: Mapping[str, int]) -> list[list[str]]:
    """Return groups of labels, with counts, that differ only in case, spaces or a final .0, the largest first."""
    spelt: dict[str, list[str]] = {}
    for label in sorted(counts):
        key = "".join(normalise(label).casefold().split())
        spelt.setdefault(_WHOLE.sub(r"\1", key), []).append(label)
    return sorted((labels for labels in spelt.values() if len(labels) > 1), key=lambda ls: -sum(counts[x] for x in ls))


def unused_labels(read: Sequence[CorpusPairs | CorpusLabels]) -> Iterator[Fault]:
    """Yield the labels that the settings of corpora choose and no row of their splits has: perhaps misspelt ones."""
    for each in read:
        had = {*each.rows["label"].unique()} if isinstance(each, CorpusPairs) else {label for _, label in each.counts}
        for label in each.corpus.chosen_labels or ():
            if label not in had:
                yield Fault.of(each.corpus.name, "unused_label", label=label)


def language_faults(read: Sequence[CorpusPairs | CorpusLabels]) -> Iterator[Fault]:
    """Yield the corpora of which more than one text in twenty of a sample is not English."""
    for each in read:
        splits = [] if isinstance(each, CorpusPairs) else [split.texts.values() for split in each.splits.values()]
        texts = each.texts if isinstance(each, CorpusPairs) else pl.Series([*chain(*splits)], dtype=pl.String)
        sample = texts.gather_every(len(texts) // _SAMPLE + 1).to_list()
        others = [(text, language) for text in sample if (language := other_language(text))]
        if 20 * len(others) > len(sample):
            languages = dict.fromkeys(language for _, language in others)
            counts: dict[str, object] = {"texts": len(others), "among": len(sample)}
            counts |= {"languages": [*languages], "example": clipped(others[0][0], _SHOWN)}
            yield Fault.of(each.corpus.name, "not_english", **counts)


def text_faults(corpora: Sequence[CorpusLabels], sentences: Sentences) -> Iterator[Fault]:
    """Yield the corpora that have texts in several spellings, over all their splits; not texts with one class."""
    for corpus in corpora:
        spellings: dict[SentenceId, dict[str, set[Split]]] = {}
        for name, split in corpus.splits.items() if corpus.multilabel else ():
            for text in split.texts.values():
                spellings.setdefault(sentences.shared_id(text), {}).setdefault(text, set()).add(name)
        several = [splits_of for splits_of in spellings.values() if len(splits_of) > 1]
        if several:
            parted = sum(len(splits_of) for splits_of in several if len(set().union(*splits_of.values())) > 1)
            first, second, *_ = several[0]
            # Long texts are shown around the position where they begin to differ.
            same = len(commonprefix([first, second]))  # noqa: RUF071 - no paths
            start = 0 if same < _SHOWN else same - _SHOWN // 2
            examples = {"first": clipped(first, _SHOWN, start), "second": clipped(second, _SHOWN, start)}
            yield Fault.of(corpus.corpus.name, "texts_alike", texts=sum(map(len, several)), parted=parted, **examples)


def judgement_faults(corpora: Sequence[CorpusPairs]) -> Iterator[Fault]:
    """Yield what is suspicious about the judgements of corpora, over all their splits."""
    for of_corpus in corpora:
        corpus, rows = of_corpus.corpus, of_corpus.rows
        # Pairs of known datasets are as often there as their makers put them there.
        if corpus.record.kind == "own" and (repeats := sum(each.repeats for each in of_corpus.reports.values())):
            yield Fault.of(corpus.name, "repeated", rows=repeats)
        for judgement in _JUDGEMENTS:
            counts = dict(rows[judgement].value_counts().iter_rows())
            empty = counts.pop(None, 0)
            fault = partial(Fault.of, corpus.name, judgement=judgement)
            # A known pair keeps what is stored, so one that has a judgement there lacks none.
            missing = empty + sum(_lacks_more(each, judgement) for each in of_corpus.changed)
            some = bool(counts) or missing < rows.height
            # A corpus without judgements lacks none, unless its settings name a column for them.
            if missing and some:
                yield Fault.of(corpus.name, "missing", what=judgement, rows=missing, unit="pair", among=rows.height)
            elif missing and judgement in (corpus.columns or {}):
                yield fault("not_judged")
            if judgement == "label" and (several := _spelt_alike(counts)):
                affected = sum(counts[label] for labels in several for label in labels)
                examples = {each: counts[each] for each in several[0]}
                yield Fault.of(corpus.name, "pairs_spelt_alike", pairs=affected, examples=examples)
            # Pairs of known datasets have what their makers gave them.
            if corpus.record.kind == "own" and len(counts) > 1:
                repeated = _judged_differently(of_corpus, judgement)
                if repeated.height:
                    first, second, given, _ = repeated.row(0)
                    values = dict.fromkeys(f"{value:g}" if judgement == "score" else repr(value) for value in given)
                    texts = (clipped(of_corpus.texts[first], _SHOWN), clipped(of_corpus.texts[second], _SHOWN))
                    yield fault("judged_differently", pairs=repeated.height, texts=texts, values=list(values))


def _judged_differently(of_corpus: CorpusPairs, judgement: Judgement) -> pl.DataFrame:
    """Return the pairs of sentences that have several judgements, each with all of them, split by split, new first."""
    order = {SPLITS.index(split): position for position, split in enumerate(of_corpus.reports)}
    rows = of_corpus.rows.drop_nulls(judgement)
    return (
        rows.filter(rows.select("a", "b").is_duplicated())
        .sort(pl.col("split").replace_strict(order), "stored", maintain_order=True)
        .group_by("a", "b", maintain_order=True)
        .agg(pl.col(judgement), kinds=pl.col(judgement).n_unique())
        .filter(pl.col("kinds") > 1)
    )


def _lacks_more(change: ChangedJudgement, judgement: Judgement) -> int:
    """Return 1 for a pair that has a judgement in the file but not in the store, -1 the other way round, else 0."""
    stored, found = getattr(change, f"stored_{judgement}"), getattr(change, f"found_{judgement}")
    return (stored is None) - (found is None)


def key_faults(corpora: Sequence[CorpusSettings], base: Path) -> Iterator[Fault]:
    """Yield the keys that may be misspelt, file by file; the files have been read before, so they can be read."""
    for corpus in corpora:
        record = own_record(corpus)
        for source in locate(corpus, corpus.files, base):
            if read := _keys_read(source.path, record):
                yield from _misspelt(corpus.name, source, read)


def _keys_read(path: Path, record: Dataset) -> list[str]:
    """Return the keys that are read of a file of JSON lines; none of any other file."""
    try:
        if table_format(path) != "jsonl":
            return []
    except InputError:  # files of some datasets have names without a suffix
        return []
    tables = [layout for layout in record.layouts if isinstance(layout, TableLayout)]
    if tables:
        return [str(column) for column in fitting_layout(path, tables).columns.values()]
    texts = [layout for layout in record.layouts if isinstance(layout, TextLayout) and layout.form != "label first"]
    return fitting_texts(path, texts).columns if texts else []


def _misspelt(corpus: str, source: Source, read: Sequence[str]) -> Iterator[Fault]:
    keys = frozenset(read)
    lacking: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    beside: dict[str, Counter[str]] = {key: Counter() for key in read}
    first: dict[tuple[str, str], int] = {}
    for line, row in named_rows(source.path, "jsonl", read):
        if not isinstance(row, dict):
            continue
        others = row.keys() - keys
        everywhere.update(others)
        for key in keys - row.keys():
            lacking[key] += 1
            beside[key].update(others)
            for other in others:
                first.setdefault((key, other), line)
    for key, counts in beside.items():
        odd = {name: rows for name, rows in sorted(counts.items()) if rows == everywhere[name]}
        if odd:
            unread = dict(sorted(odd.items(), key=lambda each: -each[1]))
            origin = f"{source.name}:{first[key, next(iter(unread))]}"
            yield Fault.of(corpus, "misspelt", key=key, rows=lacking[key], unread=unread, origin=origin)
