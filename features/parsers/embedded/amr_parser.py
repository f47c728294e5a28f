"""The embedded parser for the stage `amr`: a graph or a reject for each sentence, never an exception."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from features import models
from features.core.rows import OnRows, ignore_rows
from features.core.types import RejectCode
from features.models import digest
from features.parsers.embedded.storage import DESCRIPTION_FILE, WEIGHTS_FILE, read_base
from features.parsers.embedded.words import is_readable
from features.parsers.settings import AmrSettings
from features.stage_output import Reject

if TYPE_CHECKING:
    from features.parsers.embedded.parser import EmbeddedParser

ALGORITHM_VERSION = "2"
"""Incremented when a code change changes a graph or a reject. 2: `unknown_words`."""

BUILT_IN = "embedded"
"""The name of the embedded model in settings."""


class EmbeddedAmrParser:
    """The embedded parser, as an `AmrParser`.

    Args:
        parser: the loaded model.
        max_words: longer sentences are rejected before they get here.
    """

    def __init__(self, parser: "EmbeddedParser", max_words: int) -> None:
        self._parser = parser
        self.name = f"embedded/{parser.description.name}"
        self.max_words = max_words

    def parse(
        self, sentence_ids: Sequence[str], texts: Sequence[str], on_rows: OnRows = ignore_rows
    ) -> list[str | Reject]:
        """Return for each sentence its graph, or a reject.

        An empty sentence is rejected as `empty_sentence`, one in another script or of punctuation only as
        `unknown_words` (all of them would get the same graph, and measure as equal), one that the encoder would have to
        truncate as `sentence_too_long`, and one on which the parser fails as `parser_failed`.
        """
        rejects = [self._reject(identity, text) for identity, text in zip(sentence_ids, texts, strict=True)]
        accepted = [position for position, reject in enumerate(rejects) if reject is None]
        graphs = iter(self._graphs([sentence_ids[i] for i in accepted], [texts[i] for i in accepted], on_rows))
        return [next(graphs) if reject is None else reject for reject in rejects]

    def shard_digest(self, sentence_ids: Sequence[str]) -> str:
        """Return the empty string: text and recipe determine the graphs."""
        return ""

    def _reject(self, identity: str, text: str) -> Reject | None:
        if not text.strip():
            return Reject(identity, RejectCode.EMPTY_SENTENCE, "the sentence has no visible character")
        if not is_readable(text):
            message = f"the parser {self.name!r} reads English, but {text[:60]!r} has no Latin letter and no number"
            return Reject(identity, RejectCode.UNKNOWN_WORDS, message)
        if not self._parser.fits(text):
            message = f"the parser {self.name!r} would cut {text[:60]!r}..."
            return Reject(identity, RejectCode.SENTENCE_TOO_LONG, message)
        return None

    def _graphs(
        self, sentence_ids: Sequence[str], texts: Sequence[str], on_rows: OnRows = ignore_rows
    ) -> list[str | Reject]:
        """Parse; after an exception, parse each sentence by itself, so that only the culprit is lost."""
        try:
            return [*self._parser.parse(texts, on_rows)]
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            if len(texts) > 1:
                pairs = zip(sentence_ids, texts, strict=True)
                return [graph for identity, text in pairs for graph in self._graphs([identity], [text])]
            message = f"the parser {self.name!r} failed on {texts[0][:60]!r}: {error!r}"
            return [Reject(sentence_ids[0], RejectCode.PARSER_FAILED, message)]


def model_folder(model: str) -> Path:
    """Return the folder of a model: the embedded one, or one made by training.

    Raises:
        ModelError: there is no such folder.
    """
    if model != BUILT_IN:
        return models.locate(model)
    return Path(__file__).with_name("model")


def is_embedded(model: str) -> bool:
    """Return whether a name or folder is that of an embedded parser, not of another kind."""
    return model == BUILT_IN or (Path(model) / DESCRIPTION_FILE).is_file()


def weights_digest(model: str) -> str:
    """Return the hash of all files that graphs depend on: those of the model and of its base encoder.

    Raises:
        ModelError: model or base encoder is missing.
    """
    folder = model_folder(model)
    own = [digest(folder / name) for name in (DESCRIPTION_FILE, WEIGHTS_FILE)]
    return "+".join([*own, digest(models.locate(read_base(folder)))])


def load_embedded(settings: AmrSettings) -> EmbeddedAmrParser:
    """Load the embedded parser.

    Args:
        settings: model, device, precision, batch size, threads.

    Raises:
        ModelError: model or base encoder is missing or damaged.
        SettingsError: the device is not available.
    """
    from features.parsers.embedded.loading import load_parser  # compiles; a plan only needs the digest

    parser = load_parser(
        model_folder(settings.model),
        device=settings.device,
        precision=settings.precision,
        batch_size=settings.batch_size,
        threads=settings.threads,
    )
    return EmbeddedAmrParser(parser, settings.max_words)
