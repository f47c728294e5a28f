"""Splits that are not what a corpus should give: the same rows as in train, or fewer than the store has."""

from collections.abc import Iterator, Sequence
from typing import Literal

import polars as pl

from features.ingest.known import Known
from features.ingest.report import OverlapReport, ShrunkReport
from features.ingest.sentences import Sentences
from features.ingest.split_labels import SplitLabels
from features.ingest.split_pairs import SplitPairs

_MOST = 0.5
"""Share of a split's pairs in `train` above which it is reported; smaller overlaps are up to the corpora."""


def overlaps(
    pairs: Sequence[SplitPairs], texts: Sequence[SplitLabels], sentences: Sentences, known: Known, unread: Sequence[str]
) -> list[OverlapReport]:
    """Return the evaluation splits that share most of their pairs, or any text, with a split `train`.

    Train and dev may have been made from one file by mistake. Corpora with one class per text may repeat texts. The
    pairs of unread corpora are those of the store.
    """
    reports = _of_pairs(pairs, known.judgements.filter(pl.col("corpus").is_in(unread), kind="positive"))
    return [*reports, *_of_texts([split for split in texts if split.several], sentences)]


def _of_pairs(splits: Sequence[SplitPairs], stored: pl.DataFrame) -> list[OverlapReport]:
    names = ("corpus", "split", "sentence_a", "sentence_b")
    frames = [
        pl.DataFrame(list(split.occurrences), schema=dict.fromkeys(names[2:], pl.String), orient="row").select(
            pl.lit(split.report.corpus).alias("corpus"), pl.lit(split.report.split).alias("split"), *names[2:]
        )
        for split in splits
    ]
    both = pl.concat_list("sentence_a", "sentence_b").list.sort()
    pairs = pl.concat([stored.select(names), *frames]).select("corpus", "split", pair=both).unique(maintain_order=True)
    train, others = pairs.filter(split="train"), pairs.filter(pl.col("split") != "train")
    counts = others.group_by("corpus", "split").len("pairs")
    shared = (
        train.join(others, on="pair", maintain_order="left_right")
        .group_by("corpus", other_corpus="corpus_right", other_split="split_right", maintain_order=True)
        .len("shared")
        .join(counts, left_on=["other_corpus", "other_split"], right_on=["corpus", "split"], maintain_order="left")
        .filter(pl.col("shared") > _MOST * pl.col("pairs"))
    )
    return [OverlapReport(**row) for row in shared.iter_rows(named=True)]


def _of_texts(splits: Sequence[SplitLabels], sentences: Sentences) -> Iterator[OverlapReport]:
    for train in splits:
        others = [split for split in splits if split.report.split != "train"] if train.report.split == "train" else []
        trained = {sentences.shared_id(text) for text in train.texts.values()} if others else set()
        for other in others:
            shared = [each for each, text in other.texts.items() if sentences.shared_id(text) in trained]
            if shared:
                yield OverlapReport(
                    corpus=train.report.corpus,
                    other_corpus=other.report.corpus,
                    other_split=other.report.split,
                    pairs=len(other.texts),
                    shared=len(shared),
                    spelt=sum(sentence not in train.texts for sentence in shared),
                    what="texts",
                )


def shrunk(
    corpora: Sequence[str], splits: Sequence[SplitPairs | SplitLabels], known: Known, unread: Sequence[str]
) -> list[ShrunkReport]:
    """Return the corpora of whose stored pairs or texts some were not read again: deleted, edited, moved or cut off.

    Corpora that are stored, and are neither read nor unread ones of the project, are returned last.
    """
    reports = []
    of_pairs = dict(known.judgements.filter(kind="positive").group_by("corpus").len().iter_rows())
    stored_names = {name for name, _ in known.splits_of_text} | of_pairs.keys()
    for corpus in [*corpora, *sorted(stored_names - {*corpora, *unread})]:
        of_corpus = [split for split in splits if split.report.corpus == corpus]
        texts = {sentence for name, sentence in known.splits_of_text if name == corpus}
        if texts:
            came = {sentence for split in of_corpus if isinstance(split, SplitLabels) for sentence in split.occurrences}
            new = {sentence for split in of_corpus if isinstance(split, SplitLabels) for sentence in split.sentences}
            stored, read, added = len(texts), len(texts & came), len(new - texts)
        else:
            stored = of_pairs.get(corpus, 0)
            read = sum(len(split.stored.pair_id) for split in of_corpus if isinstance(split, SplitPairs))
            added = sum(split.report.new for split in of_corpus)
        if read < stored:
            what: Literal["texts", "pairs"] = "texts" if texts else "pairs"
            named = corpus in corpora
            reports.append(ShrunkReport(corpus=corpus, stored=stored, found=read, added=added, what=what, named=named))
    return reports
