"""Word pieces and structure of all sentences of a training, computed once by the same function as in `encode`.

sentences ── StructuredTransformer.preprocess ──┬── Tokens         ids, one sentence after the other
                                                └── Structures     trees or spans, likewise: `Backbone.beside`
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from features.sentences import normalise
from training.data.parses import ParsedSentences
from training.encoders.backbone import Tokens, padded, starts_of
from training.modules.structured_transformer import StructuredTransformer
from training.progress import with_progress

_AT_ONCE = 512  # sentences


class Structures:
    """Tensors of the structure of many sentences, one sentence after the other.

    Keys of tensors of one shape have rows without padding, (n_rows, n_columns), int32, and the start of each sentence's
    rows and the end of the last, (n_texts + 1,), int64.
    """

    def __init__(self, rows: Mapping[tuple[str, ...], tuple[Tensor, NDArray[np.int64]]]) -> None:
        self.rows = rows

    def __call__(self, sentences: NDArray[np.int64]) -> dict[str, Tensor]:
        """Return the tensors of some sentences as `Structure.tensors` gives them, (n, longest), int64."""
        made: dict[str, Tensor] = {}
        for names, (rows, starts) in self.rows.items():
            positions, mask = padded(starts, sentences)
            real = mask.bool()
            tensor = torch.zeros(*real.shape, len(names), dtype=torch.int64)
            tensor[real] = rows[torch.from_numpy(positions)[real]].long()
            made |= {name: tensor[:, :, part] for part, name in enumerate(names)}
        return made

    def counts(self, name: str, sentences: int) -> NDArray[np.int64]:
        """Return the number of rows of a tensor for each of the first sentences, (sentences,)."""
        (starts,) = [starts for names, (_, starts) in self.rows.items() if name in names]
        return np.diff(starts)[:sentences]


def read_sentences(
    transformer: StructuredTransformer, texts: Sequence[str], parses: ParsedSentences, further: Sequence[str] = ()
) -> tuple[Tokens, Structures]:
    """Return word pieces and structure of the sentences to train on, and of further ones that choose the model."""
    inputs = [*texts, *further]
    ids: list[NDArray[np.int32]] = []
    rows: dict[tuple[str, ...], list[Tensor]] = {names: [] for names in transformer.structure.columns}
    parts = [range(len(inputs))[start : start + _AT_ONCE] for start in range(0, len(inputs), _AT_ONCE)]
    for part in with_progress(parts, f"word pieces and {transformer.structure.what}", len(inputs), "sentences"):
        some = [inputs[position] for position in part]
        stored = zip(part, some, parses.find(some), strict=True)
        # A sentence to train on that the parser rejected has no structure, as in the store.
        parsed = {normalise(text): parse for at, text, parse in stored if parse is not None or at < len(texts)}
        transformer.structure.parses.update(parsed)
        features: dict[str, Any] = transformer.preprocess(some)
        real = features["attention_mask"].bool()
        ids += [row[mask].numpy().astype(np.int32) for row, mask in zip(features["input_ids"], real, strict=True)]
        for names, tensors in rows.items():
            table = torch.stack([features[name] for name in names], dim=2).int()
            tensors += [row[row[:, 0] > 0] for row in table]
    made = {names: (torch.cat(tensors), starts_of([len(row) for row in tensors])) for names, tensors in rows.items()}
    return Tokens(np.concatenate(ids), starts_of([len(row) for row in ids])), Structures(made)
