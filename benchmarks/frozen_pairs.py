"""Classifiers of pairs above a frozen backbone: python benchmarks/frozen_pairs.py examples/paraphrase/msrp.toml.

What the outputs of the start model hold of paraphrases when none of its layers is tuned: learnt in seconds from outputs
computed once, by the loop, classifier, threshold and modules of `facetflow train`.

    classifier      over [|u-v|; u*v] of the embeddings, as the twin's
    map             the same, after a linear map of the embeddings that begins as the identity
    trees, spans    the same, of an encoder of kind `rgcn` or `pas`
"""

import argparse
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers.sentence_transformer.modules import Dense
from sklearn.metrics import average_precision_score, f1_score
from torch import nn

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from project_commands import as_toml, facetflow, spread, working_folder

from features.models import locate
from training.data.labelled_pairs import LabelledPairs
from training.data.pair_tables import apart
from training.encoders.backbone import Backbone, Tokens
from training.encoders.frozen_states import SharedStates
from training.encoders.pair_task import PairTable, PairTask, Prepared
from training.encoders.pas.train import PasTraining
from training.encoders.rgcn.train import RgcnTraining
from training.encoders.settings import PairSettings, training_labels
from training.encoders.structures import read_sentences
from training.kinds import KINDS
from training.loop.loop import Loop
from training.loop.machine import prepare_machine
from training.thresholds import best_f1


class MapTraining(PasTraining):
    """A linear map of the embeddings, the identity at first."""

    def modules(self, transformer: nn.Module, pooling: Any) -> list[nn.Module]:
        """Add the map to the backbone."""
        width = int(pooling.get_embedding_dimension())
        linear = Dense(width, width, bias=False, activation_function=nn.Identity(), init_weight=torch.eye(width))
        return [transformer, pooling, linear]


TRAININGS: dict[str, tuple[str, type[Any]]] = {
    "classifier": ("twin", PasTraining),
    "map": ("twin", MapTraining),
    "trees": ("rgcn", RgcnTraining),
    "spans": ("pas", PasTraining),
}
LOOP = {"epochs": 20, "batch_size": 64, "evaluate_every": None, "patience": 5, "precision": "float32", "threads": 1}


class Frozen:
    """The pairs of a store, and what a backbone without tuned layers makes of them.

    Args:
        folder: of the project, with its store.
        encoder: of the project: its kind, corpora and classifier count.
        training: makes the modules.
        most: number of test pairs, at most; all by default.
    """

    def __init__(self, folder: Path, encoder: dict[str, Any], training: type[Any], most: int | None = None) -> None:
        self.folder, self.training = folder, training
        given = {key: value for key, value in encoder.items() if key != "search"} | {"loop": LOOP}
        settings = cast("PairSettings", KINDS[encoder["kind"]].settings.model_validate(given))
        whole = LabelledPairs.from_store(folder / "store").select(corpora=settings.corpora)
        self.settings = settings.with_labels(training_labels(whole, settings)).model_copy(update={"layers_tuned": 0})
        kept, _ = apart(whole, settings.splits[0], settings.corpora)
        left_out = whole.pairs.filter(split="test")["pair_id"][most:] if most else ()
        self.data = kept.keep(~kept.pairs["pair_id"].is_in([*left_out]))
        twin = training.reads.STAGE in settings.unread
        self.structure = None if twin else training.reads.from_store(folder / "store", self.data.texts)
        self.backbone = locate(settings.backbone)
        self.model = self._start(self.settings)
        self.tokens = self._prepare()

    def _start(self, settings: PairSettings) -> Backbone:
        plan: Any = SimpleNamespace(backbone=self.backbone)
        model = self.training(plan, settings, self.data, self.structure).start("cpu")
        return Backbone(model, settings, torch.float32)

    def _prepare(self) -> Tokens:
        if self.structure is None:
            tokens = self.model.tokenize(self.data.texts)
            self.model.keep_embeddings(tokens, np.arange(len(self.data.texts)), before=2)
            return tokens
        transformer: Any = self.model.model[0]
        tokens, self.model.beside = read_sentences(transformer, self.data.texts, self.structure)
        states = self.folder / "states"
        states.mkdir(exist_ok=True)
        self.model.keep_states(tokens, SharedStates(states, str(self.backbone)))
        return tokens

    def learn(self, seed: int) -> list[float]:
        """Return the F1 and the average precision × 100 of the test pairs, and the processor seconds of a training.

        Args:
            seed: of the loop.
        """
        settings = self.settings.model_copy(update={"loop": self.settings.loop.model_copy(update={"seed": seed})})
        for module, fresh in zip(list(self.model.model)[2:], list(self._start(settings).model)[2:], strict=True):
            module.load_state_dict(fresh.state_dict())
        train, dev, test = (PairTable(self.data, split, settings) for split in (*settings.splits, "test"))
        task = PairTask(self.model, Prepared(self.tokens, train, dev), settings)
        with tempfile.TemporaryDirectory() as name:
            machine = prepare_machine(settings.loop, Path(name))
            loop = Loop(task, settings.loop, machine, folder=Path(name), identity="")
            begun = time.process_time()
            loop.run()
            seconds = time.process_time() - begun
        task.eval()
        threshold, scores = best_f1(*self._scores(task, dev)), self._scores(task, test)
        return [*_measured(*scores, threshold), seconds]

    @torch.no_grad()
    def _scores(self, task: PairTask[Any], table: PairTable) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        classifier: Any = task.classifier
        number = classifier.labels.index(self.settings.positive_label)
        left, right = (self.model.embed_many(self.tokens, side) for side in (table.first, table.second))
        return table.targets == number, classifier.probabilities(left, right)[:, number]

    def start(self) -> list[float]:
        """Return the F1 and the average precision × 100 of the start model's cosine."""
        found = []
        number = self.settings.labels.index(self.settings.positive_label)
        for split in (self.settings.splits[1], "test"):
            table = PairTable(self.data, split, self.settings)
            sides = [
                self.model.embed_many(self.tokens, side).astype(np.float64) for side in (table.first, table.second)
            ]
            left, right = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
            found.append((table.targets == number, np.sum(left * right, axis=1)))
        return _measured(*found[1], best_f1(*found[0]))


