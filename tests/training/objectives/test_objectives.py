"""The objectives against their formulas, rewritten in numpy, and their gradients against finite differences."""

import numpy as np
import pytest
import torch

from training.encoders.s3bert.facets import plan_layout
from training.objectives import DecompositionObjective, consistency_loss, ordering_loss

B, K, H, D = 5, 3, 4, 15


@pytest.fixture
def batch():
    random = np.random.default_rng(3)
    left, right, teacher_left, teacher_right = random.standard_normal((4, B, D))
    return left, right, teacher_left, teacher_right, random.random((B, K)), random.random(K) + 0.5


def placed(left, right):
    """Return embeddings of sentences, and the positions of both of each pair."""
    return torch.cat([left, right]), *torch.arange(2 * len(left)).chunk(2)


def cosine(u, v):
    return float(u @ v / np.sqrt(u @ u) / np.sqrt(v @ v))


def numpy_decomposition(left, right, metrics, scales, weights, similarity):
    """Eq. 3, term by term."""
    total = 0.0
    for i in range(B):
        for k in range(K):
            u, v = left[i, k * H : (k + 1) * H], right[i, k * H : (k + 1) * H]
            found = cosine(u, v) if similarity == "cosine" else 1 - np.abs(u - v).sum()
            total += weights[k] * (metrics[i, k] - scales[k] * found) ** 2 / K
    return total / B


def numpy_consistency(left, right, teacher_left, teacher_right):
    """The second sum of Eq. 4, term by term."""
    terms = [
        (cosine(teacher_left[i], teacher_right[j]) - cosine(left[i], right[j])) ** 2 for i in range(B) for j in range(B)
    ]
    return sum(terms) / B**2


@pytest.mark.parametrize("similarity", ["cosine", "manhattan"])
def test_decomposition_is_equation_3(batch, similarity):
    left, right, _, _, metrics, scales = batch
    weights = [0.5, 1.0, 1.5]
    layout = plan_layout(["a", "b", "c"], width=H, dimension=D, similarity=similarity)
    objective = DecompositionObjective(layout.membership(), similarity, weights).double()
    with torch.no_grad():
        objective.scales.copy_(torch.from_numpy(scales))
    found = objective(*placed(*map(torch.from_numpy, (left, right))), torch.from_numpy(metrics))
    assert found.item() == pytest.approx(numpy_decomposition(left, right, metrics, scales, weights, similarity))


def test_without_weights_facets_count_equally(batch):
    left, right, _, _, metrics, _ = batch
    objective = DecompositionObjective(plan_layout(["a", "b", "c"], width=H, dimension=D).membership()).double()
    found = objective(*placed(*map(torch.from_numpy, (left, right))), torch.from_numpy(metrics))
    assert found.item() == pytest.approx(numpy_decomposition(left, right, metrics, np.ones(K), np.ones(K), "cosine"))


def test_consistency_is_the_second_sum_of_equation_4(batch):
    left, right, teacher_left, teacher_right, _, _ = batch
    found = consistency_loss(*map(torch.from_numpy, (left, right, teacher_left, teacher_right)))
    assert found.item() == pytest.approx(numpy_consistency(left, right, teacher_left, teacher_right))


def test_an_unchanged_encoder_is_consistent_with_itself(batch):
    left, right = (torch.from_numpy(half) for half in batch[:2])
    assert consistency_loss(left, right, left, right).item() == pytest.approx(0)


@pytest.mark.parametrize("similarity", ["cosine", "manhattan"])
def test_gradients_of_decomposition_are_those_of_its_differences(batch, similarity):
    left, right, _, _, metrics, _ = (torch.from_numpy(array) for array in batch)
    objective = DecompositionObjective(plan_layout(["a", "b", "c"], width=H, dimension=D).membership(), similarity)
    objective = objective.double()

    def loss(u, v, scales):
        return torch.func.functional_call(objective, {"scales": scales}, (*placed(u, v), metrics))

    scales = torch.rand(K, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(loss, (left.requires_grad_(), right.requires_grad_(), scales))


def test_gradients_of_consistency_are_those_of_its_differences(batch):
    left, right, teacher_left, teacher_right = (torch.from_numpy(array) for array in batch[:4])
    assert torch.autograd.gradcheck(
        lambda u, v: consistency_loss(u, v, teacher_left, teacher_right),
        (left.requires_grad_(), right.requires_grad_()),
    )


def test_the_teacher_gets_no_gradient(batch):
    left, right, teacher_left, teacher_right = (torch.from_numpy(array).requires_grad_() for array in batch[:4])
    consistency_loss(left, right, teacher_left, teacher_right).backward()
    assert left.grad is not None
    assert teacher_left.grad is None
    assert teacher_right.grad is None


def test_the_residual_has_no_part_in_decomposition(batch):
    left, right, _, _, metrics, _ = (torch.from_numpy(array) for array in batch)
    DecompositionObjective(plan_layout(["a", "b", "c"], width=H, dimension=D).membership()).double()(
        *placed(left.requires_grad_(), right), metrics
    ).backward()
    assert left.grad is not None
    assert left.grad[:, K * H :].abs().max() == 0
    assert left.grad[:, : K * H].abs().min() > 0


def test_a_facet_of_zeros_gives_no_nan():
    objective = DecompositionObjective(plan_layout(["a"], width=2, dimension=2).membership())
    left = torch.zeros(1, 2, requires_grad=True)
    loss = objective(*placed(left, torch.ones(1, 2)), torch.ones(1, 1))
    loss.backward()
    assert loss.item() == pytest.approx(1)
    assert left.grad is not None
    assert torch.isfinite(left.grad).all()


def test_ordering_is_its_formula():
    random = np.random.default_rng(5)
    similar, metrics = random.standard_normal((B, K)), random.integers(0, 3, (B, K)) / 2
    first, second = (
        np.array([0, 0, 3, 4, 7]),
        np.array([1, 2, 1, 5, 4]),
    )  # 0 and 1 share 0, 0 and 2 share 1, 3 and 4 share 4
    terms = [[] for _ in range(K)]
    for i, j in [(0, 1), (0, 2), (3, 4)]:
        for k in range(K):
            high, low = (i, j) if metrics[i, k] > metrics[j, k] else (j, i)
            if metrics[i, k] != metrics[j, k]:
                terms[k].append(np.log1p(np.exp(-(similar[high, k] - similar[low, k]) / 0.1)))
    expected = sum(np.mean(each) for each in terms if each) / K
    loss = ordering_loss(*map(torch.from_numpy, (similar, metrics, first, second)), temperature=0.1)
    assert loss.item() == pytest.approx(expected)


def test_nothing_is_ordered_where_no_sentence_is_shared():
    values, first = torch.rand(B, K, requires_grad=True), torch.arange(B)
    loss = ordering_loss(values, torch.rand(B, K), first, first + B)
    loss.backward()
    assert loss.item() == 0
    assert not values.grad.any()
