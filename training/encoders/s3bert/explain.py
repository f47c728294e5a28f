"""In which facets two sentences agree and differ, according to their embeddings, their graphs, or both.

embeddings ──> similarity, prediction, standing ┐
                                                ├──> marks, headline
graphs ──────> measured, words                  ┘    (of the encoder alone without graphs, of these without an encoder)
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from features.core.errors import InputError
from features.core.faults import EmptyText
from features.core.wording import counted
from features.metrics.explanation.comparing import MIRRORS, Difference
from features.metrics.explanation.pair import GraphPair
from features.metrics.explanation.words import describe
from features.metrics.registry import METRICS
from features.parsers.language import tell_languages
from features.parsers.sentence_encoder import TextEncoder
from features.sentences import normalise
from training.encoders.input_length import tell_cut, tell_unknown
from training.encoders.s3bert.calibration import Reliability
from training.encoders.s3bert.facet_reading import FacetReading, headline, marked
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout
from training.nearest import require_finite
from training.runs import TRAINING_FILE, encoder_title, training_of
from training.similarity import cosines


@dataclass(frozen=True, slots=True)
class Explanation:
    """A pair of sentences with its similarity, overall and by facet."""

    sentence_a: str  # first sentence as given, with single blanks
    sentence_b: str  # second sentence, in the same form
    similarity: float | None  # cosine of the whole embeddings, in [-1, 1]; None without an encoder
    residual: float | None  # cosine of the dimensions outside all facets; None if there are none, or no encoder
    facets: tuple[FacetReading, ...]  # in the order of their dimensions; without an encoder the metrics, in their order
    headline: str = ""  # what stands out
    words: str | None = None  # what the graphs share and where they differ, as one sentence; None without graphs
    differences: tuple[Difference, ...] = ()  # the differences one by one, each with the facet that measures it
    # further remarks, one sentence each: that the encoder reads only part of a sentence, or it is not English
    notes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether both sentences are the same."""
        return self.sentence_a == self.sentence_b


def explain_with(encoder: TextEncoder, layout: FacetLayout, pairs: Sequence[tuple[str, str]]) -> list[Explanation]:
    """Explain pairs of sentences with an encoder that has facets, in the given order."""
    texts = _normalised(pairs)
    if not texts:
        return []
    # Each text once: the last digits of an embedding depend on the lengths of the texts in its batch.
    position = {text: n for n, text in enumerate(dict.fromkeys(text for pair in texts for text in pair))}
    vectors = require_finite(encoder.encode(list(position), convert_to_numpy=True, show_progress_bar=False))
    left, right = ([position[pair[side]] for pair in texts] for side in (0, 1))
    explanations = explain_embeddings(texts, vectors[left], vectors[right], layout)
    return [replace(each, notes=_notes(pair, encoder)) for pair, each in zip(texts, explanations, strict=True)]


def without_encoder(pairs: Sequence[tuple[str, str]]) -> list[Explanation]:
    """Return explanations that lack an encoder: `with_graphs` fills in what is measured, nothing is predicted."""
    facets = tuple(FacetReading(name, similarity=None, prediction=None, standing=None) for name in METRICS)
    unknown = "Nothing is measured, because a sentence has no graph."
    return [
        Explanation(a, b, None, None, facets, headline=unknown, notes=_notes((a, b))) for a, b in _normalised(pairs)
    ]


