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
from typing import IO, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from features.core.leftovers import beside, held_file, remove_oldest
from training.progress import log


class Form(NamedTuple):
    """The form of outputs, those of all word pieces, in a file."""

    tokens: int  # number of word pieces
    width: int  # dimension of their outputs (d)
    precision: torch.dtype

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.tokens * self.width * torch.finfo(self.precision).bits // 8

    def mapped(self, file: Path | IO[bytes], mode: Literal["r+", "c"] = "r+") -> Tensor:
        """Return the outputs in a file, (n_tokens, d)."""
        number = np.uint16 if self.precision == torch.bfloat16 else np.uint32
        bits = np.memmap(file, dtype=number, mode=mode, shape=(self.tokens, self.width))
        return torch.from_numpy(bits).view(self.precision)


@dataclass(frozen=True, slots=True)
class SharedStates:
    """Outputs of frozen layers that trainings share."""

    folder: Path  # folder of the files
    backbone: str  # digest of the files of the start model

    def find_or_make(
        self, words: str, layers: int, form: Form, at_most: float, compute: Callable[[Tensor], None]
    ) -> Tensor | None:
        """Return the outputs of the frozen layers, (n_tokens, d), from a file, or compute and save them.

        The digest `words` is that of the word pieces of all sentences. All files have `at_most` bytes: the oldest are
        removed to make room. None if the outputs are too large, or the disk is full.
        """
        if form.size > at_most:
            return None
        # Sums are divided among threads, so rounding depends on their number.
        by = (self.backbone, words, layers, str(form.precision), torch.__version__, torch.get_num_threads())
        file = self.folder / f"{hashlib.sha256(repr(by).encode()).hexdigest()}.states"
        try:
            if file.exists():
                states = form.mapped(file, mode="c")
                log.info("reusing the outputs of the frozen layers from an earlier training of this command")
                return states
            with held_file(beside(file)) as made:
                remove_oldest(self.folder.glob("*.states"), at_most - form.size)
                os.posix_fallocate(made.fileno(), 0, form.size)
                states = form.mapped(Path(made.name))
                compute(states)
                Path(made.name).replace(file)
                log.info("the outputs of the frozen layers are kept, also for later trainings of this command")
        except OSError as error:
            log.debug("no room for shared outputs of the frozen layers: %s", error)
            return None
        return states


def unnamed_file(form: Form) -> Tensor:
    """Return room for outputs in a temporary file that disappears with this process, however it ends."""
    with tempfile.TemporaryFile() as file:  # unnamed, so the system frees it
        os.posix_fallocate(file.fileno(), 0, form.size)  # a full disk is an error here, a crash later
        return form.mapped(file)
