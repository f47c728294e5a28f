"""Explanations: the facets of a pair, read off its embeddings, and the command that prints them."""

import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sentences import refused

from features.core.faults import CannotExplain, EmptyText, EncoderDamaged
from features.graphs.graph import decode
from features.metrics.explanation.pair import explain_graphs
from training.encoders.input_length import count_cut, longest_input
from training.encoders.loading import load_encoder
from training.encoders.s3bert.calibration import Reliability
from training.encoders.s3bert.explain import Explanation, explain_embeddings, explain_with, with_graphs, with_measured
from training.encoders.s3bert.facet_reading import FacetReading
from training.encoders.s3bert.facets import Facet, FacetLayout, plan_layout


@pytest.fixture(scope="module")
def encoder(trained_run):
    return trained_run / "encoder"


def explain(folder, pairs):
    layout = FacetLayout.load(folder)
    return explain_with(load_encoder(folder), layout, pairs)


def test_an_explanation_is_read_off_the_embeddings(encoder):
    from sentence_transformers import SentenceTransformer

    (found,) = explain(encoder, [("two  cat sleeps", "a cat runs")])
    assert (found.sentence_a, found.sentence_b) == ("two cat sleeps", "a cat runs")
    u, v = SentenceTransformer(str(encoder), device="cpu").encode(["two cat sleeps", "a cat runs"])

    def cosine(left, right):
        return left @ right / np.linalg.norm(left) / np.linalg.norm(right)

    assert found.similarity == pytest.approx(cosine(u, v), abs=1e-5)
    assert found.residual == pytest.approx(cosine(u[30:], v[30:]), abs=1e-5)
    layout = FacetLayout.load(encoder)
    for reading, facet in zip(found.facets, layout.facets, strict=True):
        assert reading.name == facet.name
        expected = cosine(u[facet.start : facet.stop], v[facet.start : facet.stop])
        assert reading.similarity == pytest.approx(expected, abs=1e-5)
        assert reading.prediction == pytest.approx(float(facet.calibration(np.array(expected))), abs=1e-3)
        assert (reading.spearman, reading.reliable) == (facet.reliability.spearman, facet.is_clear)
        assert 0 <= reading.prediction <= 1
        assert 0 <= reading.standing <= 1


def test_an_encoder_whose_weights_are_no_numbers_explains_nothing():
    damaged = SimpleNamespace(encode=lambda texts, **_: np.full((len(texts), 2), np.nan, np.float32))
    with refused(EncoderDamaged):
        explain_with(damaged, plan_layout(["a"], width=1, dimension=2), [("two cats look", "a cat looks")])


def test_the_same_sentence_twice_agrees_in_everything(encoder):
    (found,) = explain(encoder, [("the cat sleeps", "the cat sleeps")])
    assert found.similarity == pytest.approx(1, abs=1e-5)
    assert all(reading.similarity == pytest.approx(1, abs=1e-5) for reading in found.facets)
    assert [reading.prediction for reading in found.facets] == [1] * 15
    assert found.equal
    assert found.headline == "The two sentences are equal."


def test_no_similarity_is_above_1():
    vectors = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
    found = explain_embeddings([("a", "a")] * 50, vectors, vectors, plan_layout(["a", "b"], width=3, dimension=8))
    assert max(n for each in found for n in (each.similarity, each.residual, *(f.similarity for f in each.facets))) == 1


def test_many_pairs_come_back_in_order(encoder):
    pairs = [("a cat", "a dog"), ("two man", "no man"), ("a cat", "a dog")]
    found = explain(encoder, pairs)
    assert [(e.sentence_a, e.sentence_b) for e in found] == pairs
    assert found[0].similarity == pytest.approx(found[2].similarity)
    assert explain(encoder, []) == []


CLEAR = Reliability(pairs=100, spearman=0.5, low=0.3, high=0.6)


