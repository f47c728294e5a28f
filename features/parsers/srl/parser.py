"""Raw sentences to frames: the parser behind the stage `srl`.

text ── words ── predicates: by the tagger itself, else by part of speech ── frames, or an error with the reason
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from features.core.errors import RowError
from features.core.faults import ModelDamaged, ModelUnfit
from features.core.libraries import importing
from features.core.types import OnRows, RejectCode, ignore_rows
from features.models import locate, stamp
from features.parsers.dependencies import keeping_long_words, load_pipeline
from features.parsers.devices import batches_side_by_side, computes_in_bfloat16, hide_progress_bars, resolve_device
from features.parsers.settings import SrlSettings
from features.parsers.srl.archive import base_of, open_archive
from features.parsers.srl.frames import SrlParse
from features.parsers.srl.tagger import SrlTagger
from features.parsers.wordpieces import Wordpieces

if TYPE_CHECKING:
    from spacy.language import Language

EMBEDDED = "embedded"  # name of the embedded tagger

_EMBEDDED_FOLDER = Path(__file__).with_name("model")


class SrlParser:
    """A tagger of semantic roles for raw sentences."""

    def __init__(self, tagger: SrlTagger, settings: SrlSettings) -> None:
        self.tagger, self._settings = tagger, settings
        self.name, self.max_words = tagger_name(settings), settings.max_words

    def parse(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> list[SrlParse | RowError]:
        """Return for each sentence its frames, or why it has none; a sentence without a predicate has no frames.

        A sentence that BERT would have to truncate is rejected as `sentence_too_long`. Finding the predicates counts
        as a third of the work: BERT reads a sentence once for that, and once for each of them, two on average.
        """
        sentences = split_words(texts)
        fits = [self.tagger.n_pieces(words) <= self.tagger.longest for words in sentences]
        readable = [words for words, fit in zip(sentences, fits, strict=True) if fit]
        n, third = len(texts), len(texts) // 3
        on_rows(0, n)
        predicates = self.find_predicates(readable, lambda done, total: on_rows(third * done // total, n))
        rest = n - third
        frames = iter(
            self.tagger.tag(readable, predicates, lambda done, total: on_rows(third + rest * done // total, n))
        )
        return [
            SrlParse(tuple(words), next(frames)) if fit else self._too_long(words)
            for words, fit in zip(sentences, fits, strict=True)
        ]

    def find_predicates(self, sentences: Sequence[Sequence[str]], on_rows: OnRows = ignore_rows) -> list[list[int]]:
        """Return the positions of the predicates of sentences, each a list of words."""
        if self._settings.predicates == "tagger":
            return self.tagger.find_predicates(sentences, on_rows)
        return predicates_by_tag(sentences, self._settings.tags)

    def _too_long(self, words: Sequence[str]) -> RowError:
        pieces = self.tagger.n_pieces(words)
        message = f"the sentence has {pieces} word pieces, the tagger reads {self.tagger.longest}"
        return RowError(RejectCode.SENTENCE_TOO_LONG, message)


def tagger_name(settings: SrlSettings) -> str:
    """Return the value of the column `parser` for the frames of a tagger."""
    return f"srl_bert/{Path(settings.model).name.removesuffix('.tar.gz')}"


def locate_tagger(model: str) -> Path:
    """Return the folder or archive of a tagger: `embedded`, a known name, a folder, or a `.tar.gz`."""
    if model == EMBEDDED:
        return _EMBEDDED_FOLDER
    path = Path(model).expanduser()
    return path.resolve() if path.is_file() else locate(model)


def load(settings: SrlSettings) -> SrlParser:
    """Load a tagger; once per process, as long as settings and files stay the same."""
    path = locate_tagger(settings.model)
    base = base_of(path)
    return _load(settings, path, stamp(path) + (() if base is None else stamp(locate(base))))


@lru_cache(maxsize=2)
def _load(settings: SrlSettings, path: Path, _stamp: object) -> SrlParser:
    tagger = load_tagger(path, settings)
    if settings.predicates == "tagger" and not tagger.finds_predicates:
        raise ModelUnfit(
            f"The tagger {settings.model!r} was not trained to find predicates; choose one that was, or let spaCy find "
            'them: `parse srl --predicates spacy`, in a project file predicates = "spacy".'
        )
    return SrlParser(tagger, settings)


def load_tagger(path: Path, settings: SrlSettings) -> SrlTagger:
    """Build the tagger from an archive, a folder or a `.tar.gz`; the precision `auto` is that of the hardware."""
    with importing("Semantic roles need torch and transformers", "parsers"):
        import torch

        from features.parsers.onednn import use_onednn
        from features.parsers.srl.network import PREDICATE_LAYER, SrlBert, encoder_config

        hide_progress_bars()
    device = resolve_device(settings.device)
    with open_archive(path) as archive:
        try:
            network = SrlBert(
                encoder_config(archive.weights, archive.encoder),
                len(archive.labels),
                finds_predicates=f"{PREDICATE_LAYER}.weight" in archive.weights,
            )
            network.load_state_dict(dict(archive.weights))
        except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
            raise ModelDamaged(
                f"The weights of the tagger {str(path)!r} are not those of srl_bert with {len(archive.labels)} labels"
                f" ({' '.join(str(error).split())[:200]})."
            ) from error
        use_onednn(network)
        # Convert the whole network; autocast would convert the weights to bfloat16 again for each batch.
        bfloat16 = computes_in_bfloat16(settings.precision, device)
        return SrlTagger(
            network.eval().to(device, torch.bfloat16 if bfloat16 else torch.float32),
            Wordpieces.of_vocabulary(archive.vocabulary, lowercase=archive.lowercase),
            archive.labels,
            batch_pieces=settings.batch_pieces,
            threshold=archive.own.predicate_threshold,
            exact=archive.own.exact_decoding,
            threads=batches_side_by_side(settings.threads, device),
        )


_PREDICATES = ("VERB", "AUX")  # as in AllenNLP's predictor
_KEPT = ("tok2vec", "transformer", "tagger", "morphologizer", "attribute_ruler")


def split_words(texts: Iterable[str]) -> list[list[str]]:
    """Return the words of sentences by spaCy's rules for English, which agree with the Penn Treebank (`did n't`)."""
    make_document = _english().make_doc
    return [[token.text for token in make_document(text) if not token.is_space] for text in texts]


def predicates_by_tag(sentences: Sequence[Sequence[str]], model: str) -> list[list[int]]:
    """Return the positions of verbs and auxiliaries, by a spaCy pipeline that gives parts of speech.

    They are for taggers that cannot find predicates themselves, such as AllenNLP's.
    """
    from spacy.tokens import Doc

    folder = locate(model)
    pipeline = _pipeline(model, folder, stamp(folder))
    documents = (Doc(pipeline.vocab, words=list(words)) for words in sentences)
    return [[token.i for token in document if token.pos_ in _PREDICATES] for document in pipeline.pipe(documents)]


@cache
def _english() -> "Language":
    with importing("Semantic roles need spaCy", "parsers"):
        import spacy
    return keeping_long_words(spacy.blank("en"))


@lru_cache(maxsize=1)
def _pipeline(model: str, folder: Path, _stamp: object) -> "Language":
    return load_pipeline(model, folder, ("tagger", "morphologizer"), _KEPT)
