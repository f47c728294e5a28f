"""Neighbours: which sentences are near, and that no pair is drawn twice."""

import itertools

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from features.corpora.settings import CorpusSettings, EvaluationSet, LeakageSettings
from features.ingest.neighbours import draw_neighbours
from features.sentences import sentence_id

ANIMALS = [
    ("A black cat sleeps on the sofa", "A black cat naps", 4),
    ("The cat chases a mouse", "A mouse runs from the cat", 3),
    ("A train leaves the station", "The train departs", 4),
    ("Passengers board the train", "People wait at the station", 2),
]


def corpus(neighbours=2):
    return CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, neighbours=neighbours)


def texts_of(ingested, pairs):
    text = {row[0]: row[1] for rows in ingested.sentences.values() for row in rows.iter_rows()}
    return {frozenset((text[a], text[b])) for a, b in pairs.select("sentence_a", "sentence_b").iter_rows()}


def test_neighbours_share_words_and_are_no_other_pair(tmp_path, write, run, pairs_of):
    write(tmp_path / "p.tsv", ANIMALS)

    ingested = run(tmp_path, corpora=[corpus()])

    pairs = pairs_of(ingested)
    drawn = pairs.filter(kind="neighbour")
    assert ingested.report.splits[0].neighbours == drawn.height > 0
    assert drawn.select(pl.col("score", "label", "positive_id").is_null().all()).row(0) == (True, True, True)
    assert frozenset(("A black cat sleeps on the sofa", "The cat chases a mouse")) in texts_of(ingested, drawn)
    assert not texts_of(ingested, drawn) & texts_of(ingested, pairs.filter(pl.col("kind") != "neighbour"))


def test_a_corpus_that_asks_for_none_has_none_and_other_shards_stay(tmp_path, write, run):
    write(tmp_path / "p.tsv", ANIMALS)

    without, with_some = run(tmp_path, corpora=[corpus(0)]), run(tmp_path, corpora=[corpus(2)])

    assert without.report.splits[0].neighbours == 0
    for shard, rows in without.pairs.items():
        assert rows.equals(with_some.pairs[shard])


def test_a_refresh_draws_for_sentences_without_any_and_then_none(tmp_path, write, run, stored, pairs_of):
    write(tmp_path / "p.tsv", ANIMALS[:3])
    first = run(tmp_path, corpora=[corpus()])
    write(tmp_path / "p.tsv", ANIMALS)

    second = run(tmp_path, *stored(first), corpora=[corpus()])
    third = run(tmp_path, *stored(first, second), corpora=[corpus()])

    before, drawn = (pairs_of(ingested).filter(kind="neighbour") for ingested in (first, second))
    assert before.height
    assert {sentence_id(text) for pair in ANIMALS[3:] for text in pair[:2]} & {*drawn["sentence_a"]}
    assert not {*drawn["sentence_a"]} & {*before["sentence_a"], *before["sentence_b"]}
    assert third.pairs == {}


def test_sentences_kept_out_by_the_guard_are_nobodys_neighbours(tmp_path, write, run, pairs_of):
    write(tmp_path / "p.tsv", ANIMALS)
    write(tmp_path / "test.tsv", [(ANIMALS[0][0], "Z", 1)])
    leakage = LeakageSettings(evaluation=[EvaluationSet(dataset="pairs", file="test.tsv")])

    pairs = pairs_of(run(tmp_path, corpora=[corpus()], leakage=leakage))

    assert sentence_id(ANIMALS[0][0]) not in {*pairs["sentence_a"], *pairs["sentence_b"]}


words = st.sampled_from(["cat", "dog", "train", "red", "blue", "runs", "sleeps"])
some_texts = st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), unique=True, min_size=1, max_size=12)


@given(some_texts, st.integers(1, 4), st.randoms(use_true_random=False))
def test_pairs_differ_share_a_word_and_do_not_depend_on_the_order(texts, count, random):
    ids = {sentence_id(text): text for text in texts}
    every = list(itertools.combinations(ids, 2))
    paired = set(random.sample(every, len(every) // 3))

    drawn = list(draw_neighbours(ids, set(ids), paired, count))

    assert len({frozenset(pair) for pair in drawn}) == len(drawn)
    assert all(a != b and (a, b) not in paired and (b, a) not in paired for a, b in drawn)
    assert all(set(ids[a].split()) & set(ids[b].split()) for a, b in drawn)
    shuffled = list(ids.items())
    random.shuffle(shuffled)
    assert drawn == list(draw_neighbours(dict(shuffled), set(ids), paired, count))


def test_the_nearest_come_first_by_the_weight_of_shared_words():
    texts = ["red cat", "red dog", "red train", "cat sleeps", "blue sky"]
    ids = {sentence_id(text): text for text in texts}

    drawn = draw_neighbours(ids, {sentence_id("red cat")}, set(), 1)

    # "cat" is in two texts, "red" in three.
    assert [(ids[a], ids[b]) for a, b in drawn] == [("red cat", "cat sleeps")]
