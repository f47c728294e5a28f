"""Searching texts from Python: results, several queries, refused input."""

import numpy as np
import pytest
from sentences import refused

import facetflow
from features.core.faults import EmptyText, NotTexts, UnknownName, WrongRoute, WrongValue

TEXTS = ["A cat sleeps.", "Two dogs bark.", "Prices fall.", "A kitten naps."]


@pytest.fixture(scope="module")
def index(project):
    return facetflow.TextIndex(TEXTS, project / "runs" / "s3bert" / "current")


def test_what_is_found_has_its_rank_place_and_similarity(index):
    first, second = index.search("A sleeping cat", k=2)
    assert (first.rank, first.text, first.position) == (1, "A cat sleeps.", 0)
    assert (second.rank, second.text) == (2, "A kitten naps.")
    assert 1 >= first.similarity > second.similarity
    assert facetflow.search("A sleeping cat", TEXTS, index.encoder, k=2)[0].text == first.text


def test_several_queries_give_as_many_lists_and_few_texts_are_all_found(index):
    found = index.search(["A sleeping cat", "The market"], k=99)
    assert [len(of) for of in found] == [4, 4]
    assert found[1][0].text == "Prices fall."
    assert index.search([]) == []


def test_texts_are_compared_in_facets(index):
    query, facets = "No cat sleeps.", {"negations": -1, "concepts": 0.5}
    alone = index.encoder.similarity(query, TEXTS, "negations")
    assert [found.position for found in index.search(query, facet="negations")] == np.argsort(-alone).tolist()
    assert index.search(query, facet={"negations": 2.0}) == index.search(query, facet="negations")
    both = (-alone + 0.5 * index.encoder.similarity(query, TEXTS, "concepts")) / 1.5
    first = facetflow.search(query, TEXTS, index.encoder, facet=facets, k=1)[0]
    assert (first.position, first.similarity) == (both.argmax(), pytest.approx(both.max(), abs=1e-5))
    assert index.search(query, facet="sentence") == index.search(query)


def test_no_text_is_its_own_neighbour(index):
    found = index.neighbours(k=1)
    assert found[0][0].position == 3
    assert all(of[0].position != place for place, of in enumerate(found))


def test_no_cosine_is_above_1_where_rounding_makes_vectors_longer(encoder_model):
    index = facetflow.TextIndex(TEXTS, encoder_model)
    index.vectors = index.vectors * np.float32(1.00001)
    assert [found[0].similarity for found in index.search(TEXTS, k=1)] == [1.0] * len(TEXTS)


def test_with_a_folder_of_runs_a_text_is_embedded_once(index, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    first = facetflow.TextIndex(TEXTS, index.encoder, runs=tmp_path)
    embedded = []
    encode = index.encoder.model.encode
    monkeypatch.setattr(
        index.encoder.model, "encode", lambda texts, **by: embedded.extend(texts) or encode(texts, **by)
    )
    second = facetflow.TextIndex([*TEXTS, "It rains."], index.encoder, runs=f"~/{tmp_path.name}")
    assert embedded == ["It rains."]
    assert (second.vectors[:4] == first.vectors).all()


def test_it_says_what_it_is(index):
    assert len(index) == 4
    assert index.vectors.shape == (4, 384)
    assert repr(index).startswith("<index of 4 texts, by <encoder ")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda index: index.search(" "), EmptyText),
        (lambda index: index.search([3]), NotTexts),
        (lambda index: index.search("a", k=0), WrongValue),
        (lambda index: index.neighbours(k=-1), WrongValue),
        (lambda index: index.search("a", k=2.5), WrongValue),
        (lambda index: facetflow.search("a", TEXTS, index.encoder, k="2"), WrongValue),
        (lambda index: index.search("a", facet="negation"), UnknownName),
        (lambda index: index.search("a", facet={"srl": float("nan")}), WrongValue),
        (lambda index: index.search("a", facet={"srl": 0}), WrongValue),
        (lambda index: facetflow.TextIndex(["a", None], index.encoder), NotTexts),
        (lambda index: facetflow.TextIndex([], index.encoder), EmptyText),
        (lambda index: facetflow.TextIndex(["a"], index.encoder, aspect="country"), WrongRoute),
    ],
    ids=[
        "empty query",
        "no string",
        "no k",
        "negative k",
        "half k",
        "k as text",
        "no facet",
        "weight",
        "no weight",
        "no text",
        "no texts",
        "aspect",
    ],
)
def test_what_cannot_be_searched_is_refused(index, call, error):
    with refused(error):
        call(index)
