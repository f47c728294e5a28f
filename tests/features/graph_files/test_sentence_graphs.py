"""Graphs of single sentences: from files, and pairs that have them."""

from types import SimpleNamespace

import numpy as np
import pytest
from sentences import refused

from features.core.errors import ModelError
from features.core.faults import FileMissing
from features.graph_files.sentence_graphs import find_graphs, graphs_in_files, label_vectors, measured_pairs
from features.graphs.graph import decode
from features.metrics.label_vectors import LabelVectors
from features.parsers.settings import LabelVectorSettings

SLEEP = "(s / sleep-01 :ARG0 (b / boy))"


@pytest.fixture
def graphs(tmp_path):
    path = tmp_path / "graphs.amr"
    path.write_text(
        f"# ::snt A boy  sleeps.\n{SLEEP}\n\n# ::snt A boy sleeps.\n(b / boy)\n\n# ::snt It rains.\n(r / rain-01\n\n"
    )
    return path


def test_the_first_good_graph_of_a_sentence_is_found_whatever_its_blanks_are(graphs):
    assert graphs_in_files(["A boy sleeps.", "It rains.", "Unseen."], [graphs]) == {"A boy sleeps.": decode(SLEEP)}


def test_files_come_first_and_a_missing_one_is_told(graphs, tmp_path):
    found, origin, _ = find_graphs(["A boy sleeps."], [graphs], tmp_path / "no store")
    assert (list(found), origin) == (["A boy sleeps."], "graphs.amr")
    with refused(FileMissing):
        find_graphs(["A boy sleeps."], [tmp_path / "none.amr"], None)


def test_without_file_store_and_parser_there_is_none(tmp_path, monkeypatch):
    def no_parser(_):
        raise ModelError("no parser")

    monkeypatch.setattr("features.graph_files.sentence_graphs.parsed_graphs", no_parser)
    found, origin, _ = find_graphs(["A boy sleeps."], [], tmp_path / "no store")
    assert found == {}
    assert origin.startswith("no graph file was given")
    assert origin.endswith(", the store has none, and the parser does not run: no parser")
    assert "store" not in find_graphs(["A boy sleeps."], [], None)[1]


def test_a_store_that_lacks_one_of_the_sentences_gives_none(tmp_path, monkeypatch):
    parsed = dict.fromkeys(["A boy sleeps.", "It rains."], decode("(b / boy)"))
    stored = {"A boy sleeps.": decode(SLEEP)}
    module = "features.graph_files.sentence_graphs"
    monkeypatch.setattr(f"{module}.StoredGraphs", lambda _: SimpleNamespace(find=lambda _: stored))
    monkeypatch.setattr(f"{module}.parsed_graphs", lambda _: (parsed, {}))
    assert find_graphs(["A boy sleeps."], [], tmp_path) == (stored, "the store", {})
    assert find_graphs([*parsed], [], tmp_path) == (parsed, "the embedded parser", {})


def test_vectors_of_labels_or_none_without_their_model(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("sleep 1 0\nboy 0 1\n")
    vectors = label_vectors([decode(SLEEP)], LabelVectorSettings(backend="glove", file=words))
    assert isinstance(vectors, LabelVectors)
    np.testing.assert_allclose(vectors.of_labels(["sleep-01", "boy"]), np.eye(2), atol=1e-6)
    assert label_vectors([decode(SLEEP)], LabelVectorSettings(model=str(tmp_path / "none"))) is None


def test_pairs_need_both_graphs(graphs):
    *without, (pair, origin) = measured_pairs(
        [("A boy sleeps.", "It rains."), ("It rains.", "A boy sleeps."), ("A boy sleeps.", "A boy sleeps.")],
        [graphs],
        settings=LabelVectorSettings(model=str(graphs)),
    )
    assert without == [(None, "this pair has none (graphs.amr), so nothing is measured")] * 2
    assert (pair.left, pair.right, origin) == (decode(SLEEP), decode(SLEEP), "graphs.amr")


def test_a_pair_that_the_parser_rejects_says_why():
    (_, found), (_, lacks), (_, long) = measured_pairs(
        [("A boy sleeps.", "It rains."), ("A boy sleeps.", "狗在叫。"), ("so " * 512 + "so", "It rains.")]
    )
    assert (found, "Latin" in lacks, "513 words" in long) == ("the embedded parser", True, True)
