"""Whatever the rows and their order, none is lost or duplicated, and nothing stored changes."""

import math
import tempfile
from collections import Counter
from hashlib import blake2b
from pathlib import Path

import polars as pl
from generated import pair_id
from hypothesis import given
from hypothesis import strategies as st

from features.corpora.settings import CorpusSettings, EvaluationSet, LeakageSettings
from features.ingest.building import Ingested
from features.schemas import PAIRS, SENTENCES
from features.sentences import normalise, sentence_id
from tests.features.ingest import ingests

Row = tuple[str, str, str]

# Few different sentences, so that repeats, shared sentences and small pools are common.
spellings = ["A.", "B.", "C.", "a", "D d.", "E  e.", "E\u00a0e.", "Größe", "Gro\u0308ße", "too many words here"]
sentences = st.sampled_from(spellings)
good_rows = st.tuples(sentences, sentences, st.sampled_from(["", "1", "2.5"]))
bad_rows = st.sampled_from([("A.", "", "1"), ("A.", "B.", "x"), ("A.", "B.\textra", "1")])
rows_of_a_file = st.lists(st.one_of(good_rows, good_rows, good_rows, bad_rows), min_size=1, max_size=25)
guards = st.sampled_from([None, "drop", "report"])
shard_sizes = st.tuples(st.integers(1, 6), st.integers(1, 6))


def run(files: dict[str, list[list[Row]]], guard=None, sizes=(4, 5), known=()) -> Ingested:
    """Ingest files of rows, given by split."""
    with tempfile.TemporaryDirectory() as folder:
        names: dict[str, list[str]] = {}
        for split, parts in files.items():
            for number, rows in enumerate(parts):
                name = f"{split}-{number}.tsv"
                lines = ["\t".join(row) for row in rows]
                (Path(folder) / name).write_text("\n".join(["sentence_a\tsentence_b\tscore", *lines]), encoding="utf-8")
                names.setdefault(split, []).append(name)
        (Path(folder) / "test.tsv").write_text("sentence_a\tsentence_b\tscore\na!\tZ\t1\n", encoding="utf-8")
        evaluation = [EvaluationSet(dataset="pairs", file="test.tsv")] if guard else []
        return ingests.run(
            Path(folder),
            CorpusSettings(dataset="pairs", files=names, negatives=("train", "dev")),
            known=known,
            leakage=LeakageSettings(mode=guard or "drop", evaluation=evaluation),
            sentences_per_shard=sizes[0],
            pairs_per_shard=sizes[1],
            max_words=3,
        )


def all_rows(*parts: Ingested) -> tuple[pl.DataFrame, pl.DataFrame]:
    tables = []
    for table, schema in (("sentences", SENTENCES), ("pairs", PAIRS)):
        empty = pl.DataFrame(schema={**schema, "shard": pl.String})
        shards = [
            rows.with_columns(shard=pl.lit(shard)) for part in parts for shard, rows in part.tables[table].items()
        ]
        tables.append(pl.concat([empty, *shards]))
    return tables[0], tables[1]


def assert_sound(*parts: Ingested) -> None:
    """No id twice, every pair's sentences in the shards that it names, at most one negative for a positive."""
    stored_sentences, stored_pairs = all_rows(*parts)
    assert stored_sentences["sentence_id"].is_unique().all()
    assert stored_pairs["pair_id"].is_unique().all()
    shard_of = dict(stored_sentences.select("sentence_id", "shard").iter_rows())
    for row in stored_pairs.iter_rows(named=True):
        assert shard_of[row["sentence_a"]] == row["shard_a"]
        assert shard_of[row["sentence_b"]] == row["shard_b"]
    positives = {row["pair_id"]: row for row in stored_pairs.filter(kind="positive").iter_rows(named=True)}
    negatives = stored_pairs.filter(kind="negative")
    assert negatives["positive_id"].is_unique().all()
    assert negatives["score"].null_count() == negatives.height
    for negative in negatives.iter_rows(named=True):
        positive = positives[negative["positive_id"]]
        assert negative["split"] == positive["split"]
        assert negative["sentence_a"] == positive["sentence_a"]
        assert negative["sentence_b"] not in {positive["sentence_a"], positive["sentence_b"]}


