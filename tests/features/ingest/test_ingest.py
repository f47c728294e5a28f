"""Ingest by example: ids, shards, leakage, changed judgements, and the real corpora."""

import hashlib

import polars as pl
import pytest

from features.corpora.settings import CorpusSettings, EvaluationSet, IngestSettings, LeakageSettings
from features.errors import InputError, SettingsError, StoreError
from features.ingest import ALGORITHM_VERSION, KNOWN_PAIRS, KNOWN_SENTENCES, Ingested, ingest
from features.schemas import PAIRS, SENTENCES
from features.sentences import pair_id, sentence_id
from features.types import RejectCode

NOTHING = pl.DataFrame()
NO_GUARD = LeakageSettings()


def write(path, rows, header="sentence_a\tsentence_b\tscore"):
    path.write_text("\n".join([header, *("\t".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")


def run(base, *known, corpora=None, leakage=NO_GUARD, **settings) -> Ingested:
    corpora = corpora or [CorpusSettings(dataset="pairs", files={"train": "p.tsv"})]
    return ingest(corpora, leakage, IngestSettings(**settings), base, *(known or (NOTHING, NOTHING)))


def stored(*parts: Ingested) -> tuple[pl.DataFrame, pl.DataFrame]:
    tables = []
    for table, columns in (("sentences", KNOWN_SENTENCES), ("pairs", KNOWN_PAIRS)):
        frames = [
            rows.with_columns(shard=pl.lit(shard)) for part in parts for shard, rows in getattr(part, table).items()
        ]
        tables.append(pl.concat(frames).select(list(columns)))
    return tables[0], tables[1]


def pairs_of(ingested: Ingested) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=PAIRS), *ingested.pairs.values()])


@pytest.fixture
def four_pairs(tmp_path):
    write(tmp_path / "p.tsv", [("A.", "B.", 1), ("A.", "C.", 2), ("D.", "E.", 3), ("A.", "B.", 4)])
    return tmp_path


def test_tables_have_the_columns_of_the_store(four_pairs):
    ingested = run(four_pairs)

    assert all(rows.schema == pl.Schema(SENTENCES) for rows in ingested.sentences.values())
    assert all(rows.schema == pl.Schema(PAIRS) for rows in ingested.pairs.values())


def test_ids_follow_from_texts_and_repeats_are_kept(four_pairs):
    positives = pairs_of(run(four_pairs)).filter(kind="positive")

    a, b = sentence_id("A."), sentence_id("B.")
    expected = [pair_id("pairs", "train", "positive", a, b, occurrence) for occurrence in (0, 1)]
    assert positives["pair_id"].to_list()[::3] == expected
    assert positives["score"].to_list() == [1, 2, 3, 4]
    assert positives["positive_id"].null_count() == 4


def test_a_sentence_is_stored_once_normalised_in_the_shard_where_it_was_first_seen(tmp_path):
    write(
        tmp_path / "p.tsv",
        [("A  cat. ", "B."), ("A\u00a0cat.", "Cafe\u0301"), ("B.", "Café")],
        "sentence_a\tsentence_b",
    )

    ingested = run(tmp_path, sentences_per_shard=2)

    assert {shard: rows["text"].to_list() for shard, rows in ingested.sentences.items()} == {
        "sentences-00000": ["A cat.", "B."],
        "sentences-00001": ["Café"],
    }
    placed = {id_: shard for shard, rows in ingested.sentences.items() for id_ in rows["sentence_id"]}
    for row in pairs_of(ingested).iter_rows(named=True):
        assert (row["shard_a"], row["shard_b"]) == (placed[row["sentence_a"]], placed[row["sentence_b"]])


def test_every_positive_gets_a_negative_that_is_no_positive(four_pairs):
    pairs = pairs_of(run(four_pairs))
    positives, negatives = pairs.filter(kind="positive"), pairs.filter(kind="negative")

    assert sorted(negatives["positive_id"]) == sorted(positives["pair_id"])
    assert negatives["score"].null_count() == negatives.height
    anchor = dict(positives.select("pair_id", "sentence_a").iter_rows())
    assert all(anchor[row["positive_id"]] == row["sentence_a"] for row in negatives.iter_rows(named=True))
    together = set(positives.select("sentence_a", "sentence_b").iter_rows())
    assert not together & set(negatives.select("sentence_a", "sentence_b").iter_rows())


def test_only_the_chosen_splits_get_negatives(tmp_path):
    write(tmp_path / "p.tsv", [("A", "B", 1), ("C", "D", 2)])
    files = {"train": "p.tsv"}
    for negatives, expected in ((["train"], 2), ([], 0), (["dev"], 0)):
        corpus = CorpusSettings(dataset="pairs", files=files, negatives=negatives)
        report = run(tmp_path, corpora=[corpus]).report.splits[0]
        assert report.negatives == expected
        assert report.without_negative == 0


def test_negatives_asked_for_later_are_added_to_known_positives(four_pairs):
    without = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, negatives=())
    first = run(four_pairs, corpora=[without])

    second = run(four_pairs, *stored(first))

    assert second.sentences == {}
    assert pairs_of(second)["kind"].to_list() == ["negative"] * 4
    assert list(second.pairs) == ["pairs-00001"]
    # They are those that a first build would have drawn.
    assert set(pairs_of(second)["pair_id"]) == set(pairs_of(run(four_pairs)).filter(kind="negative")["pair_id"])


