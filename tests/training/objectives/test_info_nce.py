"""InfoNCE against its formula and against sentence-transformers' loss of multiple negatives ranking."""

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch.nn.functional import cosine_similarity

from training.objectives import info_nce_loss


@pytest.fixture
def vectors():
    torch.manual_seed(0)
    return torch.randn(4, 6), torch.randn(8, 6)


def test_it_is_the_formula(vectors):
    anchors, candidates = vectors
    masked = torch.zeros(4, 8, dtype=torch.bool)
    masked[1, 3] = masked[2, 7] = True
    expected = 0.0
    for i in range(4):
        scores = {j: cosine_similarity(anchors[i], candidates[j], dim=0) / 0.1 for j in range(8) if not masked[i, j]}
        expected -= scores[i] - torch.logsumexp(torch.stack([*scores.values()]), dim=0)
    torch.testing.assert_close(info_nce_loss(anchors, candidates, masked, 0.1), expected / 4)


def test_with_nothing_masked_it_is_multiple_negatives_ranking(vectors):
    anchors, candidates = vectors
    theirs = MultipleNegativesRankingLoss(torch.nn.Identity(), scale=20)
    expected = theirs.compute_loss_from_embeddings([anchors, *candidates.split(4)], None)
    torch.testing.assert_close(info_nce_loss(anchors, candidates, torch.zeros(4, 8, dtype=torch.bool), 0.05), expected)


def test_what_is_masked_gets_no_gradient(vectors):
    anchors, candidates = (some.requires_grad_() for some in vectors)
    masked = torch.zeros(4, 8, dtype=torch.bool)
    masked[:, 6] = True
    info_nce_loss(anchors, candidates, masked, 0.05).backward()
    assert candidates.grad[6].abs().sum() == 0
    assert candidates.grad[5].abs().sum() > 0
