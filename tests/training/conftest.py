"""A tiny encoder with random weights, and measured pairs of its words: enough for every code path of training."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from features.metrics.registry import METRIC_NAMES
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source, TrainingJob
from training.loop.loop import Loop
from training.loop.settings import LoopSettings
from training.process import Interrupted

WORDS = [
    "cat",
    "dog",
    "horse",
    "man",
    "woman",
    "child",
    "sleeps",
    "runs",
    "sees",
    "eats",
    "two",
    "three",
    "a",
    "the",
    "no",
    "not",
    "red",
    "small",
    "in",
    "park",
    "house",
]


def make_tiny_encoder(folder: Path, words: Sequence[str] = WORDS, **sizes: int) -> Path:
    """Write a BERT of three layers, or of other sizes, with random weights as a SentenceTransformer."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import BertConfig, BertModel, BertTokenizerFast

    plain = folder / "plain"
    plain.mkdir(parents=True)
    (plain / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]) + "\n")
    torch.manual_seed(0)
    usual = {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    config = BertConfig(vocab_size=len(words) + 5, **{"max_position_embeddings": 64, **usual, **sizes})
    BertModel(config).save_pretrained(plain)
    BertTokenizerFast(vocab=str(plain / "vocab.txt")).save_pretrained(plain)
    transformer = modules.Transformer(str(plain), max_seq_length=32)
    encoder = SentenceTransformer(
        modules=[transformer, modules.Pooling(config.hidden_size, pooling_mode="mean"), modules.Normalize()],
        device="cpu",
    )
    encoder.save_pretrained(str(folder / "encoder"), create_model_card=False)
    return folder / "encoder"


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a SentenceTransformer with three layers, 48 dimensions and random weights."""
    return make_tiny_encoder(tmp_path_factory.mktemp("tiny"))


def make_pairs(count: int = 60, *, seed: int = 0) -> pl.DataFrame:
    """Return a table of positives with one negative each: train, dev and test, two corpora.

    Metrics are shares of common words, so that there is something to learn; named_entities is constant.
    """
    random = np.random.default_rng(seed)

    def sentence() -> str:
        return " ".join(random.choice(WORDS, size=int(random.integers(2, 9))))

    rows = []
    for number in range(count):
        text = sentence()
        words = text.split()
        similar = " ".join(random.permutation([*words[: max(1, len(words) - 2)], str(random.choice(WORDS))]))
        split = ("train", "train", "train", "dev", "test")[number % 5]
        for kind, other in (("positive", similar), ("negative", sentence())):
            common = len(set(words) & set(other.split())) / len({*words, *other.split()})
            rows.append(
                {
                    "pair_id": f"{kind[0]}{number}",
                    "corpus": ("left", "right")[number % 2],
                    "split": split,
                    "kind": kind,
                    "positive_id": None if kind == "positive" else f"p{number}",
                    "score": 5 * common if kind == "positive" else None,
                    "text_a": text,
                    "text_b": other,
                    **{name: common ** (1 + k / 5) for k, name in enumerate(METRIC_NAMES)},
                    "named_entities": 1.0,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"positive_id": pl.String, "score": pl.Float64})


@pytest.fixture(scope="session")
def table_of_pairs() -> pl.DataFrame:
    """120 measured pairs as a table."""
    return make_pairs()


@pytest.fixture
def measured(table_of_pairs: pl.DataFrame) -> MeasuredPairs:
    """120 measured pairs."""
    return MeasuredPairs.from_table(table_of_pairs, source={"file": "made up"})


@pytest.fixture
def settings(tiny_encoder: Path) -> S3bertSettings:
    """Settings for a training of seconds: every fifth step is a checkpoint."""
    return S3bertSettings(
        preset="paper",
        backbone=str(tiny_encoder),
        facet_dimensions=2,
        layers_tuned=1,
        loop=LoopSettings(
            batch_size=8,
            epochs=3,
            learning_rate=1e-3,
            evaluate_every=4,
            checkpoint_every=5,
            log_every=2,
            threads=1,
        ),
    )


@pytest.fixture
def job(measured: MeasuredPairs, settings: S3bertSettings, tmp_path: Path) -> "TrainingJob[Source, S3bertSettings]":
    """A training of an S3BERT on these pairs, of 27 steps."""
    measured.export(tmp_path / "pairs.parquet")
    source = Source(pairs=tmp_path / "pairs.parquet")
    return TrainingJob[Source, S3bertSettings](source=source, settings=settings, output=tmp_path / "run")


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path, table_of_pairs: pl.DataFrame) -> Path:
    """Folder of a run in a project's folder: an S3BERT, and its training pairs as all.parquet."""
    from training.encoders.s3bert.train import S3bertJob, train

    folder = tmp_path_factory.mktemp("project") / "runs" / "one"
    folder.mkdir(parents=True)
    MeasuredPairs.from_table(table_of_pairs, source={}).export(folder / "all.parquet")
    settings = S3bertSettings(
        backbone=str(tiny_encoder),
        facet_dimensions=2,
        layers_tuned=1,
        preset="paper",
        loop=LoopSettings(batch_size=8, epochs=2, threads=1),
    )
    train(S3bertJob(source=Source(pairs=folder / "all.parquet"), settings=settings, output=folder))
    return folder


@pytest.fixture(scope="session")
def changed() -> Callable[..., S3bertSettings]:
    """Return settings with some values changed, including those of the loop."""

    def change(settings: S3bertSettings, **changes: Any) -> S3bertSettings:
        loop = {name: changes.pop(name) for name in LoopSettings.model_fields if name in changes}
        return settings.model_copy(update={**changes, "loop": settings.loop.model_copy(update=loop)})

    return change


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return a function that ends a training after a step, as Ctrl-C does, and returns what it says is left.

    The step is one of the first loop of the training, or of a later one.
    """

    def train_until(step: int, train: Callable[[Any], object], job: Any, *, loop: int = 0) -> str:
        run, begun = Loop.run, []

        def stop(reached: int) -> None:
            if (len(begun) - 1, reached) == (loop, step):
                raise Interrupted(signal.SIGINT)

        with monkeypatch.context() as patched:
            patched.setattr(Loop, "run", lambda self: begun.append(1) or run(self, stop))
            with pytest.raises(Interrupted) as interrupted:
                train(job)
        return str(interrupted.value)

    return train_until


@pytest.fixture
def kill_at_a_checkpoint() -> Callable[[str, Path, Path], None]:
    """Return a function that starts a training in a process and kills it once it has written a checkpoint."""

    def start_and_kill(module: str, settings: Path, folder: Path) -> None:
        path = folder / "checkpoint.pt"
        before = path.stat().st_mtime_ns if path.exists() else None
        command = [sys.executable, "-m", module, "--settings", str(settings)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ | {"OMP_NUM_THREADS": "1"}) as process:
            while not path.exists() or path.stat().st_mtime_ns == before:
                assert process.poll() is None, process.stderr.read().decode() if process.stderr else ""
                time.sleep(0.01)
            time.sleep(random.random() / 10)  # at any step after that
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL

    return start_and_kill


@pytest.fixture
def goes_on_after_a_kill(
    job: Callable[..., Any],
    kill_at_a_checkpoint: Callable[..., None],
    told: Callable[..., Any],
    assert_same_weights: Callable[..., None],
    tmp_path: Path,
) -> Callable[..., tuple[Path, Path]]:
    """Return a function that checks that a killed training ends like an undisturbed one, and returns both."""

    def check(train: Callable[[Any], Path], loop: Mapping[str, object]) -> tuple[Path, Path]:
        from training.kinds import read_encoder_job

        whole = train(job(run="whole", loop=loop))
        stopped = job(run="stopped", loop=loop)
        (tmp_path / "job.json").write_text(stopped.model_dump_json())
        assert read_encoder_job(tmp_path / "job.json") == stopped
        kill_at_a_checkpoint("training.train", tmp_path / "job.json", stopped.output)
        assert not (stopped.output / "encoder").exists()

        done = train(stopped)
        assert_same_weights(whole, done)
        assert told(whole)["history"] == told(done)["history"]
        return whole, done

    return check


@pytest.fixture
def embeds_alike_elsewhere() -> Callable[[Path, Path], None]:
    """Return a function that checks that an encoder embeds in another process as its equal does in this one."""
    code = """
import sys
import facetflow
print(" ".join(f"{value:.5f}" for value in facetflow.load_encoder(sys.argv[1], device="cpu").encode(["two cat"])[0]))
"""

    def check(there: Path, here: Path) -> None:
        from training.encoders.loading import load_encoder

        said = subprocess.run(
            [sys.executable, "-c", code, str(there)], capture_output=True, text=True, check=True
        ).stdout
        made = load_encoder(here, device="cpu").encode(["two cat"])[0]
        np.testing.assert_allclose([float(value) for value in said.split()], made, atol=1e-4)

    return check


@pytest.fixture(autouse=True)
def _few_threads():
    """Restore PyTorch's number of threads, which trainings set."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
