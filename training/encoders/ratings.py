"""Choosing the best model by human ratings, for encoders of any kind: `choose_by` names a set with split dev.

settings.choose_by ── job.ratings ──> ChosenRatings ── among(texts) ──> Judgement of the task
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from features.core.faults import NothingToLearn, UnknownName
from features.corpora.reading import EvaluationPairs, read_evaluation
from training.encoders.settings import EncoderSettings
from training.jobs import TrainingJob
from training.progress import log
from training.similarity import cosines, spearman


@dataclass(frozen=True, slots=True)
class ChosenRatings:
    """Rated pairs that choose the best model."""

    rated: EvaluationPairs
    # once placed `among` the sentences of a training: those that are not trained on, which follow the ones that are
    further: tuple[str, ...] = ()
    positions: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # position of each of `texts`

    @property
    def texts(self) -> tuple[str, ...]:
        """All sentences, each once."""
        return tuple(dict.fromkeys((*self.rated.texts_a, *self.rated.texts_b)))

    def score(self, vectors: NDArray[np.float32]) -> float:
        """Return Spearman's correlation between the cosines of the pairs and their ratings, in [-1, 1].

        Vectors are the embeddings of `texts`, (n_texts, d). It is 0 when all similarities are equal, NaN when one is.
        """
        positions = {text: position for position, text in enumerate(self.texts)}
        left, right = (
            vectors[[positions[text] for text in texts]] for texts in (self.rated.texts_a, self.rated.texts_b)
        )
        similarities = cosines(left, right)
        if np.isnan(similarities).any():
            return np.nan
        (correlation,) = spearman(similarities[:, None], np.asarray(self.rated.scores))
        return correlation or 0.0

    def recorded(self) -> dict[str, Any]:
        """Return the entry of `training.json`."""
        return {"set": self.rated.name, "pairs": len(self.rated.scores), "digest": self.rated.digest}

    def among(self, texts: Sequence[str]) -> Self:
        """Return the ratings placed among the sentences of a training, each once; log that they choose the model."""
        row_of = {text: position for position, text in enumerate(texts)}
        further = tuple(text for text in self.texts if text not in row_of)
        row_of |= {text: position for position, text in enumerate(further, start=len(texts))}
        log.info("the best model is chosen by %d rated pairs of %r", len(self.rated.scores), self.rated.name)
        return replace(self, further=further, positions=np.array([row_of[text] for text in self.texts], dtype=np.int64))


def chosen_ratings(job: TrainingJob[Any, Any]) -> ChosenRatings | None:
    """Read the ratings that choose the best model of a training; None if no ratings do."""
    settings: EncoderSettings = job.settings
    if not settings.by_ratings:
        return None
    for rated in (read_evaluation(each, job.base) for each in job.ratings):
        if rated.name == settings.choose_by:
            if len(set(rated.scores)) < 2:
                raise NothingToLearn(
                    f"The set {rated.name!r}, which `choose_by` of the encoder {settings.name!r} names, has the same "
                    f"score for all of its {len(rated.scores)} pairs, so no model can be chosen by it: name another."
                )
            return ChosenRatings(rated)
    raise UnknownName(
        f"`choose_by` of the encoder {settings.name!r} names {settings.choose_by!r}, which is not among the `ratings` "
        "of the job: describe the set there, or choose by the loss."
    )