def test_too_few_pairs_leave_positives_without_negative_and_say_so(tmp_path):
    write(tmp_path / "p.tsv", [("A", "B", 1), ("A", "C", 1), ("A", "A", 5)])

    ingested = run(tmp_path)

    assert ingested.report.splits[0].without_negative == 3
    assert ingested.report.splits[0].new == 3
    assert pairs_of(ingested)["kind"].unique().to_list() == ["positive"]


def test_a_question_with_many_answers_finds_the_few_sentences_that_are_left(tmp_path):
    write(tmp_path / "p.tsv", [*(("Q", f"answer {n}", 1) for n in range(300)), ("X", "Y", 1)])

    ingested = run(tmp_path)

    assert ingested.report.splits[0].negatives == 301
    anchored = pairs_of(ingested).filter(kind="negative", sentence_a=sentence_id("Q"))
    assert anchored.height == 300
    assert set(anchored["sentence_b"]) == {sentence_id("X"), sentence_id("Y")}
    assert anchored["pair_id"].n_unique() == 300


def test_captions_of_one_image_are_no_negatives(tmp_path):
    (tmp_path / "c.tsv").write_text("image\tcaption1\tcaption2\tcaption3\n1\ta1\ta2\ta3\n2\tb1\tb2\tb3\n")
    corpus = CorpusSettings(dataset="flickr30k", files={"train": "c.tsv"})

    ingested = run(tmp_path, corpora=[corpus])

    text = {row[0]: row[1] for rows in ingested.sentences.values() for row in rows.iter_rows()}
    negatives = pairs_of(ingested).filter(kind="negative")
    assert negatives.height == 6
    assert all(text[row["sentence_a"]][0] != text[row["sentence_b"]][0] for row in negatives.iter_rows(named=True))


def test_a_sentence_that_is_too_long_is_a_reject(tmp_path):
    write(tmp_path / "p.tsv", [("one two three", "B", 1), ("one two three four", "B", 1), ("C", "D", 1)])

    ingested = run(tmp_path, max_words=3)

    (reject,) = ingested.rejects
    assert reject.code == RejectCode.SENTENCE_TOO_LONG
    assert reject.entity_id == pair_id(
        "pairs", "train", "positive", sentence_id("one two three four"), sentence_id("B"), 0
    )
    assert reject.message.startswith("p.tsv:3: a sentence has 4 words; expected at most 3")
    assert ingested.report.splits[0].rejected == 1
    assert sentence_id("one two three four") not in {
        id_ for rows in ingested.sentences.values() for id_ in rows["sentence_id"]
    }


