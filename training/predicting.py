"""Predictions of an encoder's classifier for pairs of sentences: the label of each, and the probability of every label.

pairs ──> each sentence embedded once ──> PairClassifier: softmax(W [parts of u and v] + b) ──> labels, probabilities
                                                 └── (v, u) as well, if the order may matter
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

from features.core.faults import CannotExplain, NoClassifier, NoEncoder, NoThreshold, WrongValue
from features.core.types import OnRows, ignore_rows
from features.core.wording import counted
from features.parsers.sentence_encoder import TextEncoder
from training.encoders.input_length import count_cut
from training.evaluation.promotion import encoder_in_use_with
from training.kinds import KINDS, learns_labels
from training.runs import finished_encoders, training_of
from training.search.choosing import named_encoder
from training.search.vectors import cached_vectors, embed_in_parts
from training.span_weights import ExplainedSentence, explain_sentences, tell_spans, weights_spans
from training.thresholds import LabelThreshold, positive_of

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

GivenThreshold = float | Literal["dev"] | None
"""A probability from which pairs get the positive label, or that of dev; None for the most probable label."""

_ANY = "A cat sleeps."
"""First sentence given to an encoder that parses."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction for a pair of sentences.

    Args:
        sentence_a: first sentence as given, with single blanks.
        sentence_b: second sentence, in the same form.
        label: label with the highest probability, or by a threshold.
        probabilities: label → its probability; they sum to 1.
        spans: weighted spans of both sentences, for an encoder that weights spans; None if not requested.
    """

    sentence_a: str
    sentence_b: str
    label: str
    probabilities: Mapping[str, float]
    spans: tuple[ExplainedSentence, ExplainedSentence] | None = None


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions for pairs of sentences."""

    labels: tuple[str, ...]  # labels of the classifier
    probabilities: NDArray[np.float64]  # probability of each label, (n_pairs, n_labels), rows sum to 1
    swapped: NDArray[np.float64] | None  # the same with the sentences swapped; None if the order cannot matter
    seconds: float  # time of the predictions
    parsing_seconds: float | None  # part of this time for parsing; None for an encoder that does not parse
    calibrated_by: int | None = None  # number of dev pairs that calibrated the probabilities; None without
    doubt: str = ""  # why the classifier may be of no use, as a sentence; empty if it clearly is of use
    sentences: int = 0  # number of distinct sentences
    reused: int = 0  # number of these that an earlier command embedded
    truncated: int = 0  # number of these that are longer than the encoder's input
    threshold: LabelThreshold | None = None  # what gives a pair the positive label; None for the most probable label

    @property
    def predicted(self) -> list[str]:
        """Label of each pair, (n_pairs,); the first of equally probable ones."""
        return [self.labels[number] for number in self._numbers(self.probabilities)]

    @property
    def pairs_per_second(self) -> float | None:
        """Pairs predicted per second; None without pairs, or if embeddings of an earlier command were reused."""
        pairs = len(self.probabilities)
        return pairs / self.seconds if pairs and not self.reused and self.seconds > 0 else None

    @property
    def share_of_parsing(self) -> float | None:
        """Share of the time spent parsing; None for an encoder that does not parse, or without a speed."""
        if self.parsing_seconds is None or self.pairs_per_second is None:
            return None
        return self.parsing_seconds / self.seconds

    @property
    def changed(self) -> int | None:
        """Number of pairs whose label changes when their sentences are swapped; None if the order cannot matter."""
        if self.swapped is None:
            return None
        return int((self._numbers(self.swapped) != self._numbers(self.probabilities)).sum())

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of the labels must know, one sentence each."""
        if not len(self.probabilities):
            return ()
        uncalibrated = (
            "The probabilities may be overconfident or underconfident: they were not calibrated on dev pairs when the "
            "encoder was trained; their order is unaffected."
        )
        truncated = (
            f"{counted(self.truncated, 'sentence')} longer than the encoder's input "
            f"{'was' if self.truncated == 1 else 'were'} truncated: the rest has no effect on labels."
        )
        caveats = (self.calibrated_by is None and uncalibrated, self.doubt, self.truncated > 0 and truncated)
        return tuple(sentence for sentence in caveats if sentence)

    def each(self, pairs: Sequence[tuple[str, str]]) -> list[Prediction]:
        """Return the prediction for each of the pairs that were predicted, in order."""
        return [
            Prediction(a, b, label, dict(zip(self.labels, row, strict=True)))
            for (a, b), label, row in zip(pairs, self.predicted, self.probabilities.tolist(), strict=True)
        ]

    def _numbers(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        if self.threshold is None:
            return np.asarray(probabilities.argmax(axis=1), dtype=np.int64)
        number = self.labels.index(self.threshold.label)
        return np.where(probabilities[:, number] >= self.threshold.value, number, 1 - number)


def choose_predictor(
    runs: Path | None, name: str | None = None, *, among: Collection[str] = (), explained: bool = False
) -> Path:
    """Return the folder of the encoder that predicts: a named one, the current run with a classifier, or the newest.

    Encoders `among` those of the project go before others in `runs`; if `explained`, those that weight spans do.
    """
    if name is not None:
        folder = named_encoder(runs, name, among=among)
        require_classifier(folder)
        return folder
    if runs is None:
        raise NoEncoder("There is no project here with an encoder to predict: name one with --encoder, or --project.")

    def fits(folder: Path) -> bool:
        return has_classifier(folder) and (not explained or weights_spans(folder))

    if used := encoder_in_use_with(runs, fits, among) or encoder_in_use_with(runs, has_classifier, among):
        return used
    names = ", ".join(finished_encoders(runs))
    lacking = f"no encoder in {str(runs)!r} has a classifier ({names})" if names else f"{str(runs)!r} has no encoder"
    raise NoClassifier(f"Nothing here predicts labels: {lacking}. {_advice()}.")


def has_classifier(folder: Path) -> bool:
    """Return whether an encoder has a classifier, or had one at the end of its training."""
    from training.modules.pair_classifier import PairClassifier

    return PairClassifier.is_in(folder) or learns_labels(training_of(folder).get("settings", {}))


def require_classifier(folder: Path) -> None:
    """Check that an encoder has a classifier; whether its files are complete is only checked on loading."""
    if not has_classifier(folder):
        raise NoClassifier(f"The encoder {str(folder)!r} has no classifier, so it predicts no labels. {_advice()}.")


def _advice() -> str:
    kinds = [
        " with ".join([repr(name), *(f'{key} = "{value}"' for key, value in kind.classifies.items())])
        for name, kind in KINDS.items()
        if kind.classifies is not None
    ]
    return f"Train one with a classifier, of kind {' or '.join(kinds)}, on pairs with labels; or name another encoder"


class PairPredictor:
    """An encoder with its classifier; embeddings are cached in a project's folder of runs, if there is one."""

    def __init__(self, folder: Path, model: TextEncoder, runs: Path | None = None) -> None:
        from training.modules.pair_classifier import PairClassifier

        require_classifier(folder)
        self._folder, self._model, self._runs = folder, model, runs
        self._classifier = PairClassifier.load(folder).to(model.device)
        if self._parsed() is not None:
            model.encode([_ANY], show_progress_bar=False)  # loads the parser, which is not counted as prediction time

    def predict(
        self, pairs: Sequence[tuple[str, str]], on_rows: OnRows = ignore_rows, *, threshold: GivenThreshold = None
    ) -> Predictions:
        """Return the predictions for pairs of sentences, none empty; `on_rows` hears of distinct sentences embedded.

        The threshold is a probability from which a pair gets the positive of two labels, or `dev` for the one that dev
        pairs chose; None for the most probable label.
        """
        by = self._threshold(threshold)
        started, parsed = time.monotonic(), self._parsed()
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        vectors, reused = self._embed(texts, on_rows)
        row_of = {text: row for row, text in enumerate(texts)}
        left, right = (vectors[[row_of[pair[side]] for pair in pairs]] for side in (0, 1))
        classifier, calibration = self._classifier, self._classifier.calibration
        truncated = count_cut(self._model, texts)
        probabilities = classifier.probabilities(left, right)
        swapped = None if classifier.is_symmetric else classifier.probabilities(right, left)
        return Predictions(
            labels=classifier.labels,
            probabilities=probabilities,
            swapped=swapped,
            seconds=time.monotonic() - started,
            parsing_seconds=None if parsed is None else (self._parsed() or 0.0) - parsed,
            calibrated_by=calibration.pairs if calibration else None,
            doubt=calibration.doubt if calibration else "",
            sentences=len(texts),
            reused=reused,
            truncated=truncated,
            threshold=by,
        )

    def require_spans(self) -> None:
        """Check that the encoder weights spans, before predictions that are to be explained."""
        if not weights_spans(self._folder):
            raise CannotExplain(
                f"The encoder {str(self._folder)!r} does not weight spans, so its labels cannot be explained by them: "
                "leave out --explain (in Python: spans=), or use an encoder of kind 'pas' that has spans."
            )

    @property
    def sees(self) -> str:
        """Which spans the encoder sees, in words; only for an encoder that weights spans."""
        return tell_spans(self._model)

    def explain(self, predictions: Sequence[Prediction]) -> list[Prediction]:
        """Return predictions with the spans of their sentences; the encoder weights spans, and is not a light one."""
        pairs = [(prediction.sentence_a, prediction.sentence_b) for prediction in predictions]
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        spans = dict(zip(texts, explain_sentences(cast("SentenceTransformer", self._model), texts), strict=True))
        return [replace(each, spans=(spans[a], spans[b])) for each, (a, b) in zip(predictions, pairs, strict=True)]

    def _threshold(self, given: GivenThreshold) -> LabelThreshold | None:
        if given is None:
            return None
        labels, chosen = self._classifier.labels, self._classifier.threshold
        if given == "dev" and chosen is not None:
            return chosen
        label = positive_of(labels, training_of(self._folder).get("settings", {}).get("positive_label"))
        if label is None or len(labels) != 2:
            raise NoThreshold(
                f"A threshold needs a classifier of two labels, one of them positive; that of {str(self._folder)!r} "
                f"has {', '.join(map(repr, labels))}. Leave the threshold out, and use the probabilities instead."
            )
        if given == "dev":
            raise NoThreshold(
                f"The encoder {str(self._folder)!r} keeps no threshold of dev pairs: it needs both labels in its dev "
                "pairs, and a training by this version. Give a number instead of 'dev'; `facetflow evaluate` says "
                "which is best for a set."
            )
        if isinstance(given, bool) or not isinstance(given, Real) or not 0 <= given <= 1:
            raise WrongValue(f"The threshold {given!r} is no probability: give a number from 0 to 1, or 'dev'.")
        return LabelThreshold(label, given)

    def _parsed(self) -> float | None:
        """Return the seconds that the encoder has spent on parsing; None if it does not parse."""
        from training.modules.structure import structure_of

        structure = structure_of(self._model)
        return None if structure is None else structure.parsing_seconds

    def _embed(self, texts: Sequence[str], on_rows: OnRows) -> tuple[NDArray[np.float32], int]:
        """Return the embeddings of distinct texts, (n, d), and how many of them were cached."""
        if not texts:
            return np.empty((0, int(self._model.get_embedding_dimension() or 0)), np.float32), 0
        embedded: list[str] = []

        def embed_new(new: Sequence[str]) -> Iterator[NDArray[np.float32]]:
            embedded.extend(new)
            return embed_in_parts(self._model, new, on_rows=on_rows)

        vectors = cached_vectors(self._runs, self._folder, None, texts, embed_new)
        return vectors, len(texts) - len(embedded)
