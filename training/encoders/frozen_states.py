"""Outputs of frozen layers in files: one without a name, or one that several trainings share.

    training of seed 0 ── computes them ── <digest>.states ──┬── seed 1 takes them
                                                             └── the twin, which has the same sentences, too

They follow from the backbone, the layers below the cut, the word pieces and how they are computed; the digest is of all
of these, so that a training takes what it would itself have computed, to the last bit. The folder is of the command
that trains and goes with it.
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

from features.leftovers import held_file
from training.progress import log


@dataclass(frozen=True, slots=True)
class SharedStates:
    """Where trainings find the outputs of their frozen layers.

    Args:
        folder: of the files.
        backbone: digest of the files of the start model.
    """

    folder: Path
    backbone: str

    @classmethod
    def of(cls, folder: Path | None, backbone: str) -> "SharedStates | None":
        """Return it where there is a folder."""
        return None if folder is None else cls(folder, backbone)

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
        """Return the outputs of the frozen layers, of the file that an earlier training made, or by making it.

        Args:
            words: digest of the word pieces of all sentences.
            layers: how many are frozen.
            shape: (n_tokens, d).
            precision: that they are kept in.
            at_most: bytes of all files; the oldest make room for a new one.
            compute: writes the outputs into a tensor.

        Returns:
            Outputs, (n_tokens, d); None where they are too many, or the folder has no room.
        """
        size = size_of(shape, precision)
        if size > at_most:
            return None
        file = self.folder / f"{self._digest(words, layers, precision)}.states"
        try:
            if file.exists():
                states = _mapped(file, shape, precision, mode="c")
                log.info("the outputs of the frozen layers are those of an earlier training of this command")
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
        """Remove files until the others have so many bytes; who reads a file that is gone keeps it to the end."""
        found = sorted((file.stat().st_mtime_ns, file.stat().st_size, file) for file in self.folder.glob("*.states"))
        left = sum(size for _, size, _ in found)
        for _, size, file in found:
            if left <= at_most:
                break
            file.unlink(missing_ok=True)
            left -= size

    def _digest(self, words: str, layers: int, precision: torch.dtype) -> str:
        # Threads divide sums among them, which rounds in another way.
        by = (self.backbone, words, layers, str(precision), torch.__version__, torch.get_num_threads())
        return hashlib.sha256(repr(by).encode()).hexdigest()


def size_of(shape: tuple[int, int], precision: torch.dtype) -> int:
    """Return the bytes of a tensor."""
    return shape[0] * shape[1] * torch.finfo(precision).bits // 8


def unnamed_file(shape: tuple[int, int], precision: torch.dtype) -> Tensor:
    """Return a tensor in a file of the folder for temporary files; it goes with this process, however that ends.

    Args:
        shape: of the tensor.
        precision: float32 or bfloat16.

    Raises:
        OSError: there is no room.
    """
    with tempfile.TemporaryFile() as file:  # has no name: the system frees it
        os.posix_fallocate(file.fileno(), 0, size_of(shape, precision))  # a full disk is an error here, a crash later
        return _mapped(file, shape, precision)


def _mapped(
    file: Path | IO[bytes], shape: tuple[int, int], precision: torch.dtype, mode: Literal["r+", "c"] = "r+"
) -> Tensor:
    bits = np.memmap(file, dtype=np.uint16 if precision == torch.bfloat16 else np.uint32, mode=mode, shape=shape)
    return torch.from_numpy(bits).view(precision)