def test_rejects_of_the_reader_come_through(tmp_path):
    write(tmp_path / "p.tsv", [("A", "B", "x"), ("C", "", 1), ("C", "D", 1)])

    ingested = run(tmp_path)

    assert [(reject.entity_id, reject.code) for reject in ingested.rejects] == [
        ("p.tsv:2", RejectCode.BAD_SCORE),
        ("p.tsv:3", RejectCode.EMPTY_SENTENCE),
    ]
    assert ingested.report.rejected == 2


def guarded(mode, **files):
    evaluation = [EvaluationSet(dataset="pairs", name=name, file=file) for name, file in files.items()]
    return LeakageSettings(mode=mode, evaluation=evaluation)


@pytest.fixture
def leaking(tmp_path):
    write(
        tmp_path / "p.tsv", [("A cat sleeps.", "B.", 1), ("C.", "a CAT, sleeps", 2), ("D.", "E.", 3), ("F.", "...", 4)]
    )
    write(tmp_path / "one.tsv", [("A cat sleeps", "Nothing.", 1), ("!", "?", 0)])
    write(tmp_path / "two.tsv", [("Else.", "E", 1), ("A cat sleeps!", "Nothing.", 1)])
    return tmp_path


def test_pairs_with_a_sentence_of_an_evaluation_set_are_dropped_from_train(leaking):
    ingested = run(leaking, leakage=guarded("drop", one="one.tsv", two="two.tsv"))

    assert {reject.code for reject in ingested.rejects} == {RejectCode.LEAKED}
    assert len({reject.entity_id for reject in ingested.rejects}) == len(ingested.rejects) == 3
    assert "p.tsv:2: 'A cat sleeps.' is a sentence of one, two" in ingested.rejects[0].message
    counts = ingested.report.splits[0]
    assert (counts.rows, counts.new, counts.dropped, counts.leaked) == (4, 1, 3, 3)
    assert [(leak.evaluation, leak.pairs, leak.sentences) for leak in ingested.report.leaks] == [
        ("one", 2, 2),
        ("two", 3, 3),
    ]
    texts = [text for rows in ingested.sentences.values() for text in rows["text"]]
    assert texts == ["F.", "..."]  # punctuation alone is no sentence that leaks


def test_leaks_are_only_counted_where_asked(leaking):
    ingested = run(leaking, leakage=guarded("report", one="one.tsv"))

    counts = ingested.report.splits[0]
    assert (counts.new, counts.dropped, counts.leaked) == (4, 0, 2)
    assert ingested.rejects == []
    assert [(leak.evaluation, leak.pairs) for leak in ingested.report.leaks] == [("one", 2)]


def test_only_training_splits_are_guarded(leaking):
    corpus = CorpusSettings(dataset="pairs", files={"dev": "p.tsv"})

    ingested = run(leaking, corpora=[corpus], leakage=guarded("drop", one="one.tsv"))

    assert ingested.report.splits[0].new == 4
    assert ingested.report.leaks == []


def test_a_leak_that_is_stored_already_is_reported(leaking):
    first = run(leaking)

    second = run(leaking, *stored(first), leakage=guarded("drop", one="one.tsv", two="two.tsv"))

    counts = second.report.splits[0]
    assert (counts.known, counts.leaked, counts.leaked_stored, counts.dropped) == (4, 3, 3, 0)
    assert second.pairs == {}
    assert second.rejects == []


def test_a_leak_that_is_stored_already_gets_no_negative_and_gives_none(leaking):
    write(leaking / "p.tsv", [("A cat sleeps.", "B.", 1), ("C.", "D.", 2), ("E.", "F.", 3)])
    without = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, negatives=())
    first = run(leaking, corpora=[without])

    second = run(leaking, *stored(first), leakage=guarded("drop", one="one.tsv"))

    negatives = pairs_of(second)
    assert negatives.height == 2
    assert set(negatives["sentence_a"]) == {sentence_id("C."), sentence_id("E.")}
    assert not {sentence_id("A cat sleeps."), sentence_id("B.")} & set(negatives["sentence_b"])