@given(rows_of_a_file, rows_of_a_file, guards, shard_sizes)
def test_rows_are_conserved(train, dev, guard, sizes):
    ingested = run({"train": [train], "dev": [dev]}, guard, sizes)

    assert_sound(ingested)
    _, pairs = all_rows(ingested)
    assert ingested.report.rows == len(train) + len(dev)
    for counts in ingested.report.splits:
        of_split = pairs.filter(split=counts.split)
        assert counts.rows == counts.new + counts.known + counts.dropped + counts.rejected + sum(
            counts.skipped.values()
        )
        assert of_split.filter(kind="positive").height == counts.new == counts.negatives + counts.without_negative
        assert of_split.filter(kind="negative").height == counts.negatives
    assert len(ingested.rejects) == sum(counts.rejected + counts.dropped for counts in ingested.report.splits)


@given(rows_of_a_file, st.data(), guards, shard_sizes)
def test_two_refreshes_give_what_one_gives(rows, data, guard, sizes):
    first_rows = data.draw(st.lists(st.sampled_from(range(len(rows))), min_size=1, unique=True).map(sorted))
    first = run({"train": [[rows[place] for place in first_rows]]}, guard, sizes)
    second = run({"train": [rows]}, guard, sizes, [first])
    once = run({"train": [rows]}, guard, sizes)

    assert_sound(first, second)
    two_sentences, two_pairs = all_rows(first, second)
    one_sentences, one_pairs = all_rows(once)
    assert set(two_sentences["text"]) == set(one_sentences["text"])
    assert set(two_pairs.filter(kind="positive")["pair_id"]) == set(one_pairs.filter(kind="positive")["pair_id"])
    # A negative of the first refresh may be a pair that only the second knows as positive; none is missing.
    assert set(two_pairs["positive_id"]) >= set(one_pairs["positive_id"])
    assert not set(first.tables["sentences"]) & set(second.tables["sentences"])
    assert not set(first.tables["pairs"]) & set(second.tables["pairs"])


@given(st.lists(rows_of_a_file, min_size=2, max_size=4), guards)
def test_files_added_one_by_one_give_what_all_at_once_give(parts, guard):
    refreshes: list[Ingested] = []
    for number in range(1, len(parts) + 1):
        refreshes.append(run({"train": parts[:number]}, guard, known=refreshes))
    once = run({"train": parts}, guard)

    assert_sound(*refreshes)
    for several, one in zip(all_rows(*refreshes), all_rows(once), strict=True):
        key = "text" if "text" in several.columns else "pair_id"
        kept = several if key == "text" else several.filter(kind="positive")
        expected = one if key == "text" else one.filter(kind="positive")
        assert set(kept[key]) == set(expected[key])


@given(rows_of_a_file, guards, shard_sizes)
def test_a_second_call_with_everything_known_adds_nothing(rows, guard, sizes):
    first = run({"train": [rows]}, guard, sizes)
    again = run({"train": [rows]}, guard, sizes, [first])

    assert again.tables["sentences"] == {}
    assert again.tables["pairs"] == {}
    assert again.rejects == first.rejects
    assert again.report.splits[0].known == first.report.splits[0].new
    assert again.report.changed == []


@given(rows_of_a_file, guards, shard_sizes)
def test_the_same_input_gives_the_same_shards(rows, guard, sizes):
    first, again = (run({"train": [rows]}, guard, sizes) for _ in range(2))

    for table in ("sentences", "pairs"):
        one, other = first.tables[table], again.tables[table]
        assert list(one) == list(other)
        assert all(one[shard].equals(other[shard]) for shard in one)
    assert first.report == again.report


