"""What an encoder's classifier says of pairs of sentences: the label of each, and the probability of every label.

pairs ──> each sentence embedded once ──> PairClassifier: softmax(W [parts of u and v] + b) ──> labels, probabilities
                                                 └── (v, u) as well, where the order may matter
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from features.errors import ModelError
from features.rows import OnRows, ignore_rows
from training.evaluation.promotion import current_runs
from training.explained_spans import ExplainedSentence
from training.kinds import KINDS, learns_labels
from training.runs import ENCODER, TRAINING_FILE, all_runs, encoder_name, is_finished, newest
from training.search.choosing import named_encoder
from training.span_weights import explain_sentences, require_spans, tell_spans
from training.writing import read_json

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_ANY = "A cat sleeps."
"""What an encoder that parses is given first."""
_AT_ONCE = 256
"""Sentences between two looks at the progress: so many that sentences of like length meet in a batch."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a classifier says of two sentences.

    Args:
        sentence_a: as given, with single blanks.
        sentence_b: likewise.
        label: the one of the highest probability.
        probabilities: label → its probability; their sum is 1.
        spans: what the embeddings of both look at, in an encoder that weighs spans; None where it was not asked for.
    """

    sentence_a: str
    sentence_b: str
    label: str
    probabilities: Mapping[str, float]
    spans: tuple[ExplainedSentence, ExplainedSentence] | None = None


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a classifier says of pairs.

    Args:
        labels: that it tells apart.
        probabilities: of each label, (n_pairs, n_labels), rows of sum 1.
        swapped: the same of the pairs with their sentences swapped; None where the order cannot matter.
        seconds: that it took.
        parsing_seconds: of these for parsing the sentences; None for an encoder that parses none.
        calibrated_by: dev pairs that the probabilities were put right by; None where nothing did.
    """

    labels: tuple[str, ...]
    probabilities: NDArray[np.float64]
    swapped: NDArray[np.float64] | None
    seconds: float
    parsing_seconds: float | None
    calibrated_by: int | None = None

    @property
    def best(self) -> NDArray[np.int64]:
        """Number of each pair's label, (n_pairs,); of equally probable ones the first."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @property
    def predicted(self) -> list[str]:
        """Label of each pair, (n_pairs,)."""
        return [self.labels[number] for number in self.best]

    @property
    def changed(self) -> int | None:
        """How many pairs have another label with their sentences swapped; None where the order cannot matter."""
        return None if self.swapped is None else int((self.swapped.argmax(axis=1) != self.best).sum())

    def each(self, pairs: Sequence[tuple[str, str]]) -> list[Prediction]:
        """Return what is said of each of the pairs.

        Args:
            pairs: those that were asked, in their order.
        """
        return [
            Prediction(a, b, label, dict(zip(self.labels, row, strict=True)))
            for (a, b), label, row in zip(pairs, self.predicted, self.probabilities.tolist(), strict=True)
        ]


def choose_predictor(runs: Path | None, name: str | None = None) -> Path:
    """Return the folder of the encoder that predicts.

    Args:
        runs: folder of a project's runs; None where there is no project.
        name: of an encoder or a run of the project, of a pulled model, or a folder; None takes the current run that has
            a classifier, if one alone has, else the one with a classifier that was finished last.

    Raises:
        ModelError: when there is none, or the one that is named has no classifier.
    """
    if name is not None:
        folder = named_encoder(runs, name)
        require_classifier(folder)
        return folder
    if runs is None:
        raise ModelError("There is no project here whose encoder could predict: name one with --encoder, or --project.")
    current = [run for run in current_runs(runs).values() if has_classifier(run / ENCODER)]
    if len(current) == 1:
        return current[0] / ENCODER
    finished = [run for run in all_runs(runs) if is_finished(run)]
    known = [run for run in finished if has_classifier(run / ENCODER)]
    if not known:
        names = ", ".join(sorted({encoder_name(run) for run in finished}))
        lacking = (
            f"no encoder in {str(runs)!r} has a classifier ({names})" if names else f"{str(runs)!r} has no encoder"
        )
        raise ModelError(f"Nothing here predicts labels: {lacking}. {_advice()}.")
    return newest(known) / ENCODER


def has_classifier(folder: Path) -> bool:
    """Return whether an encoder has a classifier, or had one when its training ended."""
    from training.modules.pair_classifier import PairClassifier

    if PairClassifier.is_in(folder):
        return True
    training = read_json(folder / TRAINING_FILE) if (folder / TRAINING_FILE).is_file() else {}
    return learns_labels(training.get("settings", {}))


def require_classifier(folder: Path) -> None:
    """Refuse an encoder without a classifier; whether one that it should have is whole shows when it is loaded.

    Raises:
        ModelError: it has none.
    """
    if not has_classifier(folder):
        raise ModelError(f"The encoder {str(folder)!r} has no classifier, so it tells no labels. {_advice()}.")


def _advice() -> str:
    kinds = [
        f"{name!r}{f' with {kind.classifies}' if kind.classifies else ''}"
        for name, kind in KINDS.items()
        if kind.classifies is not None
    ]
    return f"Train one that has, of kind {' or '.join(kinds)}, on pairs with labels; or name another encoder"


class PairPredictor:
    """An encoder with its classifier.

    Args:
        folder: of the encoder.
        model: the encoder, loaded.

    Raises:
        ModelError: it has no classifier, or one that is damaged or lacks a file.
    """

    def __init__(self, folder: Path, model: "SentenceTransformer") -> None:
        from training.modules.pair_classifier import PairClassifier

        require_classifier(folder)
        self._folder, self._model = folder, model
        self._classifier = PairClassifier.load(folder).to(model.device)
        if self._parsed() is not None:
            model.encode([_ANY], show_progress_bar=False)  # loads the parser: that is not counted as predicting

    def predict(self, pairs: Sequence[tuple[str, str]], on_rows: OnRows = ignore_rows) -> Predictions:
        """Return what the classifier says of pairs.

        Args:
            pairs: of sentences, none empty.
            on_rows: told how many sentences are embedded; equal ones are embedded once.

        Raises:
            ModelError: when the embeddings are not those that the classifier learnt from, or no finite numbers.
        """
        started, parsed = time.monotonic(), self._parsed()
        places = {text: place for place, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        vectors = self._embed(list(places), on_rows)
        left, right = (vectors[[places[pair[side]] for pair in pairs]] for side in (0, 1))
        classifier = self._classifier
        probabilities = classifier.probabilities(left, right)
        swapped = None if classifier.is_symmetric else classifier.probabilities(right, left)
        return Predictions(
            labels=classifier.labels,
            probabilities=probabilities,
            swapped=swapped,
            seconds=time.monotonic() - started,
            parsing_seconds=None if parsed is None else (self._parsed() or 0.0) - parsed,
            calibrated_by=classifier.calibration.pairs if classifier.calibration else None,
        )

    def require_spans(self) -> None:
        """Refuse an encoder that weighs no spans, before anything is predicted by it that is to be explained.

        Raises:
            ModelError: it weighs none.
        """
        require_spans(self._folder, self._model)

    @property
    def sees(self) -> str:
        """Which spans the encoder sees, in words; of one that weighs spans."""
        return tell_spans(self._model)

    def explain(self, predictions: Sequence[Prediction]) -> list[Prediction]:
        """Return predictions with what the embeddings of their sentences look at.

        Args:
            predictions: of this encoder.

        Raises:
            ModelError: the encoder weighs no spans.
        """
        self.require_spans()
        texts = list(dict.fromkeys(text for said in predictions for text in (said.sentence_a, said.sentence_b)))
        of = dict(zip(texts, explain_sentences(self._model, texts), strict=True))
        return [replace(said, spans=(of[said.sentence_a], of[said.sentence_b])) for said in predictions]

    def _parsed(self) -> float | None:
        """Return for how many seconds the encoder has parsed by now; None where it parses nothing."""
        from training.modules.structured_transformer import StructuredTransformer

        first = self._model[0]
        return first.parsing_seconds if isinstance(first, StructuredTransformer) else None

    def _embed(self, texts: Sequence[str], on_rows: OnRows) -> NDArray[np.float32]:
        parts = [np.empty((0, int(self._model.get_embedding_dimension() or 0)), np.float32)]
        on_rows(0, len(texts))
        for start in range(0, len(texts), _AT_ONCE):
            some = list(texts[start : start + _AT_ONCE])
            encoded = self._model.encode(some, batch_size=64, convert_to_numpy=True, show_progress_bar=False)
            parts.append(np.asarray(encoded, np.float32))
            on_rows(start + len(some), len(texts))
        vectors = np.concatenate(parts)
        if not np.isfinite(vectors).all():
            raise ModelError(
                f"the encoder {str(self._folder)!r} gives embeddings that are no finite numbers: it is damaged; delete "
                "the folder, then train it again"
            )
        return vectors
