"""Training of S3BERT compared with sentence-transformers' own loop: same pairs, losses, layers, batch and precision.

    pip install datasets                  (required by sentence-transformers)
    python benchmarks/s3bert_training.py STORE [--minutes 1 5]

STORE is that of examples/bamboo. `same` is our training of the same two layers by the same losses; it keeps the outputs
of frozen layers and encodes a sentence once in a batch. `default` is what `facetflow train` does: a map first, then
layers, also on neighbours. The other loop is given the teacher's embeddings, which it would otherwise encode again.

Pairs a second, memory, and the mean Spearman x 100 of 15 facets on the dev pairs after so many minutes of two
cores. Each training is a process of its own, and its processor time is measured, starting Python included; its schedule
ends where its time does. Let nothing else run: threads that wait for a core spin.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent))

from facet_scores import ALL, by_corpus

from training.encoders.s3bert.facets import FILE_NAME, FacetLayout, plan_layout

OURS: dict[str, dict[str, Any]] = {
    "same": {"map_epochs": 0, "facet_dimensions": 16, "kinds": ["positive", "negative"]},
    "default": {},
}
THEIRS = "sentence-transformers"
CORES = 2
BATCH = 64
RATE = 1e-3
LAYERS = 2
MAX_TOKENS = 128
STEPS = 150, 450
"""Steps of two trainings, whose difference in time is that of steps alone."""


class Trained(NamedTuple):
    """A training that has ended."""

    folder: Path  # of the encoder
    seconds: float  # processor time
    gib: float  # most memory


def main() -> None:
    """Print both tables, or be the process of the other loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--minutes", nargs="*", type=float, default=[1.0, 5.0])
    parser.add_argument("--theirs", nargs=2, metavar=("STEPS", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if find_spec("datasets") is None:
        parser.error("the other loop needs a package: pip install datasets")
    if options.theirs:
        train_theirs(options.store, int(options.theirs[0]), Path(options.theirs[1]))
        return
    names = (*OURS, THEIRS)
    with tempfile.TemporaryDirectory() as scratch:
        few, more = (
            {name: train(name, options.store, steps, Path(scratch, f"{name}-{steps}")) for name in names}
            for steps in STEPS
        )
        each = {name: (more[name].seconds - few[name].seconds) / (STEPS[1] - STEPS[0]) for name in names}
        print(",".join(["loop,pairs a second of one core,speed,GiB", *(f"{n:g} min" for n in options.minutes)]))
        for name in names:
            reached = [f"{BATCH / each[name]:.0f},{each[THEIRS] / each[name]:.1f}x,{more[name].gib:.1f}"]
            for minutes in options.minutes:
                begun = few[name].seconds - STEPS[0] * each[name]
                steps = round((60 * CORES * minutes - begun) / each[name])
                if steps < 1:
                    reached.append(f"begins after {begun / 60 / CORES:.1f}")
                    continue
                trained = train(name, options.store, steps, Path(scratch, f"{name}-{minutes}"))
                took = trained.seconds / 60 / CORES
                reached.append(f"{points(trained.folder, options.store):.1f} ({steps} steps in {took:.1f})")
            print(f"{name},{','.join(reached)}", flush=True)


def train(name: str, store: Path, steps: int, folder: Path) -> Trained:
    """Train in a process of its own."""
    folder.mkdir()
    if name == THEIRS:
        command = [sys.executable, __file__, str(store), "--theirs", str(steps), str(folder)]
    else:
        loop: dict[str, Any] = {"steps": steps, "epochs": steps, "batch_size": BATCH, "evaluate_every": steps}
        loop |= {"learning_rate": RATE, "precision": "bfloat16", "keep": "last"}
        settings = {"kind": "s3bert", "layers_tuned": LAYERS, "max_tokens": MAX_TOKENS, "loop": loop} | OURS[name]
        job = {"source": {"store": str(store)}, "settings": settings, "output": str(folder)}
        file = folder / "job.json"
        file.write_text(json.dumps(job))
        command = [sys.executable, "-m", "training.train", "--settings", str(file)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    log = folder / "log"
    with log.open("w") as told:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(log.read_text())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Trained(folder / "encoder", seconds, usage.ru_maxrss / 2**20)


def points(folder: Path, store: Path) -> float:
    """Return the mean correlation of facets with their metrics on the dev pairs."""
    return next(scores.mean for scores in by_corpus(folder, store) if scores.corpus == ALL)


def layout_of(metrics: tuple[str, ...]) -> FacetLayout:
    """Return the facets of `same`: slices of the embedding of the start model."""
    return plan_layout(metrics, width=OURS["same"]["facet_dimensions"], dimension=384, first=0, similarity="cosine")


def train_theirs(store: Path, steps: int, folder: Path) -> None:
    """Train with sentence-transformers' trainer."""
    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from torch import Tensor, nn

    from features.models import locate
    from training.data.measured_pairs import MeasuredPairs
    from training.data.pair_tables import apart
    from training.encoders.loading import load_encoder
    from training.objectives import DecompositionObjective, consistency_loss

    every = MeasuredPairs.from_store(store).select(kinds=("positive", "negative"))
    data = apart(every, "train")[0].select(splits=("train",))  # ours leaves out pairs that are dev pairs too
    if data.teacher is None:
        sys.exit(f"the store {store} has no embeddings: build it with them")
    model = load_encoder(locate("all-MiniLM-L6-v2"))
    model.max_seq_length = MAX_TOKENS
    transformer: Any = model[0].auto_model
    transformer.requires_grad_(requires_grad=False)
    for layer in transformer.encoder.layer[-LAYERS:]:
        layer.requires_grad_(requires_grad=True)
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # as in ours
    facets, width = data.metrics(), data.teacher.shape[1]

    class Loss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            self.decomposition = DecompositionObjective(layout_of(data.metric_names).membership())

        def forward(self, sentences: list[dict[str, Tensor]], labels: Tensor) -> Tensor:
            left, right = (self.model(each)["sentence_embedding"] for each in sentences)
            metrics, first, second = labels.split([facets.shape[1], width, width], dim=1)
            consistency = consistency_loss(left, right, first, second)
            pairs = torch.arange(2 * len(left)).chunk(2)
            return self.decomposition(torch.cat([left, right]), *pairs, metrics) + 10.0 * consistency

    columns = {side: [data.texts[at] for at in places] for side, places in (("a", data.first), ("b", data.second))}
    labels = np.concatenate([facets, data.teacher[data.first], data.teacher[data.second]], axis=1)
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        max_steps=steps,
        per_device_train_batch_size=BATCH,
        learning_rate=RATE,
        warmup_steps=0.1,
        bf16=True,
        use_cpu=True,
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        logging_strategy="no",
    )
    dataset = Dataset.from_dict({**columns, "label": list(labels)}).with_format("torch")
    torch.set_num_threads(CORES)
    trainer = SentenceTransformerTrainer(model, arguments, train_dataset=dataset, loss=Loss())
    trainer.train()
    model.save(str(folder / "encoder"))
    (folder / "encoder" / FILE_NAME).write_text(layout_of(data.metric_names).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