@given(rows_of_a_file, st.randoms(use_true_random=False), guards)
def test_the_order_of_rows_changes_no_id_and_no_negative(rows, random, guard):
    shuffled = random.sample(rows, len(rows))

    one, other = (all_rows(run({"train": [order]}, guard))[1] for order in (rows, shuffled))

    columns = ["pair_id", "sentence_a", "sentence_b", "positive_id"]
    assert one.select(columns).sort("pair_id").equals(other.select(columns).sort("pair_id"))


@given(rows_of_a_file, shard_sizes)
def test_shards_are_full_but_for_the_last_of_each_kind(rows, sizes):
    ingested = run({"train": [rows]}, None, sizes)

    for shards, size in ((ingested.tables["sentences"], sizes[0]), (ingested.tables["pairs"], sizes[1])):
        heights: dict[str, list[int]] = {}
        for shard in shards.values():
            kinds = shard["kind"].unique().to_list() if "kind" in shard.columns else ["sentence"]
            assert len(kinds) == 1
            heights.setdefault(kinds[0], []).append(shard.height)
        for of_kind in heights.values():
            assert all(height == size for height in of_kind[:-1])
            assert 0 < of_kind[-1] <= size


def one_by_one(files: dict[str, list[Row]], sizes: tuple[int, int]) -> tuple[list, list]:
    """Return the shards of sentences and of pairs of a first ingest without a guard, found row by row."""
    texts: dict[str, str] = {}
    positives, negatives = [], []
    for split, rows in files.items():
        pool, count = [], Counter()
        for a, b, score in rows:
            if not b or score == "x" or "\t" in b:
                continue
            ids = sentence_id(a), sentence_id(b)
            pair = pair_id("pairs", split, "positive", *ids, count[ids])
            count[ids] += 1
            if max(len(a.split()), len(b.split())) <= 3:
                pool.append((pair, *ids))
                positives.append((pair, *ids, None))
                for sentence, text in zip(ids, (a, b), strict=True):
                    texts.setdefault(sentence, normalise(text))
        negatives += negatives_of(sorted(pool), count, split)
    place = {sentence: number // sizes[0] for number, sentence in enumerate(texts)}
    side = math.ceil(math.sqrt(len(negatives) / sizes[1]))
    ranks = sorted({place[sentence] for _, *both, _ in negatives for sentence in both})
    cell = {shard: rank * side // len(ranks) for rank, shard in enumerate(ranks)}
    if len(negatives) > sizes[1]:
        negatives.sort(key=lambda row: (cell[place[row[1]]], cell[place[row[2]]], row[0]))
    else:
        negatives.sort()
    return in_shards([*texts.items()], sizes[0]), in_shards(positives, sizes[1]) + in_shards(negatives, sizes[1])


def negatives_of(pool, paired, split):
    """Yield the negatives of positives, which are sorted."""
    taken = set()
    for pair, a, _ in pool:
        draws = [int.from_bytes(blake2b(f"{pair}{n}".encode(), digest_size=8).digest()) for n in range(33)]
        both = [sentence for _, *of_pair in pool for sentence in of_pair]
        fit = {each for each in both if each != a and not paired.keys() & {(a, each), (each, a)}}
        drawn = [both[draw % len(both)] for draw in draws[:-1]]
        if fit:
            other = next((each for each in drawn if each in fit), sorted(fit)[draws[-1] % len(fit)])
            names = (pair_id("pairs", split, "negative", a, other, number) for number in range(len(pool)))
            negative = next(name for name in names if name not in taken)
            taken.add(negative)
            yield negative, a, other, pair


def in_shards(rows, size):
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@given(rows_of_a_file, rows_of_a_file, shard_sizes)
def test_columns_give_the_same_rows_in_the_same_shards_as_one_row_after_the_other(train, dev, sizes):
    ingested = run({"train": [train], "dev": [dev]}, None, sizes)
    sentences, pairs = one_by_one({"train": train, "dev": dev}, sizes)

    columns = ["pair_id", "sentence_a", "sentence_b", "positive_id"]
    assert [rows.rows() for rows in ingested.tables["sentences"].values()] == sentences
    assert [rows.select(columns).rows() for rows in ingested.tables["pairs"].values()] == pairs
