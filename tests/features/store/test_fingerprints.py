"""A fingerprint changes exactly when the work or its input changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import StoreDamaged, WrongValue
from features.stages.stage import Recipe
from features.store.fingerprints import Change, changes, fingerprint, identity, identity_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
parameters = st.dictionaries(st.text(max_size=5), json_values, max_size=4)


@given(parameters)
def test_recipe_survives_storage(values):
    recipe = Recipe("amr", values, "2", "abc")

    stored = Recipe.from_dict(recipe.as_dict())

    assert identity(stored) == identity(recipe)
    assert changes(recipe, stored) == []


@given(parameters)
def test_order_of_parameters_does_not_count(values):
    turned = dict(reversed(values.items()))

    assert identity(Recipe("amr", values)) == identity(Recipe("amr", turned))


@pytest.mark.parametrize(
    "other",
    [
        Recipe("srl", {"a": 1}),
        Recipe("amr", {"a": 2}),
        Recipe("amr", {"a": True}),
        Recipe("amr", {"a": 1, "b": None}),
        Recipe("amr", {"a": 1}, "2"),
        Recipe("amr", {"a": 1}, weights="d"),
    ],
)
def test_every_part_of_a_recipe_counts(other):
    recipe = Recipe("amr", {"a": 1})

    assert identity(recipe) != identity(other)


def test_fingerprint_has_two_halves():
    recipe = Recipe("amr", {"a": 1})
    first, second = fingerprint(recipe, ["x"]), fingerprint(recipe, ["y"])

    assert identity_of(first) == identity_of(second) == identity(recipe)
    assert first != second
    assert [len(half) for half in first.split("-")] == [12, 12]


def test_inputs_are_not_run_together():
    recipe = Recipe("amr")

    assert fingerprint(recipe, ["ab", "c"]) != fingerprint(recipe, ["a", "bc"])
    assert fingerprint(recipe, ["a", "b"]) != fingerprint(recipe, ["b", "a"])


def test_identity_does_not_change_between_versions_of_this_package():
    # Stores live long: a change of these digits makes every store stale.
    recipe = Recipe("amr", {"batch_size": 16, "model": "é"}, "1", "w")

    assert fingerprint(recipe, ["a", "b"]) == "3ac5890c6d74-987ccb12a7fe"


def test_changes_name_nested_parameters():
    old = Recipe("amr", {"beam": {"size": 1, "length": 5}, "gone": "x"}, "1", "a" * 64)
    new = Recipe("amr", {"beam": {"size": 4, "length": 5}}, "2", "b" * 64)

    found = changes(old, new)

    assert found == [
        Change("algorithm", "1", "2"),
        Change("parameters.beam.size", 1, 4),
        Change("parameters.gone", "x", None),
        Change("weights", "a" * 64, "b" * 64),
    ]
    assert [str(change) for change in found] == [
        "algorithm 1 → 2",
        "parameters.beam.size 1 → 4",
        "parameters.gone x → null",
        "weights aaaaaaaaaaaa… → bbbbbbbbbbbb…",
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("1" * 64, "1" * 60 + "2222", "…11111111 → …11112222"),
        ("1" * 30 + "2" * 34, "1" * 30 + "3" * 34, "…111122222222… → …111133333333…"),
        ("12" * 32, None, "121212121212… → null"),
        ("1" * 64, "1" * 64 + "+" + "2" * 64, "…1111 → …1111+2222222…"),
    ],
)
def test_two_digests_are_cut_so_that_they_differ(old, new, told):
    assert str(Change("weights", old, new)) == f"weights {told}"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()])
def test_recipe_of_anything_but_json_is_refused(value):
    with refused(WrongValue):
        identity(Recipe("amr", {"a": value}))


def test_damaged_recipe_is_named():
    with refused(StoreDamaged):
        Recipe.from_dict({"stage": "amr"})
