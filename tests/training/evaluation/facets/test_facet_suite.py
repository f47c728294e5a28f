"""What the suite of facets reads, and the pairs that it writes and shows."""

from types import SimpleNamespace

import numpy as np
from sentences import refused

from features.core.faults import NoScores
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.facets import plan_layout
from training.evaluation.facets import suite
from training.evaluation.facets.suite import FacetSuite


def test_sb_ilp_is_fitted_on_some_pairs_of_another_split_and_their_sentences_alone(table_of_pairs, monkeypatch):
    data = MeasuredPairs.from_table(table_of_pairs, source={})
    monkeypatch.setattr(suite, "FITTING_PAIRS", 5)
    pairs = suite.fitting_pairs(data, "dev", 3)
    assert pairs is not None
    assert len(pairs) == 5
    assert set(pairs.pairs["split"]) == {"train"}
    assert len(pairs.texts) <= 10
    assert set(pairs.pairs["pair_id"]) != set(suite.fitting_pairs(data, "dev", 4).pairs["pair_id"])
    in_dev = data.pairs.filter(split="dev")["pair_id"]
    single = data.keep(~data.pairs["pair_id"].is_in(in_dev[1:].implode()))
    assert single.by_split["dev"] == 1, "which has no correlation"
    assert set(suite.fitting_pairs(single, "test", 3).pairs["split"]) == {"train"}


def test_pairs_are_written_with_what_a_facet_is_compared_by_and_the_least_similar_are_shown(table_of_pairs, tmp_path):
    data = MeasuredPairs.from_table(table_of_pairs, source={})
    layout = plan_layout(["negations", "smatch"], width=2, dimension=6)
    layout = layout.model_copy(update={"facets": tuple(f.model_copy(update={"slope": 0.5}) for f in layout.facets)})
    subject = SimpleNamespace(job=SimpleNamespace(source=None))
    facets = FacetSuite(subject, layout, data, None, {})
    random = np.random.default_rng(0)
    whole, start, similarities = random.random(len(data)), random.random(len(data)), random.random((len(data), 2))
    facets.items_of_sets.append(facets._pair_table(whole, start, similarities))
    table = facets.items_of_sets[0]
    np.testing.assert_array_equal(table.select("similarity", "start_similarity"), np.stack([whole, start], axis=1))
    predicted = table.select("negations_predicted", "smatch_predicted")
    np.testing.assert_allclose(predicted, layout.scaled(similarities), err_msg="without a calibration")

    table.write_parquet(tmp_path / FacetSuite.file)
    result = {"rows": [{"name": name, "encoder": 0.5} for name in layout.names]}
    _, smatch = FacetSuite.items(tmp_path, result)
    np.testing.assert_array_equal(smatch.predicted, similarities[:, 1])
    np.testing.assert_allclose(smatch.expected, data.metrics(("smatch",))[:, 0])
    assert smatch.groups == data.sides()[0]
    table.drop("smatch_measured").write_parquet(tmp_path / FacetSuite.file)
    with refused(NoScores):
        FacetSuite.items(tmp_path, result)

    vectors = random.standard_normal((2, len(data), 6)).astype(np.float32)
    (example,) = facets._choose_examples(tuple(vectors), whole, similarities)
    row = np.where(whole >= 0.6, similarities[:, 0], 2).argmin()
    assert (example["sentence_a"], example["sentence_b"]) == tuple(side[row] for side in data.sides())


def test_the_encoder_that_comes_with_facetflow_does_not_stand_beside_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "bundled_encoder", tmp_path.resolve)
    (tmp_path / "link").symlink_to(tmp_path)
    assert suite._by_bundled(None, tmp_path / "link") == {}
