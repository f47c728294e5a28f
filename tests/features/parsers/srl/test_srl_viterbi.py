"""The exact decoder against all possible paths; AllenNLP's is compared with AllenNLP in test_srl_parity."""

import itertools

import numpy as np
import pytest

from features.parsers.srl.viterbi import Constraints

LABELS = ("O", "B-A", "I-A", "B-B", "I-B", "I-C")


def well_formed(path: tuple[int, ...]) -> bool:
    tags = ["O", *(LABELS[i] for i in path)]
    return all(not tag.startswith("I-") or before in {tag, f"B{tag[1:]}"} for before, tag in itertools.pairwise(tags))


@pytest.mark.parametrize("seed", range(20))
def test_no_well_formed_path_is_better(seed):
    steps = 1 + seed % 5
    scores = np.log(np.random.default_rng(seed).dirichlet(np.full(len(LABELS), 0.3), (1, steps)) + 1e-9)
    (found,) = Constraints(LABELS, exact=True).decode(scores.astype(np.float32), [steps])
    paths = [path for path in itertools.product(range(len(LABELS)), repeat=steps) if well_formed(path)]
    best = max(paths, key=lambda path: sum(scores[0, i, tag] for i, tag in enumerate(path)))
    assert tuple(found) == best


def test_padding_does_not_count():
    random = np.random.default_rng(0)
    scores = np.log(random.dirichlet(np.full(len(LABELS), 0.3), (6, 9)) + 1e-9).astype(np.float32)
    lengths = [1, 2, 5, 9, 8, 3]
    together = Constraints(LABELS, exact=True).decode(scores, lengths)
    for row, length, path in zip(scores, lengths, together, strict=True):
        (alone,) = Constraints(LABELS, exact=True).decode(row[None, :length], [length])
        assert alone.tolist() == path.tolist()
