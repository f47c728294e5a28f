"""What the loop gets of an S3BERT: which pairs a loss is of, how losses are weighed, which rate scales have."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from training.encoders.s3bert.data import DrawnPairs
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.task import S3bertPairs, S3bertTask, StartEmbeddings, add_map
from training.loop.settings import LoopSettings
from training.loop.task import Group
from training.objectives import DecompositionObjective, consistency_loss, ordering_loss

FIRST, SECOND = np.array([[0, 1], [3, 4], [0, 2], [3, 5], [1, 2], [0, 3], [1, 4], [2, 5], [4, 5], [0, 5], [1, 3]]).T
TRAIN, DRAWN, ORDERED, DEV = (np.array(pairs) for pairs in ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3], [0, 2, 3], range(6, 11)))


class Table:
    """Six sentences with an embedding each, that are learnt."""

    encodes = True
    device = torch.device("cpu")

    def __init__(self):
        self.vectors = nn.Parameter(torch.randn(6, 6, generator=torch.Generator().manual_seed(0)))
        self.groups = [Group({"vectors": self.vectors})]

    def embed(self, sentences):
        return self.vectors[torch.from_numpy(sentences)]

    def train(self):
        pass

    eval = train


def make(batch_size=4, **given):
    random = np.random.default_rng(0)
    teacher, targets = (torch.from_numpy(random.random(shape, np.float32)) for shape in ((6, 3), (11, 2)))
    drawn = DrawnPairs((DRAWN,), (4,), DRAWN, ORDERED)
    prepared = S3bertPairs(teacher, FIRST, SECOND, targets, TRAIN, drawn, near=TRAIN[5:], dev=DEV)
    usual = {"facets": ("smatch", "srl"), "map_epochs": 0, "alpha": 2.0, "consistency": 3.0}
    settings = S3bertSettings(**usual | given, loop=LoopSettings(batch_size=batch_size, learning_rate=1e-3))
    membership = np.repeat(np.eye(2, dtype=np.float32), [2, 2], axis=0)
    objective = DecompositionObjective(np.concatenate([membership, np.zeros((2, 2), np.float32)]))
    return S3bertTask(Table(), objective, prepared, settings, settings.loop)


def decomposition(task, pairs):
    first, second = (torch.from_numpy(side[pairs]) for side in (FIRST, SECOND))
    return task.decomposition(task.embedder.vectors, first, second, task.prepared.targets[pairs])


def test_a_batch_counts_all_pairs_that_were_measured_among_its_sentences_and_orders_those_of_corpora():
    task = make(ordering=0.5, ordered_facets=("srl",))
    losses = task.losses(batch := np.array([0, 2]))  # of the sentences 0, 1 and 2
    vectors, teacher = task.embedder.vectors, task.prepared.teacher
    torch.testing.assert_close(losses["decomposition"], decomposition(task, [0, 2, 4]))
    left, right = FIRST[batch], SECOND[batch]
    same = consistency_loss(vectors[left], vectors[right], teacher[left], teacher[right])
    torch.testing.assert_close(losses["consistency"], same)
    first, second = map(torch.from_numpy, (left, right))
    similar = task.decomposition.similarities(vectors, first, second)[:, 1:]
    ordered = ordering_loss(similar, task.prepared.targets[batch, 1:], first, second)
    torch.testing.assert_close(losses["ordering"], ordered)
    weighed = 2 * losses["decomposition"] + 3 * losses["consistency"] + 0.5 * losses["ordering"]
    torch.testing.assert_close(losses["loss"], weighed)


def test_the_dev_loss_is_the_mean_over_the_dev_pairs_alone_whatever_the_batches():
    task = make(batch_size=2)
    judged = task.judge()
    assert judged.scores["decomposition"] == pytest.approx(decomposition(task, DEV).item())
    assert judged.scores["loss"] == 2 * judged.scores["decomposition"] + 3 * judged.scores["consistency"]
    assert judged.value == -judged.scores["loss"]


@pytest.mark.parametrize(("rate", "factor"), [(1e-2, 10), (None, 1)])
def test_scales_have_a_rate_of_their_own_do_not_decay_and_are_not_clipped(rate, factor):
    *_, scales = make(scale_learning_rate=rate).groups
    assert (scales.factor, scales.decays, scales.clipped) == (pytest.approx(factor), False, False)


@pytest.mark.parametrize("ordering", [0.0, 1.0])
def test_sentences_that_are_near_meet_in_a_batch_and_only_pairs_of_one_sentence_where_those_are_ordered(ordering):
    batches = {frozenset(batch.tolist()) for epoch in range(9) for batch in make(2, ordering=ordering).batches(epoch)}
    assert batches == {frozenset(pairs) for pairs in (((0, 2), (1, 3)) if ordering else ((0, 1), (2, 3)))}


def test_a_map_learns_from_all_pairs_whatever_is_drawn_for_layers(monkeypatch):
    monkeypatch.setattr(Table, "encodes", False)
    assert sorted(np.concatenate(make(2).batches(0))) == TRAIN.tolist()


def test_new_facets_have_a_tenth_of_the_squared_length_of_the_residual(tiny_encoder):
    model = SentenceTransformer(str(tiny_encoder), device="cpu")
    facets = add_map(model, 40, seed=0).linear.weight[48:]
    assert facets.square().sum().item() / 48 == pytest.approx(0.1, rel=0.15)  # mean over vectors of length 1


@pytest.mark.parametrize(("of", "made"), [("own", [2]), ("other", [0, 1, 2])])
def test_embeddings_of_the_store_are_begun_with_where_they_are_the_start_models_and_the_others_are_made(of, made):
    seen = []

    def embed_many(_, positions):
        seen.extend(positions.tolist())
        return np.ones((len(positions), 1), np.float32)

    backbone = SimpleNamespace(tokenize=list, embed_many=embed_many)
    data = SimpleNamespace(texts=("a", "b"), teacher=np.zeros((2, 1), np.float32), teacher_digest=of)
    start = StartEmbeddings(data, ("c",), backbone, "own")
    assert start.vectors[:, 0].tolist() == [float(text in made) for text in range(3)]
    assert seen == made
