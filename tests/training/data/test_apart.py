"""Pairs of training that are also pairs of dev or test are left out of training."""

import polars as pl
from sentences import refused

from features.core.faults import SplitsOverlap
from training.data.labelled_pairs import LabelledPairs
from training.data.pair_tables import apart


def judged(*rows):
    """Return pairs of rows (a, b, split), or (a, b, split, corpus)."""
    table = pl.DataFrame(
        [(f"p{number}", *(*more, "c")[:1], split, "1", a, b) for number, (a, b, split, *more) in enumerate(rows)],
        schema=["pair_id", "corpus", "split", "label", "text_a", "text_b"],
        orient="row",
    )
    return LabelledPairs.from_table(table, source={})


def test_a_pair_of_another_split_is_not_learnt_from_in_either_order(caplog):
    data = judged(("a", "b", "train"), ("c", "d", "train"), ("d", "c", "dev"), ("a", "d", "test"), ("e", "e", "train"))
    found, dropped = apart(data, "train")
    assert dropped == 1
    kept = [(found.texts[a], found.texts[b]) for a, b in found.pairs.select("first", "second").iter_rows()]
    assert kept == [("a", "b"), ("d", "c"), ("a", "d"), ("e", "e")]
    assert "also in another split: 1 pair of split 'train'" in caplog.text


def test_a_pair_of_another_split_in_another_spelling_is_not_learnt_from_either(caplog):
    data = judged(("A cat.", "b", "train"), ("?!", "b", "train"), ("B!", "a CAT", "dev"), ("...", "b", "dev"))
    found, dropped = apart(data, "train")
    assert dropped == 1
    kept = [(found.texts[a], found.texts[b]) for a, b in found.pairs.select("first", "second").iter_rows()]
    assert kept == [("?!", "b"), ("B!", "a CAT"), ("...", "b")]
    assert "1 pair of split 'train' (1 with other case or punctuation)" in caplog.text


def test_pairs_that_are_apart_stay_as_they_are():
    data = judged(("a", "b", "train"), ("a", "b", "train"), ("a", "c", "dev"))
    for split in ("train", "test"):
        kept, dropped = apart(data, split)
        assert (kept.digest(), dropped) == (data.digest(), 0)


def test_a_pair_of_the_dev_split_of_another_corpus_is_not_learnt_from():
    data = judged(("A dog.", "b", "train", "mine"), ("x", "y", "train", "mine"), ("a dog", "b", "dev", "other"))
    kept, dropped = apart(data, "train", ["mine"])
    assert (kept.texts, dropped) == (("x", "y"), 1)


def test_pairs_of_corpora_that_are_not_learnt_from_are_not_counted(caplog):
    data = judged(("a", "b", "train", "mine"), ("c", "d", "train", "other"), ("c", "d", "dev", "other"))
    kept, dropped = apart(data, "train", ["mine"])
    assert (kept.texts, dropped, caplog.text) == (("a", "b"), 0, "")


def test_pairs_are_told_apart_whatever_numbers_their_texts_have():
    words = [f"unheard{number}" for number in range(11)]
    numbered = pl.Series(words, dtype=pl.Categorical)  # polars numbers the texts of a process once, in this order
    data = judged((words[0], words[10], "train"), (words[1], words[6], "dev"))  # 4 x 0 + 10 = 4 x 1 + 6
    assert apart(data, "train")[1] == 0
    assert len(numbered) == 11


def test_a_split_that_is_wholly_in_another_is_told():
    with refused(SplitsOverlap):
        apart(judged(("a", "b", "train"), ("c", "d", "train"), ("a", "b", "dev"), ("d", "c", "test")), "train")
