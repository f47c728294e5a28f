"""Splits that are not what a corpus should give: the same rows as in train, or fewer than the store has."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import polars as pl

from features.core.types import SPLITS
from features.ids import from_hexadecimal, hexadecimal, positions_in
from features.ingest.corpus_labels import CorpusLabels
from features.ingest.corpus_pairs import CorpusPairs
from features.ingest.known import Known
from features.ingest.report import Fault, ShrunkReport
from features.ingest.sentences import Sentences

_TRAIN = SPLITS.index("train")
_MOST = 0.5
"""Share of a split's pairs in `train` above which it is reported; smaller overlaps are up to the corpora."""


def pair_overlaps(corpora: Sequence[CorpusPairs], known: Known, unread: Sequence[str]) -> list[Fault]:
    """Return the evaluation splits that share most of their pairs with a split `train`.

    Train and dev may have been made from one file by mistake. The pairs of unread corpora are those of the store.
    """
    stored = known.pairs.filter(pl.col("corpus").is_in(unread), kind="positive").select(
        "corpus", "split", "sentence_a", "sentence_b"
    )
    evaluated = known.collected(stored.filter(pl.col("split") != "train").select("sentence_a", "sentence_b"))
    of_corpora = []
    for corpus in corpora:
        others = corpus.paired.filter(pl.col("split") != _TRAIN)
        of_corpora.append(corpus.ids[np.unique(np.concatenate([others["a"].to_numpy(), others["b"].to_numpy()]))])
    of_store = [from_hexadecimal(evaluated[side]) for side in ("sentence_a", "sentence_b")]
    held_out = np.unique(np.concatenate([*of_corpora, *of_store]))
    if not len(held_out):
        return []
    # No pair with another sentence can be one of theirs.
    among = hexadecimal(held_out).implode()
    met = known.collected(stored.filter(pl.col("sentence_a").is_in(among) & pl.col("sentence_b").is_in(among)))
    frames = [_both(met, met["sentence_a"], met["sentence_b"])]
    for corpus in corpora:
        is_held_out = pl.Series(positions_in(corpus.ids, held_out) >= 0)
        pairs = corpus.paired.filter(is_held_out[corpus.paired["a"]] & is_held_out[corpus.paired["b"]])
        for split in corpus.reports:
            rows = pairs.filter(split=SPLITS.index(split))
            named = rows.with_columns(corpus=pl.lit(corpus.corpus.name), split=pl.lit(split))
            a, b = (hexadecimal(corpus.ids[rows[side].to_numpy()]) for side in ("a", "b"))
            frames.append(_both(named, a, b))
    pairs = pl.concat(frames).unique()
    train, others = pairs.filter(split="train"), pairs.filter(pl.col("split") != "train")
    counts = others.group_by("corpus", "split").len("pairs")
    shared = (
        train.join(others, on="pair")
        .group_by("corpus", other_corpus="corpus_right", other_split="split_right")
        .len("shared")
        .join(counts, left_on=["other_corpus", "other_split"], right_on=["corpus", "split"])
        .filter(pl.col("shared") > _MOST * pl.col("pairs"))
        .sort("corpus", "other_corpus", "other_split")
    )
    return [Fault.of(note="overlap", what="pairs", **row) for row in shared.iter_rows(named=True)]


def _both(rows: pl.DataFrame, a: pl.Series, b: pl.Series) -> pl.DataFrame:
    """Return corpus and split of pairs, with their sentences in either order as `pair`."""
    pair = pl.concat_str(pl.min_horizontal(a, b), pl.max_horizontal(a, b))
    return rows.select("corpus", "split", pair=pair)


def text_overlaps(corpora: Sequence[CorpusLabels], sentences: Sentences) -> Iterator[Fault]:
    """Yield the evaluation splits that share any text with a split `train`; texts with one class may be repeated."""
    splits = [split for corpus in corpora if corpus.multilabel for split in corpus.splits.values()]
    for train in splits:
        others = [split for split in splits if split.report.split != "train"] if train.report.split == "train" else []
        trained = {sentences.shared_id(text) for text in train.texts.values()} if others else set()
        for other in others:
            shared = [each for each, text in other.texts.items() if sentences.shared_id(text) in trained]
            if shared:
                yield Fault.of(
                    train.report.corpus,
                    "overlap",
                    other_corpus=other.report.corpus,
                    other_split=other.report.split,
                    pairs=len(other.texts),
                    shared=len(shared),
                    spelt=sum(sentence not in train.texts for sentence in shared),
                    what="texts",
                )


def drawn_before(corpora: Sequence[CorpusPairs], known: Known) -> Iterator[Fault]:
    """Yield the stored negatives of splits that `negatives` of their corpus no longer names."""
    negatives = known.pairs.filter(kind="negative").group_by("corpus", "split").len()
    stored = {(corpus, split): count for corpus, split, count in known.collected(negatives).iter_rows()}
    for each in corpora:
        for split in sorted({*SPLITS} - {*each.corpus.drawn_splits}, key=SPLITS.index):
            if pairs := stored.get((each.corpus.name, split)):
                yield Fault.of(each.corpus.name, "drawn_before", split=split, pairs=pairs)


def shrunk(read: Sequence[CorpusPairs | CorpusLabels], known: Known, unread: Sequence[str]) -> Iterator[ShrunkReport]:
    """Yield the corpora of whose stored pairs or texts some were not read again: deleted, edited, moved or cut off.

    Corpora that are stored, and are neither read nor unread ones of the project, come last.
    """
    positives = known.pairs.filter(~pl.col("corpus").is_in(unread), kind="positive")
    of_pairs = dict(known.collected(positives.group_by("corpus").len()).iter_rows())
    stored_names = {name for name, _ in known.splits_of_text} | of_pairs.keys()
    of_name = {each.corpus.name: each for each in read}
    for corpus in [*of_name, *sorted(stored_names - {*of_name, *unread})]:
        of_corpus = of_name.get(corpus)
        texts = {sentence for name, sentence in known.splits_of_text if name == corpus}
        what: Literal["texts", "pairs"] = "texts" if texts else "pairs"
        stored, came, added = of_pairs.get(corpus, 0), 0, 0
        if texts:
            stored = len(texts)
            if isinstance(of_corpus, CorpusLabels):
                came = len(texts & {text for split in of_corpus.splits.values() for text in split.texts})
                added = len({*of_corpus.rows["sentence"]} - texts)
        elif of_corpus is not None:
            added = sum(report.new for report in of_corpus.reports.values())
            if isinstance(of_corpus, CorpusPairs):
                came = sum(report.known for report in of_corpus.reports.values())
        if came < stored:
            named = corpus in of_name
            yield ShrunkReport(corpus=corpus, stored=stored, found=came, added=added, what=what, named=named)
