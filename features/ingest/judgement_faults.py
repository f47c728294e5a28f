"""Suspicious judgements of pairs, which are reported: missing in some pairs or in all, two of one pair or one label."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Literal

import polars as pl

from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import JudgementFaultReport
from features.ingest.label_faults import cut, spelt_alike
from features.ingest.report import ChangedJudgement
from features.ingest.sentences import Sentences
from features.ingest.split_pairs import SplitPairs

Judgement = Literal["label", "score"]
_JUDGEMENTS: tuple[Judgement, ...] = ("label", "score")


def judgement_faults(
    corpora: Sequence[CorpusSettings],
    splits: Sequence[tuple[SplitPairs, Sequence[ChangedJudgement]]],
    sentences: Sentences,
) -> list[JudgementFaultReport]:
    """Return what is suspicious about the judgements of corpora, over all their splits with pairs.

    Each split comes with its known pairs whose judgement has changed.
    """
    reports = []
    for corpus in corpora:
        own = [(split, changed) for split, changed in splits if split.report.corpus == corpus.name]
        columns = [columns for split, _ in own for columns in (split.positives, split.stored)]
        for judgement in _JUDGEMENTS:
            counts = Counter(chain.from_iterable(getattr(each, judgement) for each in columns))
            pairs, empty = counts.total(), counts.pop(None, 0)
            report = partial(JudgementFaultReport, corpus=corpus.name, judgement=judgement, pairs=pairs)
            # A known pair keeps what is stored, so one that has a judgement there lacks none.
            missing = empty + sum(_lacks_more(each, judgement) for _, changed in own for each in changed)
            some = bool(counts) or missing < pairs
            # A corpus without judgements lacks none, unless its settings name a column for them.
            if missing and (some or judgement in (corpus.columns or {})):
                reports.append(report(fault="missing" if some else "none", affected=missing))
            if judgement == "label" and (several := spelt_alike(counts)):
                affected = sum(counts[label] for labels in several for label in labels)
                examples = {label: counts[label] for label in several[0]}
                reports.append(report(fault="spelling", affected=affected, examples=examples))
            # Pairs of known datasets have what their makers gave them.
            if corpus.record.kind == "own" and len(counts) > 1:
                names = ("sentence_a", "sentence_b", judgement)
                frame = pl.DataFrame({name: list(chain(*(getattr(each, name) for each in columns))) for name in names})
                repeated = _judged_differently(frame, judgement)
                if repeated.height:
                    first, second, given, _ = repeated.row(0)
                    values = Counter(f"{value:g}" if judgement == "score" else repr(value) for value in given)
                    texts = (cut(sentences.text_of(first)), cut(sentences.text_of(second)))
                    affected = repeated.height
                    reports.append(report(fault="several", affected=affected, examples=dict(values), texts=texts))
    return reports


def _judged_differently(pairs: pl.DataFrame, judgement: Judgement) -> pl.DataFrame:
    """Return the pairs of sentences that have several judgements, each with all of them."""
    return (
        pairs.drop_nulls(judgement)
        .group_by("sentence_a", "sentence_b", maintain_order=True)
        .agg(pl.col(judgement), kinds=pl.col(judgement).n_unique())
        .filter(pl.col("kinds") > 1)
    )


def _lacks_more(change: ChangedJudgement, judgement: Judgement) -> int:
    """Return 1 for a pair that has a judgement in the file but not in the store, -1 the other way round, else 0."""
    stored, found = getattr(change, f"stored_{judgement}"), getattr(change, f"found_{judgement}")
    return (stored is None) - (found is None)