def test_without_graphs_the_highest_and_the_lowest_facet_are_those_that_are_least_usual():
    layout = FacetLayout(
        dimension=8,
        facets=(
            Facet(name="agrees", start=0, stop=2, usual=(0.98, 0.99, 1.0), reliability=CLEAR),
            Facet(name="middle", start=2, stop=4, usual=(-1.0, 0.0, 1.0), reliability=CLEAR),
            Facet(name="varies", start=4, stop=6, usual=(-1.0, -0.5, 0.0), reliability=CLEAR),
            Facet(name="unclear", start=6, stop=8, usual=(-1.0, -0.5), reliability=Reliability(pairs=9)),
        ),
    )
    left = np.array([[1, 0, 1, 0, 1, 0, 1, 0]], np.float32)
    right = np.array([[1, 0.2, 0, 1, 0, 1, 1, 0]], np.float32)
    (found,) = explain_embeddings([("a", "b")], left, right, layout)
    assert {reading.name: reading.mark for reading in found.facets} == {
        "agrees": "lowest",  # a cosine of 0.98, but hardly any pair has less
        "middle": "",
        "varies": "highest",  # a cosine of 0, but hardly any pair has more
        "unclear": "",  # higher still, but it is not known to follow anything
    }
    assert found.headline == (
        "From the encoder alone, this pair agrees most in varies (more than 100 % of the dev pairs), least in agrees "
        "(more than 3 %)."
    )
    assert found.residual is None


def test_a_facet_without_a_known_reliability_is_never_marked():
    layout = plan_layout(["a", "b"], width=1, dimension=2)
    (found,) = explain_embeddings([("x", "y")], np.array([[1, 1]]), np.array([[-1, 1]]), layout)
    assert [(reading.mark, reading.standing, reading.prediction) for reading in found.facets] == [("", None, None)] * 2
    assert found.headline == (
        "How closely the facets of this encoder follow their metrics is unknown, so none is named here."
    )


def test_an_encoder_whose_facets_are_all_unclear_names_none():
    unclear = Reliability(pairs=100, spearman=0.1, low=-0.1, high=0.3)
    layout = FacetLayout(dimension=2, facets=(Facet(name="a", start=0, stop=2, reliability=unclear),))
    (found,) = explain_embeddings([("x", "y")], np.array([[1, 1]]), np.array([[-1, 1]]), layout)
    assert found.headline.startswith("No facet of this encoder clearly follows its metric")


def readings(**measured_and_predicted):
    return Explanation(
        "The boy did not eat three apples.", "The boy ate three apples.", 0.9, None,
        tuple(
            FacetReading(name, 0.9, predicted, 0.93, 0.5, (0.3, 0.6), name != "named_entities")
            for name, (_, predicted) in measured_and_predicted.items()
        ),
    )  # fmt: skip


def test_what_was_measured_decides_the_headline_and_the_encoder_is_contradicted():
    values = {"frames": (1.0, 0.1), "negations": (0.0, 0.8), "smatch": (0.9, 0.8), "named_entities": (0.0, 0.2)}
    found = with_measured(readings(**values), {name: measured for name, (measured, _) in values.items()})
    assert [reading.mark for reading in found.facets] == ["highest", "lowest", "", "lowest"]
    assert [reading.disagrees for reading in found.facets] == [True, True, False, False]
    assert found.headline == (
        "Measured highest in frames (1.00), lowest in negations and named_entities (0.00). The encoder disagrees: "
        "frames 0.10 predicted, 1.00 measured; negations 0.80 predicted, 0.00 measured."
    )


def test_facets_that_all_measure_the_same_do_not_stand_out():
    found = with_measured(readings(frames=(1, 0.9), srl=(1, 0.9)), {"frames": 1.0, "srl": 1.0})
    assert found.headline == "Measured 1.00 in every facet."


def test_a_facet_that_was_not_measured_is_not_said_to_be():
    some = with_measured(readings(frames=(1, 0.9), rhymes=(1, 0.9)), {"frames": 1.0})
    assert some.headline == "Measured 1.00 in every facet that was measured."


def test_what_was_measured_stands_out_although_the_encoder_does_not_know_it():
    values = {"named_entities": 0.0, "frames": 1.0}  # the facet of named_entities is not reliable
    found = with_measured(readings(named_entities=(0, 0.9), frames=(1, 0.9)), values)
    assert [reading.mark for reading in found.facets] == ["lowest", "highest"]
    assert found.headline == "Measured highest in frames (1.00), lowest in named_entities (0.00)."


