"""Classification head for pairs of sentences: a linear layer over their embeddings, saved with the encoder."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError
from torch import Tensor, nn

from features.core.closed import first_problem
from features.core.faults import EncoderDamaged
from training.modules.calibration import Calibration
from training.thresholds import LabelThreshold
from training.types import USUAL_PARTS, Part

WEIGHTS_FILE = "classifier.safetensors"
SETTINGS_FILE = "classifier.json"
_FILES = (SETTINGS_FILE, WEIGHTS_FILE)
_AT_ONCE = 4096  # pairs, which limits the memory of a classifier's input


class PairClassifier(nn.Module):
    """Classify pairs: softmax(W [parts of u and v] + b), with a calibration of these probabilities.

    Sources:
        - `("u", "v", "|u-v|")`: SBERT (Reimers & Gurevych 2019, §3) and SBERT-RGCN (Peng et al. 2021).
        - `("|u-v|", "u*v")`: PAS-SBERT (Peng et al. 2022); its output does not depend on the order of the pair.
    """

    def __init__(self, dimension: int, labels: Sequence[str], parts: Sequence[Part] = USUAL_PARTS) -> None:
        super().__init__()
        if unknown := sorted(set(parts) - set(get_args(Part))):
            raise ValueError(f"parts of a classifier are {', '.join(get_args(Part))}, not {unknown[0]!r}")
        self.labels = tuple(labels)
        self.parts = tuple(parts)
        self.linear = nn.Linear(dimension * len(self.parts), len(self.labels))
        self.calibration: Calibration | None = None  # the probabilities are then the softmax of the logits
        self.threshold: LabelThreshold | None = None  # of its positive label, if dev pairs could choose one

    @property
    def is_symmetric(self) -> bool:
        """Whether swapping the sentences of a pair leaves its output unchanged, to the last bit."""
        return not {"u", "v"} & set(self.parts)

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the logits of pairs, (n_pairs, n_labels), from the embeddings of both sides, (n_pairs, d) each."""
        made = {"u": left, "v": right, "|u-v|": (left - right).abs(), "u*v": left * right}
        logits: Tensor = self.linear(torch.cat([made[part] for part in self.parts], dim=-1))
        return logits

    @torch.no_grad()
    def probabilities(
        self, left: NDArray[np.float32], right: NDArray[np.float32], labels: Sequence[str] = ()
    ) -> NDArray[np.float64]:
        """Return the probability of each label, (n_pairs, n_labels), from embeddings (n_pairs, d); rows sum to 1.

        It is distributed over the given labels, over all of them if there are none.
        """
        if left.shape[1] != self._dimension:
            raise EncoderDamaged(
                f"the classifier takes embeddings of {self._dimension} dimensions, but these have {left.shape[1]}: it "
                "belongs to another encoder; delete the folder of this one, then train it again"
            )
        device = self.linear.weight.device
        columns = [self.labels.index(label) for label in labels or self.labels]
        parts = [np.empty((0, len(columns)))]
        for start in range(0, len(left), _AT_ONCE):
            sides = [torch.from_numpy(side[start : start + _AT_ONCE]).to(device) for side in (left, right)]
            # In double precision: with single precision many confident pairs would have equal probabilities.
            parts.append(self.calibrated(self(*sides).double())[:, columns].softmax(dim=1).cpu().numpy())
        return np.concatenate(parts)

    def save(self, folder: Path) -> None:
        """Write the classifier into the folder of its encoder."""
        from safetensors.torch import save_file

        save_file({name: value.contiguous().cpu() for name, value in self.state_dict().items()}, folder / WEIGHTS_FILE)
        described = {
            "labels": self.labels,
            "parts": self.parts,
            "dimension": self._dimension,
            "calibration": self.calibration and asdict(self.calibration),
            "threshold": self.threshold and asdict(self.threshold),
        }
        (folder / SETTINGS_FILE).write_text(json.dumps(described, ensure_ascii=False, indent=2) + "\n", "utf-8")

    def calibrated(self, logits: Tensor) -> Tensor:
        """Return calibrated logits."""
        if self.calibration is None:
            return logits
        return logits / self.calibration.temperature + logits.new_tensor(self.calibration.biases)

    @property
    def _dimension(self) -> int:
        return self.linear.in_features // len(self.parts)

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Return whether the folder of an encoder has any file of a classifier."""
        return any((folder / name).is_file() for name in _FILES)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the classifier of an encoder."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        again = f"delete the folder {str(folder)!r}, then train the encoder again"
        if missing := [name for name in _FILES if not (folder / name).is_file()]:
            raise EncoderDamaged(
                f"the encoder {str(folder)!r} lacks {' and '.join(missing)} of its classifier; {again}"
            )
        try:
            described = json.loads((folder / SETTINGS_FILE).read_text("utf-8"))
            classifier = cls(described["dimension"], described["labels"], described["parts"])
            classifier.load_state_dict(load_file(folder / WEIGHTS_FILE))
            classifier.calibration = described["calibration"] and Calibration(**described["calibration"])
            if classifier.calibration and len(classifier.calibration.biases) != len(classifier.labels):
                raise ValueError(f"a calibration of {len(classifier.calibration.biases)} labels")  # noqa: TRY301
            classifier.threshold = described["threshold"] and LabelThreshold(**described["threshold"])
            if classifier.threshold and classifier.threshold.label not in classifier.labels:
                raise ValueError(f"a threshold of the label {classifier.threshold.label!r}")  # noqa: TRY301
        except (ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            first = str(error).partition("\n")[0].rstrip(".")
            why = ": ".join(first_problem(error)) if isinstance(error, ValidationError) else first
            raise EncoderDamaged(f"the classifier of {str(folder)!r} cannot be loaded ({why}); {again}") from error
        return classifier.float().eval()  # as embeddings are, whatever the default type of its user
