"""Replace the weights of a trained encoder by a mean of them and of another's (model soups; Wortsman et al. 2022).

    python tools/average_encoders.py ENCODER OTHER SHARE        the share of OTHER, in (0, 1)

Both have the same modules and were trained from the same start model with the same seed, so that the mean of two good
encoders is a good one. `facetflow evaluate` then scores it; `tools/ship_encoder.py` tells both trainings in its card.
"""

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from training.runs import TRAINING_FILE


def average(encoder: Path, other: Path, share: float) -> None:
    """Write the weights and how they came about into the folder of the first encoder."""
    training, added = (json.loads((each / TRAINING_FILE).read_text(encoding="utf-8")) for each in (encoder, other))
    if "averaged" in training:
        sys.exit(f"{str(encoder)!r} is a mean already: train it again")
    for path in sorted(encoder.rglob("*.safetensors")):
        ours, theirs = load_file(path), load_file(other / path.relative_to(encoder))
        save_file({name: _mean(ours[name], theirs[name], share) for name in ours}, path, metadata={"format": "pt"})
    training["averaged"] = {
        "share": share,
        "identity": added["identity"],
        "steps": added["steps"],
        "settings": {
            name: value
            for name, value in added["settings"].items()
            if name == "loop" or training["settings"][name] != value
        },
    }
    training["corpora"] = dict(sorted({**added["corpora"], **training["corpora"]}.items()))
    (encoder / TRAINING_FILE).write_text(json.dumps(training, indent=2) + "\n", encoding="utf-8")


def _mean(ours: np.ndarray, theirs: np.ndarray, share: float) -> np.ndarray:
    mean = (1 - share) * ours.astype(np.float64) + share * theirs.astype(np.float64)
    return np.ascontiguousarray(mean.astype(ours.dtype))


if __name__ == "__main__":
    average(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
