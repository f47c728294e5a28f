"""The encoder of an explanation and its training data: a line below each explanation."""

from dataclasses import dataclass
from pathlib import Path

from features.core.errors import InputError
from features.models import BUNDLED_ENCODER, bundled_encoder
from training.runs import ENCODER, TRAINING_FILE, run_title
from training.writing import read_json


@dataclass(frozen=True, slots=True)
class EncoderFacts:
    """An encoder and its data.

    Args:
        name: name of its run; of its folder, when that is not in a run.
        folder: folder of the encoder.
        backbone: the sentence encoder that it started from; None if `training.json` cannot be read.
        corpora: training corpora.
        release: of the store; None for an exported table, or when unknown.
        training_pairs: number of training pairs; None when unknown.
        dev_pairs: number of pairs that chose and calibrated it; None when unknown.
    """

    name: str
    folder: str
    backbone: str | None = None
    corpora: tuple[str, ...] = ()
    release: int | None = None
    training_pairs: int | None = None
    dev_pairs: int | None = None

    @property
    def sentence(self) -> str:
        """The facts in one line."""
        if self.backbone is None:
            return f"{self.name} ({self.folder}; its {TRAINING_FILE} is missing or damaged, so its data are unknown)"
        release = "" if self.release is None else f", release {self.release}"
        return (
            f"{self.name}: {self.backbone}, trained on {self.training_pairs:,} pairs of {', '.join(self.corpora)}"
            f"{release}; {self.dev_pairs:,} dev pairs"
        )


def encoder_facts(folder: Path) -> EncoderFacts:
    """Read the facts of the encoder in a folder."""
    absolute = folder.resolve()
    name = run_title(absolute.parent) if absolute.name == ENCODER else absolute.name
    if absolute == bundled_encoder():
        name = BUNDLED_ENCODER
    try:
        training = read_json(folder / TRAINING_FILE)
    except InputError:
        return EncoderFacts(name, str(folder))
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