def _normalised(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    texts = [(normalise(a), normalise(b)) for a, b in pairs]
    for number, pair in enumerate(texts, start=1):
        if not all(pair):
            raise EmptyText(f"a sentence of pair {number} is empty: {pair!r}; give two sentences")
    return texts


def _notes(pair: tuple[str, str], encoder: "TextEncoder | None" = None) -> tuple[str, ...]:
    notes = []
    if encoder is not None:
        for side, text in zip("ab", pair, strict=True):
            if cut := tell_cut(encoder, text):
                notes.append(
                    f"Sentence {side} is truncated: {cut}; the rest has no effect on similarities and predictions."
                )
            if unknown := tell_unknown(encoder, text):
                notes.append(f"The encoder does not know {unknown} of sentence {side}: unknown ones are all the same.")
    if foreign := tell_languages(pair):
        notes.append(foreign)
    return tuple(notes)


def explain_embeddings(
    pairs: Sequence[tuple[str, str]], left: NDArray[np.float32], right: NDArray[np.float32], layout: FacetLayout
) -> list[Explanation]:
    """Explain pairs from the embeddings of their first and second sentences, (n_pairs, dimension) each."""
    whole = cosines(left, right)
    rest = layout.slices.get(RESIDUAL)
    residual = None if rest is None else cosines(left[:, rest], right[:, rest])
    similarities = layout.similarities(left, right)
    predictions = layout.predictions(similarities)
    return [
        _with_marks(
            Explanation(
                sentence_a=a,
                sentence_b=b,
                similarity=min(float(whole[row]), 1.0),
                residual=None if residual is None else min(float(residual[row]), 1.0),
                facets=_readings(layout, similarities[row], predictions[row]),
            )
        )
        for row, (a, b) in enumerate(pairs)
    ]


def _readings(
    layout: FacetLayout, similarities: NDArray[np.float64], predictions: NDArray[np.float64]
) -> tuple[FacetReading, ...]:
    readings = []
    for facet, similarity, predicted in zip(layout.facets, similarities.tolist(), predictions.tolist(), strict=True):
        of_dev = facet.reliability or Reliability(pairs=0)
        readings.append(
            FacetReading(
                name=facet.name,
                similarity=min(similarity, 1.0),
                prediction=None if math.isnan(predicted) else predicted,
                standing=facet.standing(similarity),
                spearman=of_dev.spearman,
                interval=None if of_dev.low is None or of_dev.high is None else (of_dev.low, of_dev.high),
                reliable=facet.is_clear,
            )
        )
    return tuple(readings)


def with_graphs(explanation: Explanation, pair: GraphPair) -> Explanation:
    """Return an explanation with the metrics of the pair's graphs, which then decide what stands out."""
    words = describe(pair, (explanation.sentence_a, explanation.sentence_b), explanation.similarity)
    vacuous = [facet.name for facet in pair.facets if facet.is_vacuous]
    measured = with_measured(explanation, {facet.name: facet.score for facet in pair.facets}, vacuous=vacuous)
    mirrors = {MIRRORS.get(difference.aspect) for difference in words.differences}
    facets = tuple(replace(facet, blind=facet.name in mirrors and facet.measured == 1) for facet in measured.facets)
    return _with_marks(replace(measured, facets=facets, words=words.sentence, differences=words.differences))


def with_measured(
    explanation: Explanation, scores: Mapping[str, float | None], *, vacuous: Collection[str] = ()
) -> Explanation:
    """Return an explanation with measured values next to its predictions; a metric that is missing was not measured."""
    facets = tuple(
        replace(facet, measured=scores.get(facet.name), vacuous=facet.name in vacuous) for facet in explanation.facets
    )
    return _with_marks(replace(explanation, facets=facets))


def _with_marks(explanation: Explanation) -> Explanation:
    facets = marked(explanation.facets)
    return replace(explanation, facets=facets, headline=headline(facets, equal=explanation.equal))


@dataclass(frozen=True, slots=True)
class EncoderFacts:
    """An encoder and its data."""

    name: str  # name of its run; of its folder, when that is not in a run
    folder: str  # folder of the encoder
    backbone: str | None = None  # the sentence encoder that it started from; None if `training.json` cannot be read
    corpora: tuple[str, ...] = ()  # training corpora
    release: int | None = None  # of the store; None for an exported table, or when unknown
    training_pairs: int | None = None  # number of training pairs; None when unknown
    dev_pairs: int | None = None  # number of pairs that chose and calibrated it; None when unknown

    @property
    def sentence(self) -> str:
        """The facts in one line."""
        if self.backbone is None:
            return f"{self.name} ({self.folder}; its {TRAINING_FILE} is missing or damaged, so its data are unknown)"
        release = "" if self.release is None else f", release {self.release}"
        learnt, dev = counted(self.training_pairs or 0, "pair"), counted(self.dev_pairs or 0, "dev pair")
        return f"{self.name}: {self.backbone}, trained on {learnt} of {', '.join(self.corpora)}{release}; {dev}"


def encoder_facts(folder: Path) -> EncoderFacts:
    """Read the facts of the encoder in a folder."""
    name = encoder_title(folder)
    try:
        training = training_of(folder)
        counts = training["corpora"]
        return EncoderFacts(
            name=name,
            folder=str(folder),
            backbone=Path(training["settings"]["backbone"]).name,
            corpora=tuple(counts),
            release=training["source"].get("release"),
            training_pairs=sum(count["train"] for count in counts.values()),
            dev_pairs=sum(count["dev"] for count in counts.values()),
        )
    except (InputError, KeyError, TypeError):
        return EncoderFacts(name, str(folder))
