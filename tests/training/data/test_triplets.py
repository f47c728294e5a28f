"""Triplets: a pure function of labels, seed and epoch, whose positives share and whose negatives do not."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data.shared_labels import AspectLabels, SharedLabels, choose_labels
from training.data.triplets import TripletMaker, in_batch_mask, same_text_mask

TEXTS = 14
label_sets = st.dictionaries(st.integers(0, TEXTS - 1), st.sets(st.sampled_from("abcd"), max_size=3))
of_two = st.tuples(label_sets, label_sets)
combinations = st.sampled_from([(("a",), "any"), (("b",), "any"), (("a", "b"), "all"), (("a", "b"), "any")])
SCHEMA = {"text": pl.Int64, "aspect": pl.String, "label": pl.String}


def table(first, second=None):
    rows = [
        (text, aspect, label)
        for aspect, labels in (("a", first), ("b", second or {}))
        for text, own in labels.items()
        for label in sorted(own)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def shares(labels, aspects, how):
    of = {"a": labels[0], "b": labels[1]}

    def share(left, right):
        found = [bool(of[aspect].get(left, set()) & of[aspect].get(right, set())) for aspect in aspects]
        return all(found) if how == "all" else any(found)

    return share


def maker(labels, aspects, how, **given):
    rows = table(*labels)
    return TripletMaker(rows, aspects, how, every=rows, n_texts=TEXTS, **given)


@given(of_two, combinations, st.integers(0, 3), st.integers(1, 3))
def test_a_positive_shares_a_label_and_a_negative_does_not(labels, combined, seed, each):
    share = shares(labels, *combined)
    drawn = maker(labels, *combined).draw(seed=seed, epoch=0, each=each)

    for anchor, positive, negative in zip(drawn.anchors, drawn.positives, drawn.negatives, strict=True):
        assert anchor != positive
        assert share(anchor, positive)
        assert not share(anchor, negative)
        assert negative in drawn.anchors or any(negative in of for of in labels)


@given(of_two, combinations, st.integers(1, 3))
def test_every_text_that_can_be_an_anchor_is_one_and_the_others_are_counted(labels, combined, each):
    aspects, how = combined
    share = shares(labels, aspects, how)
    made = maker(labels, aspects, how)
    drawn = made.draw(seed=0, epoch=0, each=each)

    texts = made.texts.tolist()
    with_positive = {text for text in texts if any(share(text, other) for other in texts if other != text)}
    able = {text for text in with_positive if any(not share(text, other) for other in texts)}
    assert set(drawn.anchors.tolist()) == able
    assert len(drawn) == each * len(able)
    assert drawn.counts == {
        "alone": len(texts) - len(with_positive),
        "without_negative": len(with_positive) - len(able),
    }


@given(of_two, st.integers(0, 3))
def test_a_negative_is_like_the_anchor_in_another_aspect_where_there_is_such_a_text(labels, seed):
    share, other = shares(labels, ("a",), "any"), shares(labels, ("b",), "any")
    made = maker(labels, ("a",), "any")
    drawn = made.draw(seed=seed, epoch=0, each=2)

    for anchor, negative in zip(drawn.anchors, drawn.negatives, strict=True):
        near = [text for text in made.texts if text != anchor and other(anchor, text) and not share(anchor, text)]
        assert not near or negative in near


@given(of_two, st.integers(0, 3))
def test_a_negative_of_an_intersection_shares_some_where_there_is_such_a_text(labels, seed):
    both, one = shares(labels, ("a", "b"), "all"), shares(labels, ("a", "b"), "any")
    made = maker(labels, ("a", "b"), "all")
    drawn = made.draw(seed=seed, epoch=0)

    for anchor, negative in zip(drawn.anchors, drawn.negatives, strict=True):
        near = [text for text in made.texts if text != anchor and one(anchor, text) and not both(anchor, text)]
        assert not near or negative in near


@given(of_two, combinations, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_changes_nothing(labels, combined, random):
    rows = table(*labels)
    order = list(range(rows.height))
    random.shuffle(order)
    drawn = [
        TripletMaker(some, *combined, every=some, n_texts=TEXTS).draw(seed=1, epoch=2) for some in (rows, rows[order])
    ]

    for name in ("anchors", "positives", "negatives"):
        np.testing.assert_array_equal(getattr(drawn[0], name), getattr(drawn[1], name))


def test_another_seed_and_another_epoch_draw_other_triplets():
    made = maker(({text: {"pq"[text % 2]} for text in range(TEXTS)}, {}), ("a",), "any")
    drawn = [made.draw(seed=seed, epoch=epoch).positives.tolist() for seed, epoch in ((0, 0), (1, 0), (0, 1))]

    assert len({tuple(some) for some in drawn}) == 3
    assert made.draw(seed=0, epoch=0).positives.tolist() == drawn[0]


@given(of_two, combinations, st.lists(st.integers(0, TEXTS - 1), min_size=1, max_size=6), st.integers(0, 3))
def test_no_text_that_shares_a_label_with_an_anchor_is_its_negative_in_the_batch(labels, combined, anchors, seed):
    share = shares(labels, *combined)
    random = np.random.default_rng(seed)
    anchors = np.array(anchors)
    candidates = random.integers(0, TEXTS, 2 * len(anchors))
    mask = in_batch_mask(SharedLabels(table(*labels), *combined, TEXTS), anchors, candidates)

    for i, anchor in enumerate(anchors):
        for j, candidate in enumerate(candidates):
            assert mask[i, j] == (i != j and (share(anchor, candidate) or anchor == candidate))


def test_a_text_that_shares_only_a_rare_label_is_no_negative():
    rows = table({0: {"x", "rare"}, 1: {"x"}, 2: {"y", "rare"}, 3: {"y"}})
    kept = rows.filter(pl.col("label") != "rare")
    made = TripletMaker(kept, ("a",), "any", every=rows, n_texts=4)

    drawn = made.draw(seed=0, epoch=0, each=20)
    assert set(drawn.negatives[drawn.anchors == 0].tolist()) == {3}


@given(label_sets, st.integers(1, 4), st.floats(0, 0.9), st.integers(0, 3))
def test_rare_labels_are_left_out_and_texts_with_a_held_out_label_too(labels, min_texts, share, seed):
    chosen = choose_labels(table(labels), ("a",), min_texts=min_texts, held_out=share, seed=seed)

    texts = {label: {text for text, own in labels.items() if label in own} for label in "abcd"}
    held = set(chosen.held_out["a"])
    away = {text for label in held for text in texts[label]}
    rare = {label for label, some in texts.items() if some and len(some - away) < min_texts} - held
    expected = {(text, label) for label, some in texts.items() for text in some - away if label not in rare | held}
    assert set(chosen.kept.select("text", "label").rows()) == expected
    counts = chosen.counts["a"]
    assert (counts["rare_labels"], counts["held_out_labels"]) == (len(rare), sorted(held))
    assert counts["rare_label_texts"] == len({text for label in rare for text in texts[label]})
    assert counts["labels"] + counts["rare_labels"] + len(held) == len([some for some in texts.values() if some])
    assert all(len(texts[label]) >= min_texts for label in held)


def test_held_out_labels_follow_from_their_names():
    few, many = (table({n: {f"label {n % count}"} for n in range(4 * count)}) for count in (30, 60))
    held = [set(choose_labels(rows, ("a",), min_texts=1, held_out=0.3, seed=5).held_out["a"]) for rows in (few, many)]

    assert held[0] == {label for label in held[1] if int(label.split()[1]) < 30}
    assert 3 <= len(held[0]) <= 15


@pytest.mark.parametrize("each", [1, 3])
def test_a_label_with_one_text_gives_no_positive_and_is_counted(each):
    drawn = maker(({0: {"x"}, 1: {"x"}, 2: {"y"}, 3: {"z"}}, {}), ("a",), "any").draw(seed=0, epoch=0, each=each)

    assert (set(drawn.anchors.tolist()), drawn.counts) == ({0, 1}, {"alone": 2, "without_negative": 0})


def test_without_labels_the_same_text_alone_is_no_negative():
    anchors, candidates = np.array([0, 1, 0]), np.array([2, 3, 4, 0, 2, 9])
    assert same_text_mask(anchors, candidates).tolist() == [
        [False, False, False, True, True, False],
        [False, False, False, False, False, False],
        [False, False, False, True, False, False],
    ]


def test_labels_are_chosen_by_name_without_searching_all_for_each():
    class Names(tuple[str, ...]):
        def index(self, *_):
            pytest.fail("ten thousands of names would be searched for each")

    labels = AspectLabels.of(pl.DataFrame({"text": range(4), "label": ["a", "b", "c", "d"]}), 4)
    chosen = AspectLabels(Names(labels.names), labels.matrix).only(["d", "b", "none"])
    assert (chosen.names, chosen.matrix.toarray().argmax(axis=0).tolist()) == (("d", "b"), [3, 1])
