"""Neighbours: which sentences are near by their embeddings, and that no pair is drawn twice."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.ingest import neighbours
from features.ingest.negatives import pair_keys
from features.ingest.neighbours import counts_of, lack_neighbours, nearest, neighbours_of, recipe_of
from features.schemas import EMBEDDINGS, PAIRS, StageOutput
from features.sentences import sentence_id
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store

NO_PAIR = np.empty(0, np.uint64)


def keys(pairs):
    ends = np.array(pairs, dtype=np.uint32).reshape(-1, 2)
    return np.unique(pair_keys(ends.min(axis=1), ends.max(axis=1)))


def near(vectors, count, paired=NO_PAIR, asked=None):
    members = np.arange(len(vectors))
    asked = np.ones(len(vectors), np.bool_) if asked is None else asked
    return nearest(np.array(vectors, dtype=np.float32), asked, members, paired, count).T.tolist()


def test_each_sentence_is_paired_with_the_nearest_whatever_the_length_of_its_vector():
    vectors = [[1, 0], [50, 5], [1, 1], [0, 1]]
    assert near(vectors, 1) == [[0, 1], [2, 1], [3, 2]], "1 and 0 are a pair already when 1 is asked"
    assert near(vectors, 1, asked=np.array([False, False, False, True])) == [[3, 2]]
    assert near(vectors, 1, keys([[1, 0]])) == [[0, 2], [1, 2], [3, 2]]
    assert near([[0, 0], [1, 0]], 1) == [[0, 1]], "also of a vector without a length"


SENTENCES = st.integers(1, 30)


@given(SENTENCES, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_nearest_are_those_of_a_full_comparison(size, count, seed):
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((size, 3))
    ends = random.integers(0, size, (size, 2))
    paired = keys(ends[ends[:, 0] != ends[:, 1]])

    drawn = near(vectors, count, paired)

    whole = np.rint(4000 * vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    similar = whole @ whole.T
    wanted = set()
    for one in range(size):
        others = sorted(
            (other for other in range(size) if other != one), key=lambda other: (-similar[one, other], other)
        )
        free = [other for other in others[: 4 * (count + 1) - 1] if keys([[one, other]])[0] not in paired]
        wanted |= {frozenset((one, other)) for other in free[:count]}
    assert {frozenset(pair) for pair in drawn} == wanted
    assert len(drawn) == len(wanted)


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store", create=True)


def write(store, table, shard, rows, recipe=None):
    recipe = recipe or Recipe(table)
    receipt = store.write_shard(table, shard, fingerprint(recipe, [shard]), StageOutput(rows), expected=rows.height)
    store.commit([receipt], run_id="run", recipes={table: recipe})


def add_pairs(store, shard, pairs, **values):
    """Commit pairs of sentences that are named by number and are in shards of four."""
    rows = [
        {
            "pair_id": sentence_id(f"{shard} {one} {two}"),
            "corpus": "mine",
            "split": "train",
            "kind": "positive",
            **{f"sentence_{side}": sentence_id(str(n)) for side, n in (("a", one), ("b", two))},
            **{f"shard_{side}": f"sentences-{n // 4:05}" for side, n in (("a", one), ("b", two))},
            **values,
        }
        for one, two in pairs
    ]
    write(store, "pairs", shard, pl.DataFrame(rows, schema=PAIRS))


def embed(store, *numbers):
    """Commit embeddings of sentences, the lower its number, the nearer are its own; all of one shard."""
    angles = [number**1.1 / 10 for number in numbers]
    rows = {"sentence_id": [sentence_id(str(n)) for n in numbers], "vector": [[np.cos(a), np.sin(a)] for a in angles]}
    write(store, "embeddings", f"sentences-{numbers[0] // 4:05}", pl.DataFrame(rows, schema=EMBEDDINGS))


def numbers_of(drawn):
    name = {sentence_id(str(number)): number for number in range(100)}
    rows = pl.concat([pl.DataFrame(schema=PAIRS), *drawn.values()])
    return {frozenset((name[a], name[b])) for a, b in rows.select("sentence_a", "sentence_b").iter_rows()}


def commit(store, drawn, counts):
    for shard, rows in drawn.items():
        write(store, "pairs", shard, rows, recipe_of(counts))


def test_neighbours_are_drawn_for_what_has_an_embedding_and_then_never_again(store):
    add_pairs(store, "pairs-00000", [(0, 3), (1, 2), (4, 7), (5, 6)])
    add_pairs(store, "pairs-00001", [(1, 3), (1, 9)], split="dev")
    add_pairs(store, "pairs-00002", [(0, 2)], corpus="other")
    embed(store, 0, 1, 2, 3)
    embed(store, 8, 9)

    drawn = neighbours_of(store, {"mine": 1}, 3)

    assert [*drawn] == ["pairs-00003"]
    assert numbers_of(drawn) == {frozenset(pair) for pair in ((0, 1), (2, 3))}
    (rows,) = drawn.values()
    assert rows.schema == pl.Schema(PAIRS)
    assert rows.select("corpus", "split", "kind").unique().row(0) == ("mine", "train", "neighbour")
    assert rows.select(pl.col("score", "label", "positive_id").is_null().all()).row(0) == (True, True, True)

    commit(store, drawn, {"mine": 1})
    assert neighbours_of(store, {"mine": 1}, 3) == {}
    assert lack_neighbours(store, ["mine"])
    embed(store, 4, 5, 6, 7)
    later = neighbours_of(store, {"mine": 1}, 3)
    assert [*later] == ["pairs-00004"]
    assert numbers_of(later) == {frozenset(pair) for pair in ((3, 4), (4, 5), (6, 7))}
    commit(store, later, {"mine": 1})
    assert [lack_neighbours(store, each) for each in (["mine"], ["mine", "other"])] == [False, True]


def test_sentences_of_other_corpora_in_the_same_shard_are_no_neighbours(store):
    add_pairs(store, "pairs-00000", [(0, 3)])
    add_pairs(store, "pairs-00001", [(1, 2)], corpus="other")
    embed(store, 0, 1, 2, 3)
    assert neighbours_of(store, {"mine": 2}, 3) == {}


def test_sentences_that_are_all_rejected_have_none(store):
    add_pairs(store, "pairs-00000", [(0, 1)])
    write(store, "embeddings", "sentences-00000", pl.DataFrame(schema=EMBEDDINGS))
    assert neighbours_of(store, {"mine": 1}, 3) == {}


def test_shards_have_so_many_rows_and_those_that_are_taken_to_be_there_decide(store):
    add_pairs(store, "pairs-00000", [(n, n + 8) for n in range(8)])
    for first in range(0, 16, 4):
        embed(store, *range(first, first + 4))
    drawn = neighbours_of(store, {"mine": 2}, 5)
    assert [rows.height for rows in drawn.values()][:-1] == [5] * (len(drawn) - 1)
    commit(store, drawn, {"mine": 2})
    add_pairs(store, "pairs-00099", [(0, 1)])
    again = neighbours_of(store, {"mine": 2}, 5, ["pairs-00000"])
    assert [*again] == [*drawn]
    assert all(rows.equals(drawn[shard]) for shard, rows in again.items())


def test_the_order_of_corpora_in_a_project_file_does_not_matter(store):
    add_pairs(store, "pairs-00000", [(0, 3), (1, 2)])
    add_pairs(store, "pairs-00001", [(0, 2), (1, 3)], corpus="another")
    embed(store, 0, 1, 2, 3)
    counts = {"mine": 1, "another": 1}
    stored = counts_of(Recipe.from_dict(recipe_of(counts).as_dict()))
    drawn, again = (neighbours_of(store, each, 3) for each in (counts, stored))
    assert counts_of(Recipe("pairs", counts)) == counts_of(None) == {}
    assert len(drawn) == 2
    assert [*drawn] == [*again]
    assert all(rows.equals(again[shard]) for shard, rows in drawn.items())


def test_sentences_are_compared_within_a_window_and_the_last_ones_with_those_before(store, monkeypatch):
    monkeypatch.setattr(neighbours, "_WINDOW", 8)
    add_pairs(store, "pairs-00000", [(n, (n + 10) % 20) for n in range(20)])
    for first in range(0, 20, 4):
        embed(store, *range(first, first + 4))
    drawn = neighbours_of(store, {"mine": 1}, 100)
    windows = [range(8), range(8, 16), range(15, 20)]
    assert numbers_of(drawn) == {frozenset((n, n - 1)) for window in windows for n in window[1:]}
    assert [rows.height for rows in drawn.values()] == [18], "none is drawn twice"