def test_what_neither_graph_has_does_not_stand_out():
    graphs = [decode("(c / chase-01 :ARG0 (d / dog) :ARG1 (t / cat))"), decode("(c / chase-01 :ARG1 (d / dog))")]
    (pair,) = explain_graphs([tuple(graphs)])
    found = with_graphs(readings(negations=(1, 1.0), frames=(1, 1.0), concepts=(0.8, 0.8)), pair)
    assert [(reading.measured_text, reading.mark) for reading in found.facets] == [
        ("(1.00)", ""), ("1.00", "highest"), ("0.80", "lowest")]  # fmt: skip
    assert found.headline == (
        "Measured highest in frames (1.00), lowest in concepts (0.80). What the words tell does not show in negations."
    )
    # Everything that there is to compare differs.
    apart = with_measured(readings(negations=(1, 1.0), srl=(0, 0.2)), {"negations": 1, "srl": 0}, vacuous=["negations"])
    assert apart.headline == "Measured 0.00 in every facet that finds something to compare."


def test_a_facet_that_does_not_see_what_the_words_tell_is_not_praised():
    city = '(m / meet-03 :ARG0 (i / i) :location (c / city :name (n / name :op1 "{}")))'
    (pair,) = explain_graphs([(decode(city.format("Paris")), decode(city.format("Rome")))])
    values = {"named_entities": (1, 1.0), "frames": (1, 1.0), "smatch": (0.9, 0.9)}
    blank = replace(readings(**values), sentence_a="We met in Paris.", sentence_b="We met in Rome.")
    found = with_graphs(blank, pair)
    assert '"Paris" in a, "Rome" in b' in found.words
    names, frames, smatch = found.facets
    assert (names.measured, names.blind, names.mark) == (1, True, "")
    assert (frames.mark, smatch.mark) == ("highest", "lowest")
    assert found.headline == (
        f"Measured highest in frames (1.00), lowest in smatch ({smatch.measured:.2f}). "
        "What the words tell does not show in named_entities."
    )


def test_what_was_measured_is_named_beside_an_encoder_that_knows_nothing():
    found = with_measured(readings(named_entities=(0, 0.9)), {"named_entities": 0.0})
    assert found.headline == (
        "Measured 0.00 in every facet. No facet of this encoder clearly follows its metric on dev pairs: ignore its "
        "predictions."
    )


def test_sentences_longer_than_the_input_are_counted(encoder):
    model = load_encoder(encoder)
    room = longest_input(model)
    assert count_cut(model, ["cat " * room, "cat " * (room + 1), "a cat"]) == 1
    assert count_cut(model, []) == 0


def test_word_vectors_read_all_of_a_text():
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    words = WordEmbeddings(WhitespaceTokenizer(["a", "dog"]), np.eye(2, dtype=np.float32))
    assert count_cut(SentenceTransformer(modules=[words, Pooling(2)], device="cpu"), ["a dog " * 1000]) == 0


def test_words_that_the_encoder_does_not_know_are_noted(encoder):
    known, odd = explain(encoder, [("the cat sleeps", "a cat runs"), ("the cat sleeps", "🎉 cat")])
    assert known.notes == ()
    assert odd.notes == (
        "The encoder does not know 1 of the 2 word pieces of sentence b: unknown ones are all the same.",
    )


def test_graphs_give_the_words(encoder):
    graphs = [decode("(e / eat-01 :polarity - :ARG0 (b / boy))"), decode("(e / eat-01 :ARG0 (b / boy))")]
    (pair,) = explain_graphs([tuple(graphs)])
    found = with_graphs(readings(negations=(0, 1.0), wwlk=(0, 0.5)), pair)
    assert found.words == 'Same frames and roles; only a negates "eat" ("not").'
    assert [difference.facet for difference in found.differences] == ["negations"]
    assert not any(reading.blind for reading in found.facets), "what the words tell shows in negations"
    assert [reading.measured for reading in found.facets] == [0, None]  # there are no label vectors


def test_an_empty_sentence_is_an_error(encoder):
    with refused(EmptyText):
        explain(encoder, [("a cat", "a dog"), ("a cat", " ")])


def test_a_plain_encoder_cannot_explain(tiny_encoder):
    with refused(CannotExplain):
        explain(tiny_encoder, [("a cat", "a dog")])


def test_an_encoder_that_lost_its_weights_is_one_sentence(encoder, tmp_path):
    damaged = shutil.copytree(encoder, tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"")
    with refused(EncoderDamaged):
        explain(damaged, [("a cat", "a dog")])
    (damaged / "model.safetensors").unlink()
    with refused(EncoderDamaged):
        explain(damaged, [("a cat", "a dog")])
