"""Triplets: a pure function of labels and a seed."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from features.corpora.triplets import TRIPLETS, draw_triplets
from features.schemas import LABELS

label_sets = st.dictionaries(
    st.sampled_from([f"text-{number}" for number in range(12)]), st.sets(st.sampled_from("abcd"), max_size=3)
)


def rows_of(labels, aspect="topic"):
    rows = [
        {"label_id": f"{aspect}/{text}/{label}", "sentence": text, "aspect": aspect, "label": label}
        for text, own in labels.items()
        for label in sorted(own)
    ]
    return pl.DataFrame(rows, schema=LABELS)


@given(label_sets, st.integers(0, 3), st.integers(1, 3))
def test_a_positive_shares_a_label_and_a_negative_none(labels, seed, each):
    drawn = draw_triplets(rows_of(labels), "topic", seed=seed, each=each)

    assert drawn.schema == pl.Schema(TRIPLETS)
    for anchor, positive, negative in drawn.iter_rows():
        assert anchor != positive
        assert labels[anchor] & labels[positive]
        assert labels[negative]
        assert not labels[anchor] & labels[negative]


@given(label_sets, st.integers(0, 3))
def test_every_text_that_can_be_an_anchor_is_one(labels, seed):
    drawn = draw_triplets(rows_of(labels), "topic", seed=seed, each=2)

    known = {text: own for text, own in labels.items() if own}
    able = {
        text
        for text, own in known.items()
        if any(own & other for name, other in known.items() if name != text)
        and any(not own & other for other in known.values())
    }
    assert (drawn["anchor"].value_counts().rows(named=False) and able == set(drawn["anchor"])) or not able
    assert drawn.height == 2 * len(able)


@given(label_sets, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_and_other_aspects_change_nothing(labels, random):
    rows = rows_of(labels)
    order = list(range(rows.height))
    random.shuffle(order)
    others = rows_of({"text-0": {"z"}, "text-1": {"z"}}, aspect="area")

    once = draw_triplets(rows, "topic", seed=1)
    assert draw_triplets(pl.concat([others, rows[order]]), "topic", seed=1).equals(once)


def test_another_seed_draws_other_triplets():
    labels = {f"text-{number}": {"ab"[number % 2]} for number in range(40)}

    assert not draw_triplets(rows_of(labels), "topic", seed=1).equals(draw_triplets(rows_of(labels), "topic", seed=2))


def test_a_new_text_changes_few_of_the_other_triplets():
    labels = {f"text-{number:03d}": {"abcd"[number % 4]} for number in range(200)}
    before = draw_triplets(rows_of(labels), "topic", seed=1)

    after = draw_triplets(rows_of(labels | {"text-999": {"a"}}), "topic", seed=1)
    kept = before.join(after, on=["anchor", "positive"], how="inner").height
    assert kept >= 190
