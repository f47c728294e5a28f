"""Predicate-argument spans, as tensors next to the word pieces of sentences.

    text          He      slices    tomatoes
    frame         ARG0    V         ARG1
    spans         He      slices                    1: ARG0 with its predicate
                          slices    tomatoes        2: ARG1 with its predicate
    pieces  [CLS] he      slices    tom ##atoes [SEP]
    numbers       1       1 2       2   2           span and place of each piece of each span,
    places        1       2 2       3   4           once for each span that it is in

Peng et al. 2022, section 3: each argument with its predicate is a span, without the words between the two. An argument
and its continuation (`C-ARG1`) are one argument. A predicate without arguments is not a span, since the paper has pairs
of both: auxiliaries would be spans of one word. A piece belongs to every word that it shares a character with; a
truncated piece belongs to none, and a span without pieces is dropped.

All are batch first, int64, and 0 is padding.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from features.core.errors import RowError
from features.core.faults import OtherText
from features.parsers.settings import Precision, PredicatesBy, SrlSettings
from features.parsers.srl.frames import PREDICATE, SPAN_COLUMNS
from features.parsers.srl.parser import SrlParser, load
from training.modules.parse import LabelNumbers, Parse, Pieces, differs, places_of_words, random_of, require_same
from training.modules.structure import Structure
from training.types import Drawn, Harm

NUMBERS, SPAN_PLACES, ROLES = "span_numbers", "span_places", "span_roles"
"""Keys of the tensors next to `input_ids`: the first two (n_sentences, n_members), roles (n_sentences, n_spans)."""
_CONTINUES = "C-"


class Span(NamedTuple):
    """An argument with its predicate."""

    role: str  # of the argument
    predicate: tuple[int, ...]  # words of the predicate, ascending
    argument: tuple[int, ...]  # words of the argument, ascending

    @property
    def words(self) -> tuple[int, ...]:
        """The words of both, ascending."""
        return tuple(sorted({*self.predicate, *self.argument}))


def spans_of(parse: Parse) -> list[Span]:
    """Return the spans of a sentence, a row of the table `srl`, frame by frame, in the order of their arguments.

    >>> row = {"predicates": [1], "span_frames": [0, 0, 0], "span_labels": ["ARG0", "V", "ARG1"]}
    >>> [span.words for span in spans_of(row | {"span_starts": [0, 1, 2], "span_ends": [1, 2, 3]})]
    [(0, 1), (1, 2)]
    """
    frames: list[dict[int, tuple[str, list[int]]]] = [{} for _ in parse["predicates"]]
    verbs: list[list[int]] = [[] for _ in frames]
    columns = (parse[name] for name in SPAN_COLUMNS)
    for number, label, start, end in zip(*columns, strict=True):
        of_frame, role = frames[number], label.removeprefix(_CONTINUES)
        if role == PREDICATE:
            verbs[number] += range(start, end)
            continue
        begun = [words for other, words in of_frame.values() if other == role] if role != label else []
        if begun:
            begun[-1].extend(range(start, end))
        else:
            of_frame[len(of_frame)] = role, list(range(start, end))
    return [
        Span(role, tuple(sorted(verb or [predicate])), tuple(sorted(words)))
        for of_frame, verb, predicate in zip(frames, verbs, parse["predicates"], strict=True)
        for role, words in of_frame.values()
    ]


def _draw(count: int, total: int, drawn: Drawn, random: np.random.Generator) -> tuple[int, ...]:
    if drawn == "random":
        return tuple(sorted(random.choice(total, size=count, replace=False).tolist()))
    start = int(random.integers(total - count + 1))
    return tuple(range(start, start + count))


def word_starts(text: str, words: Sequence[str]) -> list[int]:
    """Return the start of each word in its text, searching from the end of the previous word."""
    starts, end = [], 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            raise OtherText(
                f"the frames of the sentence {text[:60]!r} have the word {word!r}, which is not found there: they are "
                "of another text, or of another version of it; tag the sentences again."
            )
        starts.append(start)
        end = start + len(word)
    return starts


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    return pad_sequence([torch.tensor(row, dtype=torch.int64) for row in rows], batch_first=True)


class Spans(Structure):
    """The predicate-argument spans of sentences: those of the tagger, or substitutes to compare them with.

    Tagger, predicates, precision and tags are as under [srl]. The digest is that of the tagger of its training frames
    (`weights_of`), and roles that did not occur in these share one number. Another tagger has to be allowed; that is
    not saved.

    If `drawn` is `random`, a sentence has equally many spans with as many words each, from anywhere in it;
    `continuous` ones are runs of words. The share `harmed` of the spans, in [0, 1], is corrupted, and a larger one
    includes a smaller one: they are `dropped`, or the argument is `moved` to a random place. Draws depend only on words
    and seed: a sentence has the same spans in training and whenever it is encoded.
    """

    what = "spans"
    parsed_by = ("tagger", "tagger_weights", "predicates", "precision", "tags", "other_tagger")
    columns = ((NUMBERS, SPAN_PLACES), (ROLES,))

    def __init__(
        self,
        *,
        tagger: str,
        tagger_weights: str,
        roles: Sequence[str],
        predicates: PredicatesBy = "tagger",
        precision: Precision = "auto",
        tags: str = "en_core_web_md",
        max_words: int = 512,
        drawn: Drawn = "tagged",
        harmed: float = 0.0,
        harm: Harm = "dropped",
        seed: int = 0,
    ) -> None:
        super().__init__(max_words)
        self.tagger, self.tagger_weights, self.other_tagger = tagger, tagger_weights, False
        self.roles = list(roles)
        self.predicates, self.precision, self.tags = predicates, precision, tags
        self.drawn, self.harmed, self.harm, self.seed = drawn, harmed, harm, seed
        self._numbers = LabelNumbers(roles)

    def parse_texts(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the frames of texts, as rows of the table `srl`; None for one that is too long for the tagger."""
        parses = self._load_tagger().parse(texts)
        return [None if isinstance(parse, RowError) else parse.columns for parse in parses]

    def tensors(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the spans of a batch as tensors; a sentence without frames has none. Errors are as in `seen`."""
        every = [self.seen(*sentence) for sentence in zip(texts, parses, pieces, strict=True)]
        numbers = [[n for n, (_, positions) in enumerate(spans, start=1) for _ in positions] for spans in every]
        return {
            NUMBERS: _padded(numbers),
            SPAN_PLACES: _padded([[place for _, positions in spans for place in positions] for spans in every]),
            ROLES: _padded([[self._numbers.number(span.role) for span, _ in spans] for spans in every]),
        }

    def seen(self, text: str, parse: Parse | None, pieces: Pieces) -> list[tuple[Span, tuple[int, ...]]]:
        """Return the spans of a normalised sentence that have a piece, each with the places of its pieces, ascending.

        They are in the order of `span_weights`. A sentence that the tagger rejects has no spans.
        """
        if parse is None or not (spans := self.chosen(parse)):
            return []
        words = zip(parse["words"], word_starts(text, parse["words"]), strict=True)
        of_word = places_of_words(pieces, ((start, start + len(word)) for word, start in words))
        seen = []
        for span in spans:
            positions = sorted({place for word in span.words for place in of_word[word]})
            if positions:
                seen.append((span, tuple(positions)))
        return seen

    def chosen(self, parse: Parse) -> list[Span]:
        """Return the spans of a parsed sentence, corrupted and drawn as the encoder sees them."""
        spans, words = spans_of(parse), parse["words"]
        if self.harmed:
            spans = self._spoilt(spans, words)
        if self.drawn == "tagged":
            return spans
        random = random_of(words, self.seed)
        return [Span(span.role, (), _draw(len(span.words), len(words), self.drawn, random)) for span in spans]

    def _spoilt(self, spans: Sequence[Span], words: Sequence[str]) -> list[Span]:
        hits = random_of(words, self.seed, 1).random(len(spans)) < self.harmed
        if self.harm == "dropped":
            return [span for span, hit in zip(spans, hits, strict=True) if not hit]
        random = random_of(words, self.seed, 2)
        moved = [_draw(len(span.argument), len(words), "continuous", random) for span in spans]
        return [
            span._replace(argument=other) if hit else span for span, other, hit in zip(spans, moved, hits, strict=True)
        ]

    def _load_tagger(self) -> SrlParser:
        given = {name: getattr(self, name) for name in ("predicates", "precision", "tags", "max_words")}
        settings = SrlSettings(model=self.tagger, device=self.device, **given)
        if not self.other_tagger:
            require_same("frames", differs(self.tagger, self.tagger_weights, self.tagger, settings), "other_tagger")
        return load(settings)
