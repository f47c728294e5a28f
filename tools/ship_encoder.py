"""Write what differs between a trained encoder and its start model.

    python tools/ship_encoder.py ENCODER START FOLDER [STORE ...]

The folder is what `features.models.pulling` puts together again: float16 weights of tuned layers (of large matrices the
change, in two factors) and of modules that the start model lacks, the list of modules, facets, how it was trained, and
the model card. With stores, the facets of an S3BERT are calibrated anew on their dev pairs, at most 1,500 of each
corpus: those of its training may be of one kind of text only.
"""

import json
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from safetensors.numpy import load_file, save_file

from features.models.pulling import LEFT, RIGHT, TUNED, WEIGHTS, assemble
from training.data.measured_pairs import MeasuredPairs
from training.encoders.loading import load_encoder
from training.encoders.running import write_card
from training.encoders.s3bert.facets import FILE_NAME, FacetLayout
from training.runs import TRAINING_FILE

PAIRS = 1_500
RANK = 128
"""Of the changes of a matrix: 64 costs half a point, 128 nothing (docs/results/study.md)."""
SCORES = "## Scores"
ROUNDED = "Measured before the weights were rounded to float16 and low rank, which can move a facet by a point."
DESCRIBED = ("modules.json", "facets.json", "training.json", "README.md")


def ship(encoder: Path, start: Path, folder: Path, rank: int = RANK) -> int:
    """Write the files that differ; return their bytes.

    Args:
        encoder: folder of the trained encoder.
        start: folder of its start model.
        folder: where they go; replaced.
        rank: that of the change of a matrix which has more numbers than two factors of this rank.
    """
    before, after = load_file(start / WEIGHTS), load_file(encoder / WEIGHTS)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in DESCRIBED:
        shutil.copyfile(encoder / name, folder / name)
    for module in sorted(path for path in encoder.iterdir() if path.is_dir() and not (start / path.name).is_dir()):
        for path in (path for path in module.rglob("*") if path.is_file()):
            target = folder / path.relative_to(encoder)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".safetensors":
                save_file({name: _half(value) for name, value in load_file(path).items()}, target)
            else:
                shutil.copyfile(path, target)
    tuned: dict[str, np.ndarray] = {}
    for name, value in after.items():
        if value.ndim == 2 and rank * sum(value.shape) < value.size and not np.array_equal(value, before[name]):
            left, sizes, right = np.linalg.svd(value.astype(float) - before[name], full_matrices=False)
            root = np.sqrt(sizes[:rank])
            tuned |= {name + LEFT: _half(left[:, :rank] * root), name + RIGHT: _half(root[:, None] * right[:rank])}
        elif not np.array_equal(value, before[name]):
            tuned[name] = _half(value)
    if tuned:
        save_file(tuned, folder / TUNED)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def calibrate(encoder: Path, folder: Path, stores: Sequence[Path]) -> None:
    """Calibrate the facets of a shipped encoder, put together, on dev pairs of stores; tell it in its card."""
    layout, model = FacetLayout.load(encoder), load_encoder(encoder)
    similarities, measured, counts = [], [], Counter()
    for store in stores:
        data = MeasuredPairs.from_store(store).select(splits=("dev",), kinds=("positive",))
        for corpus in sorted(set(data.pairs["corpus"])):
            rows = np.flatnonzero((data.pairs["corpus"] == corpus).to_numpy())
            rows = np.sort(np.random.default_rng(0).permutation(rows)[:PAIRS])
            texts, places = np.unique(np.concatenate([data.first[rows], data.second[rows]]), return_inverse=True)
            vectors = model.encode([data.texts[text] for text in texts], batch_size=64, show_progress_bar=False)
            left, right = np.split(vectors[places], 2)
            similarities.append(layout.similarities(left, right))
            measured.append(data.metrics(layout.names)[rows])
            counts[corpus] += len(rows)
    layout = layout.calibrated(np.concatenate(similarities), np.concatenate(measured))
    (folder / FILE_NAME).write_text(layout.text(), encoding="utf-8")
    training = json.loads((encoder / TRAINING_FILE).read_text(encoding="utf-8"))
    training["facets"] = [facet.model_dump(exclude={"usual", "calibration"}) for facet in layout.facets]
    for corpus, facts in training["corpora"].items():
        facts["dev"] = counts[corpus]
    (folder / TRAINING_FILE).write_text(json.dumps(training, indent=2) + "\n", encoding="utf-8")
    _, _, scores = (encoder / "README.md").read_text(encoding="utf-8").partition(SCORES)
    card, _, _ = write_card(training).partition(SCORES)
    (folder / "README.md").write_text(f"{card}{SCORES}\n\n{ROUNDED}{_without_bundled(scores)}", encoding="utf-8")


def _without_bundled(scores: str) -> str:
    """Leave out how the encoder compares with the one that it replaces in the package."""
    lines, column = [], None
    for line in scores.splitlines():
        cells = line.split("|")
        if line.startswith("|") and " bundled " in cells:
            column = cells.index(" bundled ")
        elif not line.startswith("|"):
            column = None
        if column is not None:
            del cells[column]
        if not line.startswith("Bundled are"):
            lines.append("|".join(cells))
    return "\n".join(lines) + "\n"


def _half(value: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(value.astype(np.float16))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: python tools/ship_encoder.py ENCODER START FOLDER [STORE ...]")
    trained, start_model, shipped, *with_dev_pairs = map(Path, sys.argv[1:])
    print(f"{ship(trained, start_model, shipped) / 1e6:.2f} MB")
    if with_dev_pairs:
        with TemporaryDirectory() as temporary:
            assemble(start_model, shipped, together := Path(temporary, "encoder"))
            calibrate(together, shipped, with_dev_pairs)
