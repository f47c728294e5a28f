import numpy as np
import pytest

import facetflow
from facetflow import metrics
from features.metrics.registry import METRICS

DOG, CAT = "(b / bark-01 :ARG0 (d / dog))", "(b / bark-01 :ARG0 (c / cat))"


def test_every_metric_is_a_function_under_its_name() -> None:
    assert tuple(METRICS) == metrics.NAMES
    functions = [getattr(metrics, name) for name in METRICS]
    assert [function.name for function in functions] == list(METRICS)
    assert set(METRICS) <= set(metrics.__all__)


def test_one_by_one_they_have_the_values_of_all_at_once(encoder_model: str) -> None:
    left, right = [DOG, "(s / sleep-01 :polarity - :ARG0 (c / cat :quant 2))"], [CAT, "(s / sleep-01 :ARG0 (c / cat))"]
    table = facetflow.measure(left, right)
    assert table.columns[:15] == list(METRICS)
    for name in METRICS:
        np.testing.assert_allclose(getattr(metrics, name)(left, right), table[name].to_numpy(), atol=1e-6)
        assert getattr(metrics, name)(left[0], right[0]) == pytest.approx(table[name][0], abs=1e-6)
    assert encoder_model


def test_one_graph_is_compared_with_each_of_a_list_in_either_order() -> None:
    assert facetflow.smatch(DOG, [DOG, CAT, DOG]).tolist() == [1.0, 0.75, 1.0]
    assert facetflow.smatch((graph for graph in (CAT, DOG)), CAT).tolist() == [1.0, 0.75]


def test_nothing_gives_nothing() -> None:
    assert facetflow.smatch([], []).shape == (0,)
    assert facetflow.measure([], [], ["smatch"]).columns == ["smatch", "smatch_optimal"]


def test_a_corpus_is_more_than_the_mean_of_its_pairs() -> None:
    score = facetflow.smatch.corpus([DOG, "(b / bark-01)"], [DOG, "(r / run-02)"], resamples=20)
    assert (score.precision.value, score.recall.value) == (5 / 6, 5 / 6)
    assert score.macro_f1.value == 0.75
    assert score.f1.low is not None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        pytest.param(
            lambda: facetflow.smatch(DOG, "(b / bark-01"),
            facetflow.InputError,
            r"the second graph is not valid PENMAN: line 1, column 1: 1 parenthesis is not closed",
            id="PENMAN",
        ),
        pytest.param(
            lambda: facetflow.measure([DOG, "dog"], [CAT, CAT], ["smatch"]),
            facetflow.InputError,
            "the first graph of pair 2 is not valid PENMAN: .* starts with '\\('",
            id="PENMAN in a list",
        ),
        pytest.param(
            lambda: facetflow.smatch([DOG], [DOG, CAT]),
            facetflow.InputError,
            "1 and 2 graphs cannot be paired",
            id="lengths",
        ),
        pytest.param(
            lambda: facetflow.smatch([DOG, None], DOG),
            facetflow.InputError,
            "graph 2 of 2 is not a string but None",
            id="no string",
        ),
        pytest.param(
            lambda: metrics.metric("smtch"),
            facetflow.SettingsError,
            "there is no metric 'smtch'; did you mean 'smatch'",
            id="unknown metric",
        ),
        pytest.param(
            lambda: facetflow.measure(DOG, CAT, "wlkk"),
            facetflow.SettingsError,
            "there is no metric 'wlkk'; did you mean 'wlk'",
            id="unknown metric of several",
        ),
        pytest.param(
            lambda: metrics.wlk.corpus([DOG], [CAT]),
            facetflow.SettingsError,
            "metric 'wlk' has no precision and recall",
            id="no counts",
        ),
    ],
)
def test_wrong_input_is_one_sentence(call, error, message) -> None:
    with pytest.raises(error, match=message) as raised:
        call()
    assert isinstance(raised.value, facetflow.FacetflowError)
