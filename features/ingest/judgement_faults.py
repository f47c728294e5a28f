"""Suspicious judgements of pairs, which are reported: missing in some pairs or in all, two of one pair or one label."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Literal

import polars as pl

from features.core.types import SPLITS
from features.ingest.corpus_pairs import CorpusPairs
from features.ingest.fault_reports import JudgementFaultReport
from features.ingest.label_faults import cut, spelt_alike
from features.ingest.report import ChangedJudgement

Judgement = Literal["label", "score"]
_JUDGEMENTS: tuple[Judgement, ...] = ("label", "score")


def judgement_faults(corpora: Sequence[CorpusPairs]) -> list[JudgementFaultReport]:
    """Return what is suspicious about the judgements of corpora, over all their splits."""
    reports = []
    for of_corpus in corpora:
        corpus, rows = of_corpus.corpus, of_corpus.rows
        for judgement in _JUDGEMENTS:
            counts = dict(rows[judgement].value_counts().iter_rows())
            empty = counts.pop(None, 0)
            report = partial(JudgementFaultReport, corpus=corpus.name, judgement=judgement, pairs=rows.height)
            # A known pair keeps what is stored, so one that has a judgement there lacks none.
            missing = empty + sum(_lacks_more(each, judgement) for each in of_corpus.changed)
            some = bool(counts) or missing < rows.height
            # A corpus without judgements lacks none, unless its settings name a column for them.
            if missing and (some or judgement in (corpus.columns or {})):
                reports.append(report(fault="missing" if some else "none", affected=missing))
            if judgement == "label" and (several := spelt_alike(counts)):
                affected = sum(counts[label] for labels in several for label in labels)
                examples = {label: counts[label] for label in several[0]}
                reports.append(report(fault="spelling", affected=affected, examples=examples))
            # Pairs of known datasets have what their makers gave them.
            if corpus.record.kind == "own" and len(counts) > 1:
                repeated = _judged_differently(of_corpus, judgement)
                if repeated.height:
                    first, second, given, _ = repeated.row(0)
                    values = Counter(f"{value:g}" if judgement == "score" else repr(value) for value in given)
                    texts = (cut(of_corpus.text_of(first)), cut(of_corpus.text_of(second)))
                    affected = repeated.height
                    reports.append(report(fault="several", affected=affected, examples=dict(values), texts=texts))
    return reports


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