def test_an_evaluation_set_that_cannot_be_read_stops_the_ingest(leaking):
    write(leaking / "bad.tsv", [("A", "B", "x")])

    with pytest.raises(InputError, match="evaluation set 'bad'"):
        run(leaking, leakage=guarded("drop", bad="bad.tsv"))


def test_changed_judgements_are_reported_and_not_taken_over(tmp_path):
    header = "sentence_a\tsentence_b\tscore\tlabel"
    write(tmp_path / "p.tsv", [("A", "B", 1, "x"), ("C", "D", 2, "y"), ("E", "F", "", "")], header)
    first = run(tmp_path)
    write(tmp_path / "p.tsv", [("A", "B", 1, "x"), ("E", "F", 3, ""), ("C", "D", 2, "z")], header)

    second = run(tmp_path, *stored(first))

    assert second.pairs == {}
    assert second.report.splits[0].changed == 2
    assert [
        (change.origin, change.stored_score, change.found_score, change.stored_label, change.found_label)
        for change in second.report.changed
    ] == [
        ("p.tsv:3", None, 3.0, None, None),
        ("p.tsv:4", 2.0, 2.0, "y", "z"),
    ]


def test_two_corpora_with_one_name_are_refused(four_pairs):
    corpus = CorpusSettings(dataset="pairs", files={"train": "p.tsv"})

    with pytest.raises(SettingsError, match="'pairs' is the name of two corpora"):
        run(four_pairs, corpora=[corpus, corpus])


def test_one_pair_in_two_corpora_is_two_pairs_of_the_same_sentences(four_pairs):
    corpora = [CorpusSettings(dataset="pairs", name=name, files={"train": "p.tsv"}) for name in ("x", "y")]

    ingested = run(four_pairs, corpora=corpora)

    assert ingested.report.new_sentences == 5
    assert pairs_of(ingested)["pair_id"].n_unique() == 16


def test_known_tables_that_contradict_each_other_are_refused(four_pairs):
    sentences, pairs = stored(run(four_pairs))

    with pytest.raises(StoreError, match="its sentences are not"):
        run(four_pairs, sentences.head(1), pairs)
    with pytest.raises(StoreError, match=r"lack the columns \['positive_id', 'score', 'label'\]"):
        run(four_pairs, sentences, pairs.select("pair_id", "shard"))
    with pytest.raises(StoreError, match="'pairs-00000' is no shard of 'sentences'"):
        run(four_pairs, sentences.with_columns(shard=pl.lit("pairs-00000")), pairs)


def test_new_shards_are_numbered_after_the_known_ones(four_pairs):
    sentences, pairs = stored(run(four_pairs))
    sentences = sentences.with_columns(shard=pl.lit("sentences-00041"))
    pairs = pairs.with_columns(shard=pl.lit("pairs-100000"))
    write(four_pairs / "p.tsv", [("A.", "B.", 1), ("New.", "Newer.", 1)])

    ingested = run(four_pairs, sentences, pairs)

    assert list(ingested.sentences) == ["sentences-00042"]
    assert list(ingested.pairs) == ["pairs-100001", "pairs-100002"]


def test_the_report_is_data(four_pairs):
    report = run(four_pairs).report

    assert type(report).model_validate_json(report.model_dump_json()) == report
    assert report.frame().select("corpus", "split", "rows", "new", "repeats").rows() == [("pairs", "train", 4, 4, 1)]
    assert [(file.name, len(file.sha256), file.known_as) for file in report.files] == [("p.tsv", 64, None)]


