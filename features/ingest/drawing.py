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
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, NamedTuple

from features.core.types import SPLITS, SentenceId, Split
from features.corpora.rows import Outcome, PairRow, Skip, TextRow
from features.corpora.settings import CorpusSettings, DrawSettings
from features.ingest.known import Known
from features.ingest.report import DrawReport
from features.ingest.sentences import Sentences
from features.sentences import leakage_key, pair_id

Spellings = Literal["together", "apart"]
"""Whether the spellings of a text are drawn together, or each by its own hash, as if it were the only one."""

WRITTEN_MEANWHILE = "written while the corpus was read"
"""Why a row is left out until the next build: pairs are drawn once all are known."""

_FEW, _MANY = 0.5, 1.5
"""Multiples of the requested share beyond which a drawn split is reported."""


class Placing:
    """Puts every row of a corpus into the split of its file."""

    draws = False
    """Whether rows of one file may be put into several splits."""

    def __init__(self, corpus: CorpusSettings) -> None:
        self.corpus = corpus

    def place(self, row: Outcome) -> Outcome:
        """Return a row in its split."""
        return row

    def reports(self) -> list[DrawReport]:
        """Return the splits for which far too few or far too many of the placed rows were drawn."""
        return []


def placings(
    corpora: Sequence[CorpusSettings],
    rows: Callable[[CorpusSettings], Iterable[Outcome]],
    sentences: Sentences,
    known: Known,
    spellings: Spellings = "together",
) -> list[Placing]:
    """Return the objects that assign the rows of corpora to splits, one for each corpus.

    `rows` reads the rows of one, in the splits of their files; it is called if rows are drawn, all of which have to be
    known before the first is placed.
    """
    texts: dict[DrawSettings | str, _DrawnTexts] = {}
    of_corpus: dict[str, _DrawnTexts] = {}
    for corpus in corpora:
        if _draws_texts(corpus, known):
            # Without a `draw` now, a corpus is alone.
            common = (corpus.draw if spellings == "together" else None) or corpus.name
            of_corpus[corpus.name] = texts.setdefault(common, _DrawnTexts(sentences, known))
            of_corpus[corpus.name].add(corpus, rows(corpus) if spellings == "together" else ())
    return [_placing(corpus, rows, sentences, known, of_corpus.get(corpus.name)) for corpus in corpora]


def _draws_texts(corpus: CorpusSettings, known: Known) -> bool:
    """Return whether texts are drawn, or were and may be followed by new spellings."""
    if corpus.drawn_from is None or corpus.record.kind == "classes" or not corpus.record.has_texts:
        return False
    return corpus.draw is not None or not known.splits_of_texts(corpus.name).isdisjoint(corpus.without_files)


def _placing(
    corpus: CorpusSettings,
    rows: Callable[[CorpusSettings], Iterable[Outcome]],
    sentences: Sentences,
    known: Known,
    alike: "_DrawnTexts | None",
) -> Placing:
    """Return the object for one corpus; `alike` has the texts of all that are drawn as its own are, if they are."""
    source = corpus.drawn_from
    if source is None or corpus.record.kind == "classes":
        return Placing(corpus)
    if corpus.record.has_texts:
        return _Texts(corpus, source, sentences, known, alike or _DrawnTexts(sentences, known, corpus.name))
    if corpus.draw is None and known.splits_of_pairs(corpus.name).isdisjoint(corpus.without_files):
        return Placing(corpus)
    return _Pairs(corpus, source, rows(corpus), sentences, known)


class _Drawing(Placing):
    """Assigns rows in the files of one split, the source, to the splits without files."""

    draws = True

    def __init__(self, corpus: CorpusSettings, source: Split, sentences: Sentences, known: Known) -> None:
        super().__init__(corpus)
        self.source = source
        self.splits = (source, *corpus.without_files)
        self.sentences = sentences
        self.known = known


class _DrawnTexts:
    """Texts of the corpora that are drawn alike: which are spellings of one, and the splits the store has them in."""

    def __init__(self, sentences: Sentences, known: Known, *corpora: str) -> None:
        self._sentences = sentences
        self._known = known
        self._corpora = list(corpora)
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

    def spellings(self, text: str) -> list[SentenceId]:
        """Return the ids of all spellings of a text, sorted."""
        sentence = self._sentences.identify(text)[0]
        if not self._several:
            return [sentence]
        return sorted(self._several.get(self._sentences.shared_id(text), (sentence,)))

    def stored(self, sentences: Iterable[SentenceId]) -> set[Split]:
        """Return the splits that the store has any of some texts in, in any of the corpora."""
        splits = self._known.splits_of_text
        return {
            split for sentence in sentences for corpus in self._corpora for split in splits.get((corpus, sentence), ())
        }


class _Texts(_Drawing):
    """Assigns texts to splits, independently of each other but for the spellings of one.

    `alike` are the texts of all corpora that are drawn as this one, which is among them.
    """

    def __init__(
        self, corpus: CorpusSettings, source: Split, sentences: Sentences, known: Known, alike: _DrawnTexts
    ) -> None:
        super().__init__(corpus, source, sentences, known)
        self._alike = alike

    def place(self, row: Outcome) -> Outcome:
        if not isinstance(row, TextRow) or row.split != self.source:
            return row
        spellings = self._alike.spellings(row.text)
        draw = self.corpus.draw
        draws = [row.split if draw is None else draw.split_of(each) for each in spellings]
        here = self.known.splits_of_text.get((row.corpus, self.sentences.identify(row.text)[0]), ())
        stored = {*here} & {*self.splits} or self._alike.stored(spellings)
        split = next((split for split in self.splits if split in stored), draws[0])
        # Not kept against the settings if another spelling, perhaps the first that came, was drawn there.
        return row._replace(split=split, kept=split not in draws)


