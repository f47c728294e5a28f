"""Which split a row is in: that of its file, or one that is drawn, unless the store has it already.

    text ── its hash ───────────────────────────────> split

    pair ── its group: what hangs ──┬── stored? ────> the split that it has there
            together by sentences   ├── too large? ─> train
                                    └── its hash ───> split

What the store holds stays as it is, whatever `draw` says by now. A pair that would join two groups which the store has
in different splits is in none: it is left out.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from features.corpora.rows import Outcome, PairRow, TextRow
from features.corpora.settings import CorpusSettings
from features.ingest.known import Known
from features.ingest.report import DrawReport
from features.ingest.sentences import Sentences
from features.sentences import pair_id
from features.types import SPLITS, SentenceId, Split


class Placing:
    """Puts every row of a corpus into the split of its file.

    Args:
        corpus: that the rows are of.
    """

    draws = False
    """Whether rows of one file may be put into several splits."""

    def __init__(self, corpus: CorpusSettings) -> None:
        self.corpus = corpus

    def place(self, row: Outcome) -> Outcome:
        """Return a row in its split."""
        return row

    def reports(self) -> list[DrawReport]:
        """Return by which splits too little was drawn, of the rows that were placed."""
        return []


def placing(
    corpus: CorpusSettings, rows: Callable[[], Iterable[Outcome]], sentences: Sentences, known: Known
) -> Placing:
    """Return what puts the rows of a corpus into their splits.

    Args:
        corpus: what it is.
        rows: reads its rows, in the splits of their files; it is called where pairs are drawn, which have to be known
            all before the first is placed.
        sentences: knows the ids of texts.
        known: what is stored.
    """
    source = corpus.drawn_from
    if source is None or corpus.record.kind == "classes":
        return Placing(corpus)
    if corpus.record.has_texts:
        return _Texts(corpus, source, sentences, known)
    if corpus.draw is None and known.splits_of_pairs(corpus.name).isdisjoint(corpus.without_files):
        return Placing(corpus)
    return _Pairs(corpus, source, rows(), sentences, known)


class _Drawing(Placing):
    """Puts rows of the files of one split into those without files.

    Args:
        corpus: that the rows are of.
        source: the split of the files.
        sentences: knows the ids of texts.
        known: what is stored.
    """

    draws = True

    def __init__(self, corpus: CorpusSettings, source: Split, sentences: Sentences, known: Known) -> None:
        super().__init__(corpus)
        self.source = source
        self.splits = (source, *corpus.without_files)
        self.sentences = sentences
        self.known = known


class _Texts(_Drawing):
    """Puts texts into splits, each for itself."""

    def place(self, row: Outcome) -> Outcome:
        if not isinstance(row, TextRow) or row.split != self.source:
            return row
        sentence = self.sentences.identify(row.text)[0]
        drawn = row.split if self.corpus.draw is None else self.corpus.draw.split_of(sentence)
        has = self.known.splits_of_text.get((row.corpus, sentence), ())
        stored = next((split for split in self.splits if split in has), drawn)
        return row._replace(split=stored, kept=stored != drawn)


class _Pairs(_Drawing):
    """Puts pairs into splits, those together that share a sentence or a group of the user's.

    Args:
        corpus: that the pairs are of.
        source: the split of the files.
        rows: all rows of the corpus.
        sentences: knows the ids of texts.
        known: what is stored.
    """

    def __init__(
        self, corpus: CorpusSettings, source: Split, rows: Iterable[Outcome], sentences: Sentences, known: Known
    ) -> None:
        super().__init__(corpus, source, sentences, known)
        shares = corpus.draw.shares if corpus.draw is not None else {}
        self._possible = {source, *shares, *(("train",) if shares else ())}
        self._groups = _Groups()
        self._placed: Counter[Split] = Counter()
        for a, b, split in known.split_pairs(corpus.name):
            if split in self.splits:
                self._groups.color(_Nodes(a, b, a), split)
        for row in rows:
            if isinstance(row, PairRow) and row.split == source:
                nodes = self._nodes(row)
                if nodes:
                    self._groups.join(nodes)
        self._total = self._groups.pairs.total()

    def place(self, row: Outcome) -> Outcome:
        if not isinstance(row, PairRow) or row.split != self.source:
            return row
        nodes = self._nodes(row)
        if not nodes:
            return row
        split = self._stored(nodes) or self._drawn(row, nodes)
        if split is None:
            first, second = sorted(self._groups.colors(nodes), key=SPLITS.index)[:2]
            why = f"the pair would join sentences of {first} and of {second}, and no sentence may be in two splits"
            return row._replace(joins=why)
        self._placed[split] += 1
        return row._replace(split=split, kept=split not in self._possible)

    def _nodes(self, row: PairRow) -> "_Nodes | None":
        """Return what hangs together by a pair: its sentences, and its image, topic or document.

        A pair with too long a sentence is a reject and joins nothing: None.
        """
        (a, _, too_long), (b, _, too_long_b) = self.sentences.identify(row.text_a), self.sentences.identify(row.text_b)
        return None if too_long or too_long_b else _Nodes(a, b, f"group {row.group}" if row.group else a)

    def _stored(self, nodes: "_Nodes") -> Split | None:
        """Return the split that the store has a pair in."""
        ids, name = self.known.pair_ids, self.corpus.name
        return next(
            (split for split in self.splits if pair_id(name, split, "positive", nodes.a, nodes.b, 0) in ids), None
        )

    def _drawn(self, row: PairRow, nodes: "_Nodes") -> Split | None:
        """Return the split of a new pair; None for one that would join two."""
        groups = self._groups
        roots = {groups.root(node) for node in nodes}
        if len(roots) > 1:
            return None
        (root,) = roots
        if root in groups.split:
            return groups.split[root]
        if self.corpus.draw is None:
            return row.split
        return self.corpus.draw.split_of(groups.first[root], groups.pairs[root] / self._total)

    def reports(self) -> list[DrawReport]:
        total = self._placed.total()
        shares = self.corpus.draw.shares if self.corpus.draw is not None else {}
        largest = max(self._groups.pairs.values(), default=0)
        return [
            DrawReport(
                corpus=self.corpus.name,
                split=split,
                share=share,
                pairs=total,
                drawn=self._placed[split],
                largest=largest,
            )
            for split, share in shares.items()
            if 2 * self._placed[split] < share * total
        ]


class _Nodes(NamedTuple):
    """What hangs together by a pair.

    Args:
        a: sentence a.
        b: sentence b.
        group: their image, topic or document; sentence a again where there is none.
    """

    a: SentenceId
    b: SentenceId
    group: str


class _Groups:
    """Sets of sentences that pairs hang together by (union-find).

    Attributes:
        first: root → the sentence with the smallest id, which stands for the group whatever the order of its pairs.
        pairs: root → how many pairs it has.
        split: root → the split that the store has it in.
    """

    def __init__(self) -> None:
        self._above: dict[str, str] = {}
        self.first: dict[str, SentenceId] = {}
        self.pairs: Counter[str] = Counter()
        self.split: dict[str, Split] = {}

    def root(self, node: str) -> str:
        """Return what stands for the group of a node now."""
        above = self._above
        while above.setdefault(node, node) != node:
            above[node] = node = above[above[node]]
        return node

    def colors(self, nodes: Iterable[str]) -> set[Split]:
        """Return the splits that the store has some nodes in."""
        return {self.split[root] for root in map(self.root, nodes) if root in self.split}

    def color(self, nodes: _Nodes, split: Split) -> None:
        """Join the sentences of a stored pair, unless another split of the store has one of them too."""
        if self.colors(nodes) <= {split}:
            self.split[self._united(nodes)] = split

    def join(self, nodes: _Nodes) -> None:
        """Join what a pair hangs together and count the pair, unless that joins two splits of the store."""
        if len(self.colors(nodes)) < 2:
            self.pairs[self._united(nodes)] += 1

    def _united(self, nodes: _Nodes) -> str:
        """Make one group of those of some nodes, and return its root."""
        root, *others = dict.fromkeys(map(self.root, nodes))
        firsts = [nodes.a, nodes.b, *(self.first.pop(node) for node in (root, *others) if node in self.first)]
        for other in others:
            self._above[other] = root
            if other in self.split:
                self.split[root] = self.split.pop(other)
            if other in self.pairs:
                self.pairs[root] += self.pairs.pop(other)
        self.first[root] = min(firsts)
        return root
