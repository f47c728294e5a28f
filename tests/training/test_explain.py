"""Explanations: the facets of a pair, read off its embeddings, and the command that prints them."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from features.errors import InputError, ModelError
from flows.command_line import cli
from training.explain import explain, explain_embeddings
from training.facets import Facet, FacetLayout, plan_layout
from training.jobs import Source, TrainingJob
from training.s3bert.data import MeasuredPairs
from training.s3bert.train import train
from training.settings import TrainingSettings


@pytest.fixture(scope="module")
def encoder(tmp_path_factory, tiny_encoder, table_of_pairs):
    folder = tmp_path_factory.mktemp("project") / "runs" / "one"
    folder.mkdir(parents=True)
    MeasuredPairs.from_table(table_of_pairs, source={}).export(folder / "all.parquet")
    settings = TrainingSettings(
        backbone=str(tiny_encoder), facet_dimensions=2, layers_tuned=1, batch_size=8, epochs=1, threads=1
    )
    return train(TrainingJob(source=Source(pairs=folder / "all.parquet"), training=settings, output=folder))


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
        assert reading.prediction == pytest.approx(facet.offset + facet.slope * expected, abs=1e-5)
        assert 0 <= reading.standing <= 1


def test_the_same_sentence_twice_agrees_in_everything(encoder):
    (found,) = explain(encoder, [("the cat sleeps", "the cat sleeps")])
    assert found.similarity == pytest.approx(1, abs=1e-5)
    assert all(reading.similarity == pytest.approx(1, abs=1e-5) for reading in found.facets)


def test_many_pairs_come_back_in_order(encoder):
    pairs = [("a cat", "a dog"), ("two man", "no man"), ("a cat", "a dog")]
    found = explain(encoder, pairs)
    assert [(e.sentence_a, e.sentence_b) for e in found] == pairs
    assert found[0].similarity == pytest.approx(found[2].similarity)
    assert explain(encoder, []) == []


def test_the_highest_and_the_lowest_facet_are_those_that_are_least_usual():
    layout = FacetLayout(
        dimension=6,
        facets=(
            Facet(name="agrees", start=0, stop=2, usual=(0.98, 0.99, 1.0)),
            Facet(name="middle", start=2, stop=4, usual=(-1.0, 0.0, 1.0)),
            Facet(name="varies", start=4, stop=6, usual=(-1.0, -0.5, 0.0)),
        ),
    )
    left = np.array([[1, 0, 1, 0, 1, 0]], np.float32)
    right = np.array([[1, 0.2, 0, 1, 0, 1]], np.float32)
    (found,) = explain_embeddings([("a", "b")], left, right, layout)
    assert {reading.name: reading.mark for reading in found.facets} == {
        "agrees": "lowest",  # a cosine of 0.98, but hardly any pair has less
        "middle": "",
        "varies": "highest",  # a cosine of 0, but hardly any pair has more
    }
    assert found.residual is None


def test_without_usual_values_predictions_are_compared():
    layout = plan_layout(["a", "b"], width=1, dimension=2)
    (found,) = explain_embeddings([("x", "y")], np.array([[1, 1]]), np.array([[-1, 1]]), layout)
    assert [reading.mark for reading in found.facets] == ["lowest", "highest"]
    assert [reading.standing for reading in found.facets] == [None, None]


def test_equal_facets_are_not_marked():
    layout = plan_layout(["a", "b"], width=1, dimension=2)
    (found,) = explain_embeddings([("x", "x")], np.array([[1, 1]]), np.array([[1, 1]]), layout)
    assert [reading.mark for reading in found.facets] == ["", ""]


def test_an_empty_sentence_is_an_error(encoder):
    with pytest.raises(InputError, match="pair 2"):
        explain(encoder, [("a cat", "a dog"), ("a cat", " ")])


def test_a_plain_encoder_cannot_explain(tiny_encoder):
    with pytest.raises(ModelError, match="no encoder with facets"):
        explain(tiny_encoder, [("a cat", "a dog")])


class TestCommand:
    """`facetflow explain`."""

    def run(self, *arguments):
        return CliRunner().invoke(cli, ["explain", *map(str, arguments)], catch_exceptions=False)

    def test_two_sentences_become_a_table(self, encoder):
        done = self.run("two cat sleeps", "a cat runs", "--model", encoder)
        assert done.exit_code == 0
        assert "two cat sleeps" in done.stdout
        for word in ("quantifiers", "max_outdegree", "residual", "highest", "lowest", "standing"):
            assert word in done.stdout

    def test_json_has_everything(self, encoder):
        done = self.run("two cat sleeps", "a cat runs", "--model", encoder, "--json")
        found = json.loads(done.stdout)
        assert found["sentence_b"] == "a cat runs"
        assert len(found["facets"]) == 15
        assert sorted(facet["mark"] for facet in found["facets"])[-2:] == ["highest", "lowest"]

    def test_a_table_of_pairs_is_explained_line_by_line(self, encoder, tmp_path):
        (tmp_path / "pairs.tsv").write_text("sentence_a\tsentence_b\na cat\ta dog\ntwo man\tno man\n")
        done = self.run("--pairs", tmp_path / "pairs.tsv", "--model", encoder, "--json")
        assert [json.loads(line)["sentence_a"] for line in done.stdout.splitlines()] == ["a cat", "two man"]

    @pytest.mark.parametrize("sentences", [(), ("one",), ("one", "two", "three")])
    def test_anything_but_two_sentences_is_a_usage_error(self, encoder, sentences):
        done = self.run(*sentences, "--model", encoder)
        assert done.exit_code == 2
        assert "give two sentences in quotes" in done.stderr

    def test_the_latest_encoder_of_the_project_is_the_default(self, encoder):
        project = encoder.parents[2] / "facetflow.toml"
        project.write_text(
            'name = "p"\nruns = "runs"\n[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "x.tsv" }\n'
        )
        done = CliRunner().invoke(
            cli, ["--project", str(project), "explain", "a cat", "a dog", "--json"], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["sentence_a"] == "a cat"
