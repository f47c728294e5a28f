"""Which split a row is in: that of its file, or a drawn one, unless the row is already in the store.

    text ── its spellings, in all ──┬── stored? ────> the split that it, or one of them, has there
            corpora drawn alike     └── its hash ───> split (the hash of the spelling with the smallest id)

    pair ── its group: what hangs ──┬── stored? ────> the split that it has there
            together by sentences   ├── too large? ─> train
                                    └── its hash ───> split

Sentences and texts that are the same for the leakage guard (case, punctuation) belong together: they are spellings of
one. What the store holds stays as it is, whatever `draw` says now. A pair that would join two groups stored in
different splits is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.types import SPLITS, SentenceId, Split
from features.corpora.reading import Outcome, TextRow, read_outcomes
from features.corpora.settings import CorpusSettings, DrawSettings
from features.ids import IdArray, from_hexadecimal, hexadecimal, pair_ids, positions_in
from features.ingest.known import Known
from features.ingest.report import Fault
from features.ingest.sentences import Sentences
from features.sentences import leakage_key

Spellings = Literal["together", "apart"]
"""Whether the spellings of a text are drawn together, or each by its own hash, as if it were the only one."""

Nodes = tuple[int, ...]
"""Nodes that a pair joins: its two sentences, then their leakage keys, and its image, topic or document."""

_FEW, _MANY = 0.5, 1.5
"""Multiples of the requested share beyond which a drawn split is reported."""


def drawn_texts(
    corpora: Sequence[CorpusSettings], base: Path, sentences: Sentences, known: Known, spellings: Spellings
) -> dict[str, "DrawnTexts"]:
    """Return by corpus what puts its texts into splits, for those whose texts are drawn.

    All rows of a corpus have to be known before the first is placed, so they are read here.
    """
    alike: dict[DrawSettings | str, DrawnTexts] = {}
    of_corpus: dict[str, DrawnTexts] = {}
    for corpus in corpora:
        if corpus.record.has_texts and _draws_texts(corpus, known):
            # Without a `draw` now, a corpus is alone.
            common = (corpus.draw if spellings == "together" else None) or corpus.name
            texts = of_corpus[corpus.name] = alike.setdefault(common, DrawnTexts(sentences, known))
            texts.add(corpus, read_outcomes(corpus, base) if spellings == "together" else ())
    return of_corpus


def _draws_texts(corpus: CorpusSettings, known: Known) -> bool:
    """Return whether texts are drawn, or were and may be followed by new spellings."""
    if corpus.drawn_from is None or corpus.record.kind == "classes":
        return False
    stored = (splits for (name, _), splits in known.splits_of_text.items() if name == corpus.name)
    return corpus.draw is not None or any(split in corpus.without_files for split in chain.from_iterable(stored))


class DrawnTexts:
    """Texts of the corpora that are drawn alike: which are spellings of one, and the splits the store has them in.

    They are drawn independently of each other but for the spellings of one.
    """

    def __init__(self, sentences: Sentences, known: Known) -> None:
        self._sentences = sentences
        self._known = known
        self._corpora: list[str] = []
        self._first: dict[SentenceId, SentenceId] = {}
        self._several: dict[SentenceId, set[SentenceId]] = {}  # of the few texts that have several

    def add(self, corpus: CorpusSettings, rows: Iterable[Outcome]) -> None:
        """Add a corpus with its rows; with none, each spelling is a text of its own."""
        self._corpora.append(corpus.name)
        for row in rows:
            if isinstance(row, TextRow) and row.split == corpus.drawn_from:
                sentence, _, too_long = self._sentences.identify(row.text)
                shared = self._sentences.shared_id(row.text)
                if not too_long and self._first.setdefault(shared, sentence) != sentence:
                    self._several.setdefault(shared, {self._first[shared]}).add(sentence)

    def place(self, row: Outcome, corpus: CorpusSettings) -> Outcome:
        """Return a row of a corpus in its split: the one of its file, or one of those without files."""
        if not isinstance(row, TextRow) or row.split != corpus.drawn_from:
            return row
        sentence = self._sentences.identify(row.text)[0]
        spellings = [sentence]
        if self._several:  # else no text needs a second hash
            spellings = sorted(self._several.get(self._sentences.shared_id(row.text), spellings))
        draws = [row.split if corpus.draw is None else corpus.draw.split_of(each) for each in spellings]
        splits = (row.split, *corpus.without_files)
        stored = {*self._known.splits_of_text.get((corpus.name, sentence), ())} & {*splits} or self._stored(spellings)
        split = next((split for split in splits if split in stored), draws[0])
        # Not kept against the settings if another spelling, perhaps the first that came, was drawn there.
        return row._replace(split=split, kept=split not in draws)

    def _stored(self, sentences: Iterable[SentenceId]) -> set[Split]:
        """Return the splits that the store has any of some texts in, in any of the corpora."""
        splits = self._known.splits_of_text
        return {
            split for sentence in sentences for corpus in self._corpora for split in splits.get((corpus, sentence), ())
        }


def draw_pairs(
    corpus: CorpusSettings,
    known: Known,
    stored_pairs: IdArray,
    rows: pl.DataFrame,
    ids: IdArray,
    texts: pl.Series,
    too_long: NDArray[np.bool_],
) -> tuple[pl.DataFrame, list[Fault]] | None:
    """Assign pairs to splits, keeping those together that share a sentence or a user-defined group.

    `stored_pairs` are the ids of the pairs that the store has of the corpus, sorted; `rows` have columns `split`, `a`,
    `b` (numbers of sentences) and `group`, (n_rows,). Sentences have sorted ids, normalised texts, and whether each is
    too long, (n_sentences,): a reject joins nothing.

    Returns:
        The rows with `split`, the place of theirs in `SPLITS`; `kept`, whether the present settings would put no pair
        there; and `joins`, why a row is in no split, because it would join two of them, else null. And the splits that
        far too few or too many pairs came into. None if every row stays in the split of its file.
    """
    source = corpus.drawn_from
    if source is None:
        return None
    stored = known.placed_pairs(corpus.name)
    if corpus.draw is None and set(stored["split"].unique()).isdisjoint(corpus.without_files):
        return None
    shares = corpus.draw.shares if corpus.draw is not None else {}
    possible = {source, *shares, *(("train",) if shares else ())}
    splits = (source, *corpus.without_files)
    stored = stored.filter(pl.col("split").is_in(splits))
    stored_ids = [from_hexadecimal(stored[side]) for side in ("sentence_a", "sentence_b")]
    sentences = np.unique(np.concatenate([ids, *stored_ids]))
    groups = _Groups(len(sentences))
    sides = (positions_in(side, sentences).tolist() for side in stored_ids)
    for a, b, split in zip(*sides, stored["split"].to_list(), strict=True):
        groups.place_stored((a, b), split)

    long = too_long[rows["a"].to_numpy()] | too_long[rows["b"].to_numpy()]
    drawn = np.flatnonzero((rows["split"].to_numpy() == SPLITS.index(source)) & ~long)
    nodes_of_rows = _nodes_of(rows[drawn], positions_in(ids, sentences), texts, groups)
    for nodes in nodes_of_rows:
        groups.join(nodes)
    total = groups.pairs.total()
    stored_splits = _stored_splits(corpus, stored_pairs, rows[drawn], ids, splits)
    codes = rows["split"].to_numpy().copy()
    kept = np.zeros(rows.height, np.bool_)
    joins: dict[int, str] = {}
    placed: Counter[Split] = Counter()
    for row, nodes, stored_split in zip(drawn.tolist(), nodes_of_rows, stored_splits, strict=True):
        root, *others = {groups.root(node) for node in nodes}
        if stored_split is not None:
            split = stored_split
        elif others:  # it was not joined, since it would join two splits of the store
            first, second = sorted(groups.splits_of(nodes), key=SPLITS.index)[:2]
            joins[row] = (
                f"the pair would join sentences of {first} and of {second}, and no sentence may be in two splits"
            )
            continue
        elif root in groups.split:
            split = groups.split[root]
        elif corpus.draw is None:
            split = source
        else:
            (smallest,) = hexadecimal(sentences[[groups.first[root]]])
            split = corpus.draw.split_of(SentenceId(smallest), groups.pairs[root] / total)
        placed[split] += 1
        codes[row] = SPLITS.index(split)
        kept[row] = split not in possible
    why = pl.repeat(None, rows.height, dtype=pl.String, eager=True).scatter(list(joins), list(joins.values()))
    rows = rows.with_columns(split=pl.Series(codes), kept=pl.Series(kept), joins=why)
    return rows, _too_few_or_many(corpus, shares, placed, groups)


def _nodes_of(rows: pl.DataFrame, nodes: NDArray[np.int64], texts: pl.Series, groups: "_Groups") -> list[Nodes]:
    """Return what each row joins; `nodes` are those of the sentences, further ones are added to the groups."""
    named: dict[str, int] = {}
    of_sentence: dict[int, tuple[int, ...]] = {}

    def node(name: str) -> tuple[int, ...]:
        if name not in named:
            named[name] = groups.add()
        return (named[name],)

    for sentence in np.unique(np.concatenate([rows["a"].to_numpy(), rows["b"].to_numpy()])).tolist():
        key = leakage_key(texts[sentence])
        of_sentence[sentence] = node(f"key {key}") if key else ()
    return [
        (int(nodes[a]), int(nodes[b]), *of_sentence[a], *of_sentence[b], *(node(f"group {group}") if group else ()))
        for a, b, group in rows.select("a", "b", "group").iter_rows()
    ]


def _stored_splits(
    corpus: CorpusSettings, stored: IdArray, rows: pl.DataFrame, ids: IdArray, splits: Sequence[Split]
) -> list[Split | None]:
    """Return the split that the store has each pair in."""
    of_rows: list[Split | None] = [None] * rows.height
    first, second = ids[rows["a"].to_numpy()], ids[rows["b"].to_numpy()]
    for split in reversed(splits) if len(stored) else ():
        names = pair_ids(corpus.name, split, "positive", first, second, np.zeros(rows.height, np.int64))
        for position in np.flatnonzero(positions_in(names, stored) >= 0).tolist():
            of_rows[position] = split
    return of_rows


def _too_few_or_many(
    corpus: CorpusSettings, shares: Mapping[Split, float], placed: Counter[Split], groups: "_Groups"
) -> list[Fault]:
    """Return the splits for which far less, or far more, than the requested share was drawn."""
    total, largest = placed.total(), max(groups.pairs.values(), default=0)
    return [
        Fault.of(corpus.name, "draw", split=split, share=share, pairs=total, drawn=placed[split], largest=largest)
        for split, share in shares.items()
        if not _FEW * share * total <= placed[split] <= _MANY * share * total
    ]


class _Groups:
    """Sets of nodes that are joined by pairs (union-find); the first are sentences in the order of their ids."""

    def __init__(self, sentences: int) -> None:
        self._above = list(range(sentences))
        # root → the first sentence, which represents the group whatever the order of its pairs
        self.first: dict[int, int] = {}
        self.pairs: Counter[int] = Counter()  # root → its number of pairs
        self.split: dict[int, Split] = {}  # root → the split that the store has it in

    def add(self) -> int:
        """Add a node that is not a sentence."""
        self._above.append(len(self._above))
        return self._above[-1]

    def root(self, node: int) -> int:
        """Return the present root of the group of a node."""
        above = self._above
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    def splits_of(self, nodes: Nodes) -> set[Split]:
        """Return the splits in which the store has any of these sentences."""
        return {self.split[root] for root in map(self.root, nodes) if root in self.split}

    def place_stored(self, sentences: Nodes, split: Split) -> None:
        """Note the split of the sentences of a stored pair, unless one of them is also in another split there."""
        if self.splits_of(sentences) <= {split}:
            self.split |= dict.fromkeys(sentences, split)  # none is joined yet

    def join(self, nodes: Nodes) -> None:
        """Join the nodes of a pair and count the pair, unless that joins two splits of the store."""
        if len(self.splits_of(nodes)) < 2:
            self.pairs[self._merge(nodes)] += 1

    def _merge(self, nodes: Nodes) -> int:
        """Merge the groups of the nodes of a pair, and return the root."""
        root, *others = dict.fromkeys(map(self.root, nodes))
        firsts = [*nodes[:2], *(self.first.pop(node) for node in (root, *others) if node in self.first)]
        for other in others:
            self._above[other] = root
            if other in self.split:
                self.split[root] = self.split.pop(other)
            if other in self.pairs:
                self.pairs[root] += self.pairs.pop(other)
        self.first[root] = min(firsts)
        return root
