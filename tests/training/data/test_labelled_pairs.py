"""Labelled pairs: selected, exported, identified, and read from a store that also holds scored pairs."""

import polars as pl
import pytest
from generated import commit_rows
from sentences import refused

from features.core.faults import ColumnMissing, NoTrainingData, ReleaseLacks
from features.store.store import Store
from training.data.labelled_pairs import LabelledPairs
from training.jobs import Source

ROWS = [
    ("p1", "snli", "train", "entailment", "A man sleeps.", "A man rests."),
    ("p2", "snli", "train", "contradiction", "A man sleeps.", "A man runs."),
    ("p3", "snli", "dev", "neutral", "A man runs.", "A man runs home."),
    ("p4", "mnli", "train", "neutral", "They left.", "They left early."),
]
COLUMNS = (*LabelledPairs.COLUMNS, "text_a", "text_b")


@pytest.fixture
def judged():
    return LabelledPairs.from_table(pl.DataFrame(ROWS, schema=list(COLUMNS), orient="row"), source={})


def rows_of(data: LabelledPairs) -> list[tuple[str, ...]]:
    return sorted((*row[:4], data.texts[row[4]], data.texts[row[5]]) for row in data.pairs.iter_rows())


def test_each_sentence_is_kept_once_and_pairs_point_at_their_own(judged):
    assert len(judged.texts) == len(set(judged.texts)) == 6
    assert rows_of(judged) == ROWS


def test_a_selection_has_the_sentences_of_its_pairs_only(judged):
    chosen = judged.select(splits=("train",), corpora=("snli",), labels=("entailment",))
    assert (rows_of(chosen), sorted(chosen.texts)) == ([ROWS[0]], ["A man rests.", "A man sleeps."])


def test_a_target_is_the_place_of_the_label_and_minus_one_for_another(judged):
    assert judged.targets(("neutral", "entailment")).tolist() == [1, -1, 0, 0]


def test_another_label_is_another_digest(judged):
    changed = judged.pairs.with_columns(label=pl.col("label").str.replace("neutral", "entailment"))
    assert LabelledPairs(judged.texts, changed).digest() != judged.digest()


@pytest.mark.parametrize("suffix", ["parquet", "tsv", "jsonl.gz"])
def test_an_export_reads_as_the_same_pairs(judged, tmp_path, suffix):
    path = tmp_path / f"pairs.{suffix}"
    judged.export(path)
    found = LabelledPairs.from_file(path)
    assert (rows_of(found), found.digest()) == (ROWS, judged.digest())


def test_an_export_without_a_label_is_refused(judged, tmp_path):
    path = tmp_path / "pairs.parquet"
    judged.export(path)
    pl.read_parquet(path).drop("label").write_parquet(path)
    with refused(ColumnMissing):
        LabelledPairs.from_file(path)


def make_store(folder, labels: list[str | None]) -> Store:
    """Return a store with a release of two pairs, without any stage."""
    store = Store.open(folder / "store", create=True)
    texts = {"s1": "A man sleeps.", "s2": "A man rests.", "s3": "A man runs."}
    pairs = [
        {"pair_id": f"p{n}", "corpus": "snli", "split": "train", "kind": "positive", "sentence_a": "s1"}
        | {"sentence_b": f"s{n + 2}", "shard_a": "sentences-00000", "shard_b": "sentences-00000", "label": label}
        for n, label in enumerate(labels)
    ]
    sentences = [{"sentence_id": name, "text": text} for name, text in texts.items()]
    commit_rows(store, sentences=sentences, pairs=pairs)
    store.publish("test", stages=[])
    return store


def test_pairs_with_a_label_are_read_from_a_release_without_stages(tmp_path):
    found = LabelledPairs.from_store(make_store(tmp_path, ["entailment", None]).location)
    assert rows_of(found) == [("p0", "snli", "train", "entailment", "A man sleeps.", "A man rests.")]
    assert found.source["release"] == 1


def test_a_release_without_labels_says_how_to_get_them(tmp_path):
    store = make_store(tmp_path, [None, None])
    with refused(ReleaseLacks):
        LabelledPairs.from_store(store.location)


def test_which_labels_a_corpus_has_is_known_and_whether_a_source_has_any(judged, tmp_path):
    store = make_store(tmp_path, ["entailment", None]).location
    judged.export(tmp_path / "pairs.parquet")
    expected = {
        corpus: tuple(sorted({row[3] for row in ROWS if row[1] == corpus}))
        for corpus in sorted({row[1] for row in ROWS})
    }
    assert Source(store=store).find(LabelledPairs).labels_by_corpus == {"snli": ("entailment",)}
    assert Source(judged=tmp_path / "pairs.parquet").find(LabelledPairs).labels_by_corpus == expected
    assert Source(texts=tmp_path / "none.parquet").find(LabelledPairs) is None
    assert Source(store=make_store(tmp_path / "other", []).location).find(LabelledPairs) is None


def test_a_source_without_a_corpus_has_nothing_of_it(judged, tmp_path):
    judged.export(tmp_path / "pairs.parquet")
    source = Source(judged=tmp_path / "pairs.parquet", without=("snli",))
    assert rows_of(source.read(LabelledPairs)) == [ROWS[3]]
    with refused(NoTrainingData):
        Source(judged=tmp_path / "pairs.parquet", without=("mnli", "snli")).read(LabelledPairs)
