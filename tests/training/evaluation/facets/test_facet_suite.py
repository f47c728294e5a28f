"""What the suite of facets reads."""

from training.data.measured_pairs import MeasuredPairs
from training.evaluation.facets import suite


def test_sb_ilp_is_fitted_on_some_pairs_of_another_split_and_their_sentences_alone(table_of_pairs, monkeypatch):
    data = MeasuredPairs.from_table(table_of_pairs, source={})
    monkeypatch.setattr(suite, "FITTING_PAIRS", 5)
    pairs = suite.fitting_pairs(data, "dev", 3)
    assert pairs is not None
    assert len(pairs) == 5
    assert set(pairs.pairs["split"]) == {"train"}
    assert len(pairs.texts) <= 10
    assert set(pairs.pairs["pair_id"]) != set(suite.fitting_pairs(data, "dev", 4).pairs["pair_id"])
