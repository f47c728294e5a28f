"""Choosing the best model by people's ratings, for encoders of any kind: `choose_by` names a set of split dev.

settings.choose_by ── job.ratings ──> ChosenRatings ──> score(embed) ──> Judgement of the task
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from features.errors import InputError, SettingsError
from training.correlation import spearman
from training.evaluation_sets import rating_digest, read_rating_sets
from training.similarity import cosines

if TYPE_CHECKING:
    from features.corpora import EvaluationPairs
    from training.encoders.settings import EncoderSettings
    from training.jobs import TrainingJob

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts to embeddings, (n_texts, d), in their order; no gradient is needed."""


@dataclass(frozen=True, slots=True)
class ChosenRatings:
    """The pairs that a model is chosen by.

    Args:
        rated: sentences and what people say of them.
    """

    rated: "EvaluationPairs"

    @property
    def texts(self) -> tuple[str, ...]:
        """All sentences, each once."""
        return tuple(dict.fromkeys((*self.rated.texts_a, *self.rated.texts_b)))

    @property
    def digest(self) -> str:
        """A hash of sentences and ratings."""
        return rating_digest(self.rated)

    def score(self, embed: Embed) -> float:
        """Return Spearman's correlation of the cosines of the pairs with their ratings, in [-1, 1].

        Similarities that are all equal order nothing: 0.

        Args:
            embed: by the model as it is.
        """
        vectors = embed(self.texts)
        place = {text: position for position, text in enumerate(self.texts)}
        left, right = (vectors[[place[text] for text in texts]] for texts in (self.rated.texts_a, self.rated.texts_b))
        (found,) = spearman(cosines(left, right)[:, None], np.asarray(self.rated.scores)[:, None])
        return 0.0 if found is None else found

    def recorded(self) -> dict[str, Any]:
        """Return what `training.json` says of them."""
        return {"set": self.rated.name, "pairs": len(self.rated.scores), "digest": self.digest}


def chosen_ratings(job: "TrainingJob[Any, Any]") -> ChosenRatings | None:
    """Read what the best model of a training is chosen by; None where that is the dev loss.

    Args:
        job: with settings of an encoder of any kind.

    Raises:
        InputError: when the file is missing or wrong, or its ratings order nothing.
        SettingsError: when the job does not bring the set.
    """
    settings: EncoderSettings = job.settings
    if not settings.by_ratings:
        return None
    for rated in read_rating_sets(job.ratings, job.base):
        if rated.name == settings.choose_by:
            if len(set(rated.scores)) < 2:
                raise InputError(
                    f"The set {rated.name!r}, which `choose_by` of the encoder {settings.name!r} names, has the same "
                    f"score for all of its {len(rated.scores)} pairs, so no model can be chosen by it: name another."
                )
            return ChosenRatings(rated)
    raise SettingsError(
        f"`choose_by` of the encoder {settings.name!r} names {settings.choose_by!r}, which is not among the `ratings` "
        "of the job: describe the set there, or choose by the loss."
    )
