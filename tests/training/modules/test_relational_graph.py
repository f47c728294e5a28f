"""Relational graph convolution against loops over sentences, words and relations."""

import pytest
import torch

from training.modules.graph_pooling import Graph, RelationalGraphLayer

LABELS = 4
RELATIONS = 2 * LABELS + 1


def make_trees(sentences=5, words=9, seed=0):
    """Return random trees: heads and labels (n_sentences, n_words) from 1, 0 for padding, and which words are nodes."""
    random = torch.Generator().manual_seed(seed)
    heads = torch.zeros(sentences, words, dtype=torch.int64)
    labels = torch.zeros_like(heads)
    for row in range(sentences):
        length = 0 if row == 1 else int(torch.randint(1, words + 1, (1,), generator=random))
        for word in range(length):
            heads[row, word] = 1 if word == 0 else int(torch.randint(1, word + 1, (1,), generator=random))
            labels[row, word] = int(torch.randint(1, LABELS, (1,), generator=random))  # the last label never occurs
    known = heads > 0
    known[0, 0] = False  # a root that was cut off
    return heads, labels, known


def by_loops(layer, states, heads, labels, known):
    """Return the nodes after a layer, (n_nodes, width_out), as the equation says."""
    matrices = layer.matrices if layer.mixture is None else torch.einsum("rb,bio->rio", layer.mixture, layer.matrices)
    place = {}
    for row, word in known.nonzero().tolist():
        place[row, word] = len(place)
    found = []
    for (row, word), own in place.items():
        into = [(own, 0)]
        for other in range(heads.shape[1]):
            if (row, other) not in place or other == word:
                continue
            if heads[row, word] - 1 == other:  # from its head
                into.append((place[row, other], int(2 * labels[row, word] - 1)))
            if heads[row, other] - 1 == word:  # from a child
                into.append((place[row, other], int(2 * labels[row, other])))
        found.append(sum(states[source] @ matrices[relation] for source, relation in into) / len(into))
    return torch.stack(found)


@pytest.mark.parametrize("bases", [None, 3], ids=["full", "bases"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_layer_is_the_sum_over_neighbours_and_so_are_its_gradients(bases, seed):
    torch.manual_seed(seed)
    heads, labels, known = make_trees(seed=seed)
    layer = RelationalGraphLayer(6, 5, RELATIONS, bases).double()
    states = torch.randn(int(known.sum()), 6, dtype=torch.float64, requires_grad=True)
    parameters = [states, *layer.parameters()]
    found = layer(states, Graph.of(heads, labels, known))
    wanted = by_loops(layer, states, heads, labels, known)
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6)
    loss = torch.randn(found.shape, dtype=torch.float64)
    mine = torch.autograd.grad((found * loss).sum(), parameters)
    theirs = torch.autograd.grad((wanted * loss).sum(), parameters)
    for one, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("bases", [None, 3], ids=["full", "bases"])
def test_a_sentence_does_not_depend_on_others_in_its_batch(bases):
    torch.manual_seed(0)
    heads, labels, known = make_trees()
    layer = RelationalGraphLayer(6, 5, RELATIONS, bases)
    states = torch.randn(int(known.sum()), 6)
    together = layer(states, Graph.of(heads, labels, known))
    begin = int(known[:3].sum())
    alone = layer(states[begin : begin + int(known[3].sum())], Graph.of(heads[3:4], labels[3:4], known[3:4]))
    torch.testing.assert_close(together[begin : begin + len(alone)], alone)


def test_a_tree_has_every_edge_in_both_directions_and_every_word_a_loop():
    graph = Graph.of(torch.tensor([[2, 2, 2]]), torch.tensor([[1, 3, 2]]), torch.ones(1, 3, dtype=torch.bool))
    edges = {*zip(graph.sources.tolist(), graph.targets.tolist(), graph.relations.tolist(), strict=True)}
    assert edges == {(1, 0, 1), (0, 1, 2), (1, 2, 3), (2, 1, 4), (0, 0, 0), (1, 1, 0), (2, 2, 0)}
    assert torch.zeros(3).index_add_(0, graph.targets, graph.shares()).tolist() == pytest.approx([1, 1, 1])


@pytest.mark.parametrize("bases", [None, 3], ids=["full", "bases"])
def test_a_batch_without_any_word_is_no_error(bases):
    none = torch.zeros(2, 0, dtype=torch.int64)
    graph = Graph.of(none, none, none.bool())
    layer = RelationalGraphLayer(6, 5, RELATIONS, bases)
    assert layer(torch.zeros(0, 6), graph).shape == (0, 5)


def test_relations_that_do_not_occur_have_no_gradient():
    heads, labels, known = make_trees()
    layer = RelationalGraphLayer(6, 5, RELATIONS, None)
    layer(torch.randn(int(known.sum()), 6), Graph.of(heads, labels, known)).sum().backward()
    used = layer.matrices.grad.abs().sum(dim=(1, 2)) > 0
    assert used[0]
    assert not used[-2:].any()


@pytest.mark.parametrize(
    ("direction", "edges"),
    [("down", {(1, 0, 1), (1, 2, 3)}), ("up", {(0, 1, 2), (2, 1, 4)})],
    ids=["down", "up"],
)
def test_edges_of_one_direction_keep_their_relations_and_every_word_its_loop(direction, edges):
    heads, labels = torch.tensor([[2, 2, 2]]), torch.tensor([[1, 3, 2]])
    graph = Graph.of(heads, labels, torch.ones(1, 3, dtype=torch.bool), direction)
    found = {*zip(graph.sources.tolist(), graph.targets.tolist(), graph.relations.tolist(), strict=True)}
    assert found == edges | {(0, 0, 0), (1, 1, 0), (2, 2, 0)}


@pytest.mark.parametrize("bases", [None, 3], ids=["full", "bases"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_a_layer_runs_under_autocast_on_states_of_either_type(bases, dtype):
    torch.manual_seed(0)
    heads, labels, known = make_trees()
    layer = RelationalGraphLayer(6, 5, RELATIONS, bases)
    graph, states = Graph.of(heads, labels, known), torch.randn(int(known.sum()), 6)
    with torch.autocast("cpu", torch.bfloat16):
        found = layer(states.to(dtype), graph)
    torch.testing.assert_close(found.float(), layer(states, graph), rtol=0.1, atol=0.1)
