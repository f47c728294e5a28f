"""Suspicious judgements of pairs, which are reported: missing in some pairs or in all, two of one pair or one label."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Literal

import polars as pl

from features.corpora.settings import CorpusSettings
from features.ingest.fault_reports import JudgementFaultReport
from features.ingest.label_faults import spelt_alike
from features.ingest.report import ChangedJudgement
from features.ingest.sentences import Sentences
from features.ingest.split_pairs import SplitPairs
from features.ingest.text_faults import cut

Judgement = Literal["label", "score"]
_JUDGEMENTS: tuple[Judgement, ...] = ("label", "score")


def judgement_faults(
    corpora: Sequence[CorpusSettings],
    splits: Sequence[tuple[SplitPairs, Sequence[ChangedJudgement]]],
    sentences: Sentences,
) -> list[JudgementFaultReport]:
    """Return what is suspicious about the judgements of corpora of pairs, over all their splits.

    Args:
        corpora: the corpora that were read.
        splits: splits of those with pairs, each with its known pairs whose judgement has changed.
        sentences: knows their texts.
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
            # Pairs of known datasets have what their makers gave them.
            if corpus.record.kind == "own" and len(counts) > 1:
                found += _several(corpus.name, judgement, [split for split, _ in own], pairs, sentences)
    return found


def _several(
    corpus: str, judgement: Judgement, splits: Sequence[SplitPairs], pairs: int, sentences: Sentences
) -> list[JudgementFaultReport]:
    """Return how many pairs of sentences have several judgements."""
    read = [columns for split in splits for columns in (split.positives, split.stored)]
    columns = ("sentence_a", "sentence_b", judgement)
    several = (
        pl.DataFrame({name: list(chain.from_iterable(getattr(of, name) for of in read)) for name in columns})
        .drop_nulls(judgement)
        .group_by("sentence_a", "sentence_b", maintain_order=True)
        .agg(pl.col(judgement), kinds=pl.col(judgement).n_unique())
        .filter(pl.col("kinds") > 1)
    )
    if not several.height:
        return []
    first, second, given, _ = several.row(0)
    examples = Counter(f"{value:g}" if judgement == "score" else repr(value) for value in given)
    return [
        JudgementFaultReport(
            corpus=corpus,
            judgement=judgement,
            fault="several",
            pairs=pairs,
            affected=several.height,
            examples=dict(examples),
            texts=(cut(sentences.text_of(first)), cut(sentences.text_of(second))),
        )
    ]


def _lacks_more(change: ChangedJudgement, judgement: Judgement) -> int:
    """Return 1 for a pair that has a judgement in the file but not in the store, -1 the other way round, else 0."""
    stored, found = (
        (change.stored_label, change.found_label) if judgement == "label" else (change.stored_score, change.found_score)
    )
    return (stored is None) - (found is None)
