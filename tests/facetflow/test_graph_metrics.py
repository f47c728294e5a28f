import pickle
from typing import get_overloads

import numpy as np
import pytest
from numpy.typing import NDArray
from sentences import refused

import facetflow
from facetflow import metrics
from features.core.faults import GraphUnusable, NotParallel, NotTexts, UnknownName, WrongValue
from features.metrics.registry import METRICS

DOG, CAT = "(b / bark-01 :ARG0 (d / dog))", "(b / bark-01 :ARG0 (c / cat))"


def test_every_metric_is_a_function_under_its_name() -> None:
    assert tuple(METRICS) == metrics.NAMES
    functions = [getattr(metrics, name) for name in METRICS]
    assert [function.name for function in functions] == list(METRICS)
    assert set(METRICS) <= set(metrics.__all__)


@pytest.mark.usefixtures("encoder_model")
def test_one_by_one_they_have_the_values_of_all_at_once() -> None:
    left, right = [DOG, "(s / sleep-01 :polarity - :ARG0 (c / cat :quant 2))"], [CAT, "(s / sleep-01 :ARG0 (c / cat))"]
    table = facetflow.measure(left, right)
    assert table.columns[:15] == list(METRICS)
    for name in METRICS:
        np.testing.assert_allclose(getattr(metrics, name)(left, right), table[name].to_numpy(), atol=1e-6)
        assert getattr(metrics, name)(left[0], right[0]) == pytest.approx(table[name][0], abs=1e-6)


def test_one_graph_is_compared_with_each_of_a_list_in_either_order() -> None:
    assert facetflow.smatch(DOG, [DOG, CAT, DOG]).tolist() == [1.0, 0.75, 1.0]
    facetflow.smatch([DOG], CAT).sort()  # as any other array
    assert facetflow.smatch((graph for graph in (CAT, DOG)), CAT).tolist() == [1.0, 0.75]


def test_a_metric_is_the_same_in_every_process() -> None:
    assert all(pickle.loads(pickle.dumps(metric)) is metric for metric in map(metrics.metric, metrics.NAMES))


def test_a_type_checker_knows_that_a_list_gives_an_array() -> None:
    for function in (facetflow.GraphMetric.__call__, facetflow.Encoder.similarity):
        returned = [overload.__annotations__["return"] for overload in get_overloads(function)]
        assert returned == [float, NDArray[np.float64]]


def test_nothing_gives_nothing() -> None:
    assert facetflow.smatch([], []).shape == (0,)
    assert facetflow.measure([], [], ["smatch"]).columns == ["smatch", "smatch_optimal"]


def test_a_corpus_is_more_than_the_mean_of_its_pairs() -> None:
    score = facetflow.smatch.corpus([DOG, "(b / bark-01)"], [DOG, "(r / run-02)"], resamples=20)
    assert (score.precision.value, score.recall.value) == (5 / 6, 5 / 6)
    assert score.macro_f1.value == 0.75
    assert score.f1.low is None
    assert facetflow.smatch.corpus([DOG] * 6, [DOG] * 6, resamples=20).f1.low == 1.0


@pytest.mark.parametrize(
    ("call", "error"),
    [
        pytest.param(lambda: facetflow.smatch(DOG, "(b / bark-01"), GraphUnusable, id="PENMAN"),
        pytest.param(
            lambda: facetflow.measure([DOG, "dog"], [CAT, CAT], ["smatch"]), GraphUnusable, id="PENMAN in a list"
        ),
        pytest.param(lambda: facetflow.smatch([DOG], [DOG, CAT]), NotParallel, id="lengths"),
        pytest.param(lambda: facetflow.smatch([DOG, None], DOG), NotTexts, id="no string"),
        pytest.param(lambda: facetflow.smatch(np.array(DOG), DOG), NotTexts, id="array without dimensions"),
        pytest.param(lambda: metrics.metric("smtch"), UnknownName, id="unknown metric"),
        pytest.param(lambda: facetflow.GraphMetric("smtch"), UnknownName, id="unknown metric made by hand"),
        pytest.param(lambda: facetflow.measure(DOG, CAT, "wlkk"), UnknownName, id="unknown metric of several"),
        pytest.param(lambda: facetflow.measure(DOG, CAT, facetflow.smatch), UnknownName, id="no name of a metric"),
        pytest.param(lambda: metrics.wlk.corpus([DOG], [CAT]), UnknownName, id="no counts"),
        pytest.param(lambda: facetflow.smatch.corpus([DOG], [CAT], resamples="9"), WrongValue, id="resamples as text"),
        pytest.param(lambda: facetflow.smatch.corpus([DOG], [CAT], seed=-1), WrongValue, id="seed below 0"),
    ],
)
def test_wrong_input_is_one_sentence(call, error) -> None:
    with refused(error) as raised:
        call()
    assert isinstance(raised.value, facetflow.FacetflowError)
