"""Our training of aspects compared with sentence-transformers' own loop: same batches, layers, loss and precision.

    pip install datasets                  (required by sentence-transformers)
    python benchmarks/aspect_training.py [--texts 256] [--words 60] [--epochs 3] [--rounds 3]

Both tune the same layers of the same backbone with multiple negatives ranking loss over in-batch and given negatives,
on the CPU, alternating, each in a separate process. Processor seconds are compared; threads that wait for a busy core
spend some too, so little else should run. Ours is also run without cached outputs of frozen layers: theirs has none.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

OURS = ("ours", "ours, states not kept")
THEIRS = "sentence-transformers"
BATCH = 16
LABELS = 8
LAYERS = 2
WORDS = (
    "a",
    "bank",
    "makes",
    "steel",
    "cars",
    "ships",
    "tea",
    "in",
    "Japan",
    "Norway",
    "for",
    "people",
    "who",
    "travel",
)


def main() -> None:
    """Run all rounds and print the table, or be one of the processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", choices=(*OURS, THEIRS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run(options.one, options)))
        return
    if find_spec("datasets") is None:
        parser.error("the other loop needs a package: pip install datasets")
    found: dict[str, list[dict[str, float]]] = {name: [] for name in (*OURS, THEIRS)}
    for _ in range(options.rounds):
        for name, results in found.items():
            command = [sys.executable, __file__, "--one", name]
            for key in ("texts", "words", "epochs"):
                command += [f"--{key}", str(getattr(options, key))]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(done.stderr)
            results.append(json.loads(done.stdout.splitlines()[-1]))
    theirs = np.median([result["seconds"] for result in found[THEIRS]])
    print(f"{'loop':<24} {'CPU s':>8} {'speed':>7} {'GiB':>6}")
    for name, results in found.items():
        seconds, memory = (float(np.median([result[key] for result in results])) for key in ("seconds", "gib"))
        print(f"{name:<24} {seconds:>8.1f} {theirs / seconds:>6.2f}x {memory:>6.2f}")


def run(name: str, options: argparse.Namespace) -> dict[str, float]:
    """Train once and return processor seconds of the training and the most memory of the process."""
    random = np.random.default_rng(0)
    texts = [
        " ".join(random.choice(WORDS, size=int(size)))
        for size in random.integers(options.words // 2, options.words * 3 // 2, options.texts)
    ]
    labels = random.integers(0, LABELS, len(texts))
    with tempfile.TemporaryDirectory() as folder:
        seconds = (
            train_theirs(texts, labels, options.epochs, Path(folder))
            if name == THEIRS
            else train_ours(texts, labels, options.epochs, Path(folder), kept=name == OURS[0])
        )
    return {"seconds": seconds, "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def settings_of(epochs: int, *, kept: bool) -> Any:
    """Return the settings of our training."""
    from training.encoders.aspect.settings import AspectSettings

    return AspectSettings.model_validate(
        {
            "layers_tuned": LAYERS,
            "dropout": True,
            "cache_gib": 8.0 if kept else 0.0,
            "disk_gib": 0.0,
            "aspects": ["label"],
            "loop": {"epochs": epochs, "batch_size": BATCH, "learning_rate": 5e-5, "precision": "bfloat16"},
        }
    )


def prepare(texts: list[str], labels: Any, epochs: int, *, kept: bool) -> Any:
    """Return the data and settings of our training, and its task, ready to train."""
    import polars as pl
    import torch

    from features import models
    from training.data.labelled_texts import LabelledTexts
    from training.encoders.aspect.data import plan_lessons
    from training.encoders.aspect.train import AspectTask, start_model
    from training.encoders.backbone import Backbone

    settings = settings_of(epochs, kept=kept)
    table = pl.DataFrame({"text": texts, "corpus": "made", "split": "train", "aspect": "label", "label": labels})
    data = LabelledTexts.from_table(table.cast({"label": pl.String}), source={})
    model = start_model(models.locate(settings.backbone, Path()), settings, (), "cpu")
    backbone = Backbone(model, settings, torch.bfloat16)
    tokens = backbone.tokenize(data.texts)
    return data, settings, AspectTask(backbone, tokens, plan_lessons(data, settings), settings)


def train_ours(texts: list[str], labels: Any, epochs: int, folder: Path, *, kept: bool) -> float:
    """Train with our loop; the cost of caching the states is included."""
    from training.loop.loop import Loop
    from training.loop.machine import prepare_machine

    _, settings, task = prepare(texts, labels, epochs, kept=kept)
    machine = prepare_machine(settings.loop, folder)
    started = time.process_time()
    task.backbone.keep_states(task.tokens)
    Loop(task, settings.loop, machine, folder=folder, identity="benchmark").run()
    return time.process_time() - started


def train_theirs(texts: list[str], labels: Any, epochs: int, folder: Path) -> float:
    """Train with sentence-transformers' trainer on the triplets of our first epoch."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    data, settings, task = prepare(texts, labels, epochs, kept=False)
    model = task.backbone.model  # with the same layers frozen
    (lesson,) = task.curriculum.lessons
    drawn = lesson.maker.draw(seed=0, epoch=0)
    columns = {
        name: [data.texts[text] for text in getattr(drawn, name)] for name in ("anchors", "positives", "negatives")
    }
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        num_train_epochs=epochs,
        per_device_train_batch_size=BATCH,
        learning_rate=settings.loop.learning_rate,
        bf16=True,
        use_cpu=True,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
    )
    trainer = SentenceTransformerTrainer(
        model, arguments, train_dataset=Dataset.from_dict(columns), loss=MultipleNegativesRankingLoss(model)
    )
    started = time.process_time()
    trainer.train()
    return time.process_time() - started


if __name__ == "__main__":
    main()
