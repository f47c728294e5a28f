"""A transformer that adds predicate-argument spans to the word pieces of its sentences.

A sentence is given as text, which is tagged, or with its frames, `{"text": …, "parse": …}` (a row of the table `srl`).
Both go through `frame_tensors`, so that training from a store and encoding on the fly give the same embedding.
"""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from sentence_transformers.base.modules import Transformer
from torch import Tensor

from features.parsers.settings import Precision, PredicatesBy, SrlSettings
from features.stage_output import Reject
from training.modules.frames import NUMBERS, ROLES, SPAN_PLACES, Span, SpanChoice, frame_tensors, seen_spans
from training.modules.parse import LabelNumbers, Parse, Pieces, another_parser, weights_of
from training.modules.structured_transformer import StructuredTransformer
from training.types import Drawn, Harm

if TYPE_CHECKING:
    from features.parsers.srl.parser import SrlParser


class TaggingTransformer(StructuredTransformer):
    """A transformer whose `preprocess` returns spans as well; further arguments are those of `StructuredTransformer`.

    Tagger, predicates, precision and tags are as under [srl], the draws as in `SpanChoice`. The digest is that of the
    tagger of its training frames (`weights_of`), and roles that did not occur in these share one number. Another tagger
    has to be allowed; that is not saved.
    """

    what = "spans"
    columns = ((NUMBERS, SPAN_PLACES), (ROLES,))
    config_keys: list[str] = [  # noqa: RUF012 - as there
        *Transformer.config_keys,
        *("tagger", "tagger_weights", "roles", "predicates", "precision", "tags", "max_words"),
        *("drawn", "harmed", "harm", "seed", "words_below"),
    ]

    def __init__(
        self,
        model_name_or_path: str,
        *,
        tagger: str,
        tagger_weights: str,
        roles: Sequence[str],
        predicates: PredicatesBy = "tagger",
        precision: Precision = "auto",
        tags: str = "en_core_web_md",
        max_words: int = 512,
        words_below: int = 0,
        drawn: Drawn = "tagged",
        harmed: float = 0.0,
        harm: Harm = "dropped",
        seed: int = 0,
        other_tagger: bool = False,
        **further: Any,
    ) -> None:
        super().__init__(model_name_or_path, max_words=max_words, words_below=words_below, **further)
        self.tagger, self.tagger_weights, self.predicates = tagger, tagger_weights, predicates
        self.precision, self.tags = precision, tags
        self.roles, self.other_tagger = list(roles), other_tagger
        self.drawn, self.harmed, self.harm, self.seed = drawn, harmed, harm, seed
        self._numbers = LabelNumbers(roles)

    @property
    def made_by(self) -> Hashable:
        """The tagger, what finds its predicates, and its longest sentence."""
        tagger = (self.tagger, self.tagger_weights, self.precision, self.other_tagger)
        return *tagger, self.predicates, self.tags, self.max_words

    @property
    def choice(self) -> SpanChoice:
        """Which spans it sees."""
        return SpanChoice(self.drawn, self.harmed, self.harm, self.seed)

    def parse_texts(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the frames of texts, as rows of the table `srl`; None for one that is too long for the tagger."""
        parses = self._load_tagger().parse(texts, texts)
        return [None if isinstance(one, Reject) else one.columns for one in parses]

    def structure(
        self, texts: Sequence[str], parses: Sequence[Parse | None], pieces: Sequence[Pieces]
    ) -> dict[str, Tensor]:
        """Return the spans of a batch as tensors; a sentence without frames has none."""
        return frame_tensors(texts, parses, pieces, self._numbers, self.choice)

    def named_spans(self, inputs: Sequence[Any]) -> list[list[tuple[Span, list[str]]]]:
        """Return the spans of sentences, given as to `preprocess`, with their words, in the order of `span_weights`."""
        _, texts, parses, pieces = self.read(inputs)
        return [
            [(span, list(parse["words"])) for span, _ in seen_spans(text, parse, offsets, self.choice)] if parse else []
            for text, parse, offsets in zip(texts, parses, pieces, strict=True)
        ]

    def _load_tagger(self) -> "SrlParser":
        from features.parsers.srl.parser import load

        settings = SrlSettings(
            model=self.tagger,
            predicates=self.predicates,
            precision=self.precision,
            tags=self.tags,
            max_words=self.max_words,
        )
        digest = weights_of(settings)
        if digest != self.tagger_weights and not self.other_tagger:
            raise another_parser(
                f"frames of a tagger with the digest {self.tagger_weights[:16]!r}",
                f"the installed tagger {self.tagger!r} has {digest[:16]!r}",
                "other_tagger",
            )
        return load(settings)
