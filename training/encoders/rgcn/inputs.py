"""All sentences of a training as word pieces and trees, made once, by the function that makes them when it encodes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.data.parses import Parses
from training.encoders.backbone import Tokens
from training.modules.parsing_transformer import ParsingTransformer
from training.modules.trees import HEADS, LABELS, PLACES
from training.progress import Counted

_AT_ONCE = 512  # sentences


class Trees:
    """Trees of many sentences, one after the other.

    Args:
        words: place, head and label of each word (`training.modules.trees`), (n_words, 3), int32.
        starts: where the words of each sentence begin, and the end of the last, (n_texts + 1,), int64.
    """

    def __init__(self, words: Tensor, starts: NDArray[np.int64]) -> None:
        self.words, self.starts = words, starts

    def __call__(self, sentences: NDArray[np.int64]) -> dict[str, Tensor]:
        """Return the trees of some sentences as `tree_tensors` gives them, (n, longest) each, int64."""
        lengths = np.diff(self.starts)[sentences]
        columns = np.arange(int(lengths.max(initial=0)))
        real = torch.from_numpy(columns[None, :] < lengths[:, None])
        found = torch.zeros(*real.shape, 3, dtype=torch.int64)
        places = (self.starts[sentences][:, None] + columns[None, :])[real.numpy()]
        found[real] = self.words[torch.from_numpy(places)].long()
        return {name: found[:, :, part] for part, name in enumerate((PLACES, HEADS, LABELS))}


def read_sentences(
    transformer: ParsingTransformer, texts: Sequence[str], parses: Parses, further: Sequence[str] = ()
) -> tuple[Tokens, Trees]:
    """Return word pieces and trees of sentences.

    Args:
        transformer: of the encoder.
        texts: sentences that are learnt from; one that `parses` does not have has no nodes.
        parses: their trees.
        further: sentences that the model is chosen by; one that `parses` does not have is parsed.
    """
    inputs = [*texts, *further]
    ids: list[NDArray[np.int32]] = []
    words: list[Tensor] = []
    counted = Counted("word pieces and trees", len(inputs), "sentences")
    for start in range(0, len(inputs), _AT_ONCE):
        some = inputs[start : start + _AT_ONCE]
        given = [
            {"text": text, "parse": tree} if tree is not None or start + place < len(texts) else text
            for place, (text, tree) in enumerate(zip(some, parses.find(some), strict=True))
        ]
        features: dict[str, Any] = transformer.preprocess(given)
        real = features["attention_mask"].bool()
        ids += [row[mask].numpy().astype(np.int32) for row, mask in zip(features["input_ids"], real, strict=True)]
        rows = torch.stack([features[name] for name in (PLACES, HEADS, LABELS)], dim=2).int()
        words += [row[row[:, 1] > 0] for row in rows]
        counted.add(len(some))
    return (
        Tokens(np.concatenate(ids), _starts([len(row) for row in ids])),
        Trees(torch.cat(words), _starts([len(row) for row in words])),
    )


def _starts(lengths: Sequence[int]) -> NDArray[np.int64]:
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