def test_what_a_build_gives_is_pinned(four_pairs):
    """Raise ALGORITHM_VERSION when this changes: stores that were built before hold other ids or negatives."""
    write(four_pairs / "p.tsv", [(f"Sentence {n}.", f"Sentence {n + 7}.", n % 5) for n in range(40)])
    ids = pairs_of(run(four_pairs, pairs_per_shard=16))["pair_id"].to_list()

    assert ALGORITHM_VERSION == "1"
    assert hashlib.sha256(" ".join(ids).encode()).hexdigest()[:16] == "66cb38d92bfdaa9f"


def test_negatives_of_a_shard_need_few_sentence_shards(tmp_path):
    write(tmp_path / "p.tsv", [(f"a {n}", f"b {n}", 1) for n in range(4000)])

    ingested = run(tmp_path, sentences_per_shard=100, pairs_per_shard=250)

    negatives = [rows for rows in ingested.pairs.values() if rows["kind"][0] == "negative"]
    needed = [len({*rows["shard_a"], *rows["shard_b"]}) for rows in negatives]
    assert len(ingested.sentences) == 80
    assert len(negatives) == 16
    assert max(needed) <= 60  # two or three sides of a 4 × 4 grid over 80 shards; in random order all 80
    assert sum(needed) / len(needed) <= 45


def test_the_repeats_of_the_sts_benchmark_are_kept(shared):
    files = {split: f"bamboo/sts/orig.{split}.txt.gz" for split in ("train", "dev")}
    corpus = CorpusSettings(dataset="stsb", name="sts", files=files)

    ingested = run(shared / "data", corpora=[corpus])

    train, dev = ingested.report.splits
    assert (train.new, train.repeats, train.negatives) == (5749, 43, 5749)
    assert (dev.new, dev.negatives) == (1500, 0)
    assert pairs_of(ingested)["pair_id"].n_unique() == 5749 * 2 + 1500
    again = run(shared / "data", *stored(ingested), corpora=[corpus])
    assert (again.sentences, again.pairs, again.rejects) == ({}, {}, [])
    assert [(split.known, split.changed) for split in again.report.splits] == [(5749, 0), (1500, 0)]


def test_the_leaks_of_captions_into_the_test_sets_are_found(shared):
    corpus = CorpusSettings(
        dataset="flickr30k", files={"train": "flickr30k/train.tsv.gz"}, caption_pairs=1, negatives=()
    )
    leakage = LeakageSettings(
        evaluation=[
            EvaluationSet(dataset="stsb", file="bamboo/sts/orig.test.txt.gz"),
            EvaluationSet(dataset="sick", file="sick/SICK_test_annotated.txt.gz"),
        ]
    )

    report = run(shared / "data", corpora=[corpus], leakage=leakage).report

    assert report.splits[0].rows == 29000
    assert {leak.evaluation for leak in report.leaks} == {"stsb-test", "sick-test"}
    assert report.splits[0].dropped == report.splits[0].leaked > 50


# -- the same pairs in train and dev ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dev", "said"),
    [
        ([("B.", "A."), ("C.", "D.")], "All 2 pairs of dev of 'two' are in train of 'pairs' too"),
        ([("A.", "B."), ("C.", "D."), ("G.", "H.")], "2 of 3 pairs of dev of 'two' are in train of 'pairs' too"),
        ([("A.", "B."), ("G.", "H.")], None),
        ([("A.", "D.")], None),
    ],
)
def test_a_dev_that_is_mostly_train_is_told(tmp_path, dev, said):
    write(tmp_path / "train.tsv", [("A.", "B."), ("C.", "D."), ("E.", "F.")], "sentence_a\tsentence_b")
    write(tmp_path / "dev.tsv", dev, "sentence_a\tsentence_b")
    corpora = [
        CorpusSettings(dataset="pairs", files={"train": "train.tsv"}),
        CorpusSettings(dataset="pairs", name="two", files={"dev": "dev.tsv"}),
    ]

    first = run(tmp_path, corpora=corpora)
    again = run(tmp_path, *stored(first), corpora=corpora)

    for report in (first.report, again.report):
        assert [str(overlap).partition(":")[0] for overlap in report.overlaps] == ([said] if said else [])
