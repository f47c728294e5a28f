import itertools
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from features.parsers.srl.viterbi import Constraints

LABELS = ("O", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1", "B-ARGM-TMP", "I-ARGM-TMP")
CORE = (1, 3)


def best_by_trying(scores: np.ndarray, *, unique: bool) -> float:
    """Return the score of the best tag sequence, by exhaustive search."""
    best = -np.inf
    for path in itertools.product(range(len(LABELS)), repeat=len(scores)):
        formed = all(
            not LABELS[tag].startswith("I") or (position and path[position - 1] in (tag, tag - 1))
            for position, tag in enumerate(path)
        )
        counts = Counter(path)
        if formed and not (unique and any(counts[tag] > 1 for tag in CORE)):
            best = max(best, float(scores[np.arange(len(path)), list(path)].sum()))
    return best


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_no_core_role_has_two_spans_and_the_path_is_near_the_best(seed: int, length: int) -> None:
    random = np.random.default_rng(seed)
    scores = np.log(random.dirichlet(np.full(len(LABELS), 0.5), length) + 1e-6).astype(np.float32)
    constraints = Constraints(LABELS, exact=True)
    first = constraints.decode(scores[None], [length])[0]
    path = constraints.unique(first, scores)
    assert all(Counter(path.tolist())[tag] <= 1 for tag in CORE)
    found = float(scores[np.arange(length), path].sum())
    best = best_by_trying(scores, unique=True)
    assert found <= best + 1e-3
    if all(Counter(first.tolist())[tag] <= 1 for tag in CORE):
        assert path.tolist() == first.tolist()
        assert np.isclose(found, best_by_trying(scores, unique=False), atol=1e-3)


def test_the_surer_span_keeps_the_role_and_the_other_gets_the_next_best() -> None:
    scores = np.log(np.full((3, len(LABELS)), 1e-3)).astype(np.float32)
    scores[0, 1], scores[0, 3] = np.log(0.5), np.log(0.4)
    scores[1, 0] = np.log(0.9)
    scores[2, 1] = np.log(0.9)
    constraints = Constraints(LABELS, exact=True)
    first = constraints.decode(scores[None], [3])[0]
    assert [LABELS[tag] for tag in first] == ["B-ARG0", "O", "B-ARG0"]
    path = constraints.unique(first, scores)
    assert [LABELS[tag] for tag in path] == ["B-ARG1", "O", "B-ARG0"]


def test_modifiers_may_come_twice() -> None:
    scores = np.log(np.full((3, len(LABELS)), 1e-3)).astype(np.float32)
    scores[[0, 2], 5] = scores[1, 0] = 0
    constraints = Constraints(LABELS, exact=True)
    first = constraints.decode(scores[None], [3])[0]
    assert constraints.unique(first, scores).tolist() == first.tolist() == [5, 0, 5]
