"""AMR graphs for sentences: the interface, and the choice between a user's graphs and a model.

    text ──> AmrParser.parse ──> PENMAN, or an error with the reason

| backend | graphs come from | rejects |
|---|---|---|
| `penman` | the user's files, by their `::snt` (`features.parsers.bank`) | `no_graph`, or what is wrong with a block |
| `embedded` | the parser in the package (`features.parsers.embedded`) | `unknown_words`, as below |
| `amrlib` | any installed amrlib parser (`features.parsers.amrlib_parser`) | `parser_failed`, `sentence_too_long` |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from features.core.errors import RowError
from features.core.faults import GraphIndexWrong
from features.core.types import OnRows, RejectCode, ignore_rows
from features.models import digest, locate, stamp
from features.parsers.amrlib_parser import AmrlibParser, load_amrlib
from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.embedded.storage import DESCRIPTION_FILE, WEIGHTS_FILE, Base, read_description
from features.parsers.embedded.words import is_readable
from features.parsers.settings import AmrSettings

if TYPE_CHECKING:
    from features.parsers.bank import BankParser

    AmrParser: TypeAlias = BankParser | AmrlibParser | "EmbeddedAmrParser"

ALGORITHM_VERSION = "2"
"""Of the embedded parser; incremented when a code change changes a graph or a reject. 2: `unknown_words`."""
EMBEDDED = "embedded"  # the name of the embedded model in settings


def load(settings: AmrSettings) -> "AmrParser":
    """Load the parser that the settings name; once per process, as long as settings and files stay the same."""
    match settings.backend:
        case "embedded":
            folder = model_folder(settings.model)
            files = [folder, locate(_base_of(folder, stamp(folder)))]
        case "amrlib":
            files = [locate(name) for name in (settings.model, settings.tokenizer) if name is not None]
        case "penman":
            if settings.bank is None:
                graphs = [str(file) for file in settings.graphs]
                raise GraphIndexWrong(
                    f"The AMR backend 'penman' has no index of the graph files {graphs!r}; make one with"
                    " features.parsers.bank.build_bank and give it as `bank`."
                )
            files = [settings.bank]
    return _load(settings, files[0], tuple(map(stamp, files)))


@lru_cache(maxsize=2)
def _base_of(folder: Path, _stamp: object) -> str:
    return read_description(folder, Base).base


@lru_cache(maxsize=2)
def _load(settings: AmrSettings, path: Path, _stamp: object) -> "AmrParser":
    if settings.backend == "penman":
        from features.parsers.bank import BankParser

        return BankParser(path, max_words=settings.max_words)
    if settings.backend == "amrlib":
        return load_amrlib(settings)
    return EmbeddedAmrParser(load_parser(path, settings), settings.max_words)


@dataclass(frozen=True, slots=True)
class EmbeddedAmrParser:
    """The parser in the package, as an `AmrParser`: a graph or an error for each sentence; it raises none."""

    parser: EmbeddedParser
    max_words: int

    @property
    def name(self) -> str:
        """The value of the column `parser`."""
        return f"embedded/{self.parser.description.name}"

    def parse(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> list[str | RowError]:
        """Return for each sentence its graph, or why it has none.

        An empty sentence is rejected as `empty_sentence`, one in another script or of punctuation only as
        `unknown_words` (all of them would get the same graph, and measure as equal), one that the encoder would have to
        truncate as `sentence_too_long`, and one on which the parser fails as `parser_failed`.
        """
        errors = [self._error(text) for text in texts]
        readable = [text for text, error in zip(texts, errors, strict=True) if error is None]
        graphs = iter(self._graphs(readable, on_rows))
        return [next(graphs) if error is None else error for error in errors]

    def _error(self, text: str) -> RowError | None:
        if not text.strip():
            return RowError(RejectCode.EMPTY_SENTENCE, "the sentence has no visible character")
        if not is_readable(text):
            message = f"the parser {self.name!r} reads English, but {text[:60]!r} has no Latin letter and no number"
            return RowError(RejectCode.UNKNOWN_WORDS, message)
        if not self.parser.fits(text):
            return RowError(RejectCode.SENTENCE_TOO_LONG, f"the parser {self.name!r} would cut {text[:60]!r}...")
        return None

    def _graphs(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> list[str | RowError]:
        """Parse; after an exception, parse each sentence by itself, so that only the culprit is lost."""
        try:
            return [*self.parser.parse(texts, on_rows)]
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            if len(texts) > 1:
                return [graph for text in texts for graph in self._graphs([text])]
            message = f"the parser {self.name!r} failed on {texts[0][:60]!r}: {error!r}"
            return [RowError(RejectCode.PARSER_FAILED, message)]


def model_folder(model: str) -> Path:
    """Return the folder of a model: the embedded one, or one made by training; a ModelError if there is none."""
    if model != EMBEDDED:
        return locate(model)
    return Path(__file__).parent / "embedded" / "model"


def is_embedded(model: str) -> bool:
    """Return whether a name or folder is that of an embedded parser, not of another kind."""
    return model == EMBEDDED or (Path(model).expanduser() / DESCRIPTION_FILE).is_file()


def weights_digest(model: str) -> str:
    """Return the hash of all files that graphs depend on: those of the model and of its base encoder."""
    folder = model_folder(model)
    base = read_description(folder, Base).base  # which says what is wrong with a folder of another model
    return "+".join([*(digest(folder / name) for name in (DESCRIPTION_FILE, WEIGHTS_FILE)), digest(locate(base))])
