"""Outputs of frozen layers in files: an unnamed file, or one that several trainings share.

    training of seed 0 ── computes them ── <digest>.states ──┬── seed 1 takes them
                                                             └── the twin, which has the same sentences, too

They depend on the backbone, the layers below the cut, the word pieces and how they are computed. The digest covers all
of these, so a training reads exactly what it would have computed, to the last bit. The folder belongs to the training
command and is deleted with it.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import numpy as np
import torch
from torch import Tensor

from features.core.leftovers import held_file
from training.progress import log


@dataclass(frozen=True, slots=True)
class SharedStates:
    """Outputs of frozen layers that trainings share."""

    folder: Path  # folder of the files
    backbone: str  # digest of the files of the start model

    def find_or_make(
        self,
        words: str,
        layers: int,
        *,
        shape: tuple[int, int],
        precision: torch.dtype,
        at_most: float,
        compute: Callable[[Tensor], None],
    ) -> Tensor | None:
        """Return the outputs of the frozen layers, (n_tokens, d), from a file, or compute and save them.

        The digest `words` is that of the word pieces of all sentences. All files have `at_most` bytes: the oldest are
        removed to make room. None if the outputs are too large, or the disk is full.
        """
        size = size_of(shape, precision)
        if size > at_most:
            return None
        # Sums are divided among threads, so rounding depends on their number.
        by = (self.backbone, words, layers, str(precision), torch.__version__, torch.get_num_threads())
        file = self.folder / f"{hashlib.sha256(repr(by).encode()).hexdigest()}.states"
        try:
            if file.exists():
                states = _mapped(file, shape, precision, mode="c")
                log.info("reusing the outputs of the frozen layers from an earlier training of this command")
                return states
            with held_file(file.with_suffix(f".{os.getpid()}")) as made:
                self._remove_oldest(at_most - size)
                os.posix_fallocate(made.fileno(), 0, size)
                states = _mapped(Path(made.name), shape, precision)
                compute(states)
                Path(made.name).replace(file)
                log.info("the outputs of the frozen layers are kept, also for later trainings of this command")
        except OSError as error:
            log.debug("no room for shared outputs of the frozen layers: %s", error)
            return None
        return states

    def _remove_oldest(self, at_most: float) -> None:
        """Remove files until the rest has at most this many bytes; a process that has one open can still read it."""
        files = sorted((file.stat().st_mtime_ns, file.stat().st_size, file) for file in self.folder.glob("*.states"))
        left = sum(size for _, size, _ in files)
        for _, size, file in files:
            if left <= at_most:
                break
            file.unlink(missing_ok=True)
            left -= size


def size_of(shape: tuple[int, int], precision: torch.dtype) -> int:
    """Return the bytes of a tensor."""
    return shape[0] * shape[1] * torch.finfo(precision).bits // 8


def unnamed_file(shape: tuple[int, int], precision: torch.dtype) -> Tensor:
    """Return a tensor in a temporary file that disappears with this process, however it ends."""
    with tempfile.TemporaryFile() as file:  # unnamed, so the system frees it
        os.posix_fallocate(file.fileno(), 0, size_of(shape, precision))  # a full disk is an error here, a crash later
        return _mapped(file, shape, precision)


def _mapped(
    file: Path | IO[bytes], shape: tuple[int, int], precision: torch.dtype, mode: Literal["r+", "c"] = "r+"
) -> Tensor:
    bits = np.memmap(file, dtype=np.uint16 if precision == torch.bfloat16 else np.uint32, mode=mode, shape=shape)
    return torch.from_numpy(bits).view(precision)