class _Pairs(_Drawing):
    """Assigns pairs to splits, keeping those together that share a sentence or a user-defined group.

    `rows` are all rows of the corpus.
    """

    def __init__(
        self, corpus: CorpusSettings, source: Split, rows: Iterable[Outcome], sentences: Sentences, known: Known
    ) -> None:
        super().__init__(corpus, source, sentences, known)
        self._shares = corpus.draw.shares if corpus.draw is not None else {}
        self._possible = {source, *self._shares, *(("train",) if self._shares else ())}
        self._groups = _Groups()
        self._placed: Counter[Split] = Counter()
        self._has_stored = False
        for a, b, split in known.split_pairs(corpus.name):
            if split in self.splits:
                self._groups.color(_Hanging(a, b), split)
        for row in rows:
            if isinstance(row, PairRow) and row.split == source:
                hanging = self._hanging(row)
                if hanging:
                    self._groups.join(hanging)
        self._total = self._groups.pairs.total()

    def place(self, row: Outcome) -> Outcome:
        if not isinstance(row, PairRow) or row.split != self.source:
            return row
        hanging = self._hanging(row)
        if not hanging:
            return row
        stored = self._stored(hanging)
        split = stored or self._drawn(row, hanging)
        if split is not None:
            self._has_stored |= stored is not None
            self._placed[split] += 1
            return row._replace(split=split, kept=split not in self._possible)
        colors = sorted(self._groups.colors(hanging), key=SPLITS.index)
        if len(colors) < 2:  # it was not in the file at the first reading; the next build takes it
            return Skip(row.split, WRITTEN_MEANWHILE, row.origin)
        first, second = colors[:2]
        why = f"the pair would join sentences of {first} and of {second}, and no sentence may be in two splits"
        return row._replace(joins=why)

    def _hanging(self, row: PairRow) -> "_Hanging | None":
        """Return what a pair joins; None if a sentence is too long: a reject joins nothing."""
        (a, text_a, too_long), (b, text_b, too_long_b) = map(self.sentences.identify, (row.text_a, row.text_b))
        if too_long or too_long_b:
            return None
        keys = [f"key {key}" for key in map(leakage_key, (text_a, text_b)) if key]
        return _Hanging(a, b, (*keys, f"group {row.group}") if row.group else tuple(keys))

    def _stored(self, pair: "_Hanging") -> Split | None:
        """Return the split that the store has a pair in."""
        ids, name = self.known.pair_ids, self.corpus.name
        return next(
            (split for split in self.splits if pair_id(name, split, "positive", pair.a, pair.b, 0) in ids), None
        )

    def _drawn(self, row: PairRow, hanging: "_Hanging") -> Split | None:
        """Return the split of a new pair; None for one that would join two splits, or that is unknown."""
        groups = self._groups
        root, *others = {groups.root(node) for node in hanging.nodes}
        if others or root not in groups.first:
            return None
        if root in groups.split:
            return groups.split[root]
        if self.corpus.draw is None:
            return row.split
        return self.corpus.draw.split_of(groups.first[root], groups.pairs[root] / self._total)

    def reports(self) -> list[DrawReport]:
        total = self._placed.total()
        report = partial(
            DrawReport,
            corpus=self.corpus.name,
            pairs=total,
            largest=max(self._groups.pairs.values(), default=0),
            stored=self._has_stored,
        )
        return [
            report(split=split, share=share, drawn=self._placed[split])
            for split, share in self._shares.items()
            if not _FEW * share * total <= self._placed[split] <= _MANY * share * total
        ]


class _Hanging(NamedTuple):
    """What a pair joins: its sentences, and further their leakage keys, and their image, topic or document."""

    a: SentenceId
    b: SentenceId
    further: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        return (self.a, self.b, *self.further)


class _Groups:
    """Sets of sentences that are joined by pairs (union-find).

    Attributes:
        first: root → the sentence with the smallest id, which represents the group whatever the order of its pairs.
        pairs: root → its number of pairs.
        split: root → the split that the store has it in.
    """

    def __init__(self) -> None:
        self._above: dict[str, str] = {}
        self.first: dict[str, SentenceId] = {}
        self.pairs: Counter[str] = Counter()
        self.split: dict[str, Split] = {}

    def root(self, node: str) -> str:
        """Return the present root of the group of a node."""
        above = self._above
        while above.setdefault(node, node) != node:
            above[node] = node = above[above[node]]
        return node

    def colors(self, hanging: _Hanging) -> set[Split]:
        """Return the splits in which the store has any of these sentences."""
        return {self.split[root] for root in map(self.root, hanging.nodes) if root in self.split}

    def color(self, stored: _Hanging, split: Split) -> None:
        """Join the sentences of a stored pair, unless one of them is also in another split of the store."""
        if self.colors(stored) <= {split}:
            self.split[self._united(stored)] = split

    def join(self, hanging: _Hanging) -> None:
        """Join the sentences of a pair and count the pair, unless that joins two splits of the store."""
        if len(self.colors(hanging)) < 2:
            self.pairs[self._united(hanging)] += 1

    def _united(self, hanging: _Hanging) -> str:
        """Merge the groups of what a pair joins, and return the root."""
        root, *others = dict.fromkeys(map(self.root, hanging.nodes))
        firsts = [hanging.a, hanging.b, *(self.first.pop(node) for node in (root, *others) if node in self.first)]
        for other in others:
            self._above[other] = root
            if other in self.split:
                self.split[root] = self.split.pop(other)
            if other in self.pairs:
                self.pairs[root] += self.pairs.pop(other)
        self.first[root] = min(firsts)
        return root
