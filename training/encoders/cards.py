"""Model cards of encoders: each kind has a template, which extends `templates/card.md`."""

from collections.abc import Mapping
from typing import Any

from training.encoders.settings import is_chosen, score_in_words
from training.markdown import render_card
from training.modules.calibration import NEEDED, Calibration
from training.thresholds import LabelThreshold
from training.types import USUAL_PARTS


def write_card(training: Mapping[str, Any]) -> str:
    """Return the README.md of an encoder, from the content of its `training.json`; an evaluation adds its scores."""
    settings, dev = training["settings"], training["dev"] or {}
    calibration, below = training.get("calibration"), settings.get("words_below", 0)
    return render_card(
        f"training.encoders.{settings['kind']}/card.md",
        training=training,
        settings=settings,
        chosen=is_chosen(settings),
        last_kept="The model of the last step was kept, whatever its dev score",
        dev_scores=", ".join(f"{score_in_words(name)} {value:.4f}" for name, value in dev.items()),
        calibration=Calibration.read(calibration) if calibration else None,
        threshold=LabelThreshold.read(training.get("threshold")),
        needed=NEEDED,
        usual_parts=USUAL_PARTS,
        layer_of_words=f", from the layer {below} below the last one," if below else "",
        words=score_in_words,
    )