def _measured(positive: NDArray[np.bool_], scores: NDArray[np.float64], threshold: float) -> list[float]:
    return [100 * f1_score(positive, scores >= threshold), 100 * average_precision_score(positive, scores)]


def main() -> None:
    arguments = _arguments()
    project = tomllib.loads(arguments.project.read_text(encoding="utf-8"))
    encoders = {encoder["name"]: encoder for encoder in project["encoders"]}
    project["encoders"] = [encoders[name] for name in dict.fromkeys(TRAININGS[name][0] for name in arguments.names)]
    data = arguments.data.resolve()
    for corpus in project["corpora"]:
        corpus["files"] = {split: str(data / name) for split, name in corpus["files"].items()}
    with working_folder(arguments.work) as folder:
        file = folder / "facetflow.toml"
        file.write_text(as_toml(project), encoding="utf-8")
        facetflow(file, ["build"])
        _show(folder, encoders, arguments)


def _show(folder: Path, encoders: dict[str, Any], given: argparse.Namespace) -> None:
    print(f"{'':12}{'F1':>14}{'AP':>14}{'seconds':>14}")
    for position, name in enumerate(given.names):
        encoder, training = TRAININGS[name]
        frozen = Frozen(folder, encoders[encoder], training, given.test)
        if not position and frozen.structure is None:
            print(f"{'start model':12}" + "".join(f"{spread([value]):>14}" for value in frozen.start()))
        learnt = [frozen.learn(seed) for seed in range(given.seeds)]
        print(f"{name:12}" + "".join(f"{spread(values):>14}" for values in zip(*learnt, strict=True)), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="an example: examples/paraphrase/msrp.toml")
    parser.add_argument("names", nargs="*", help="all four by default")
    parser.add_argument("--data", type=Path, default=Path(), help="folder with the files that the project names")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--test", type=int, help="number of test pairs, at most; all by default")
    parser.add_argument("--work", type=Path, help="folder that is kept; a temporary one by default")
    given = parser.parse_intermixed_args()  # names may follow the options
    given.names = given.names or list(TRAININGS)
    if unknown := [name for name in given.names if name not in TRAININGS]:
        parser.error(f"there is no {unknown[0]!r}; there are: {', '.join(TRAININGS)}")
    return given


if __name__ == "__main__":
    main()
