"""Negatives: which pairs get one, and what is never drawn."""

from features.corpora.settings import CorpusSettings
from features.sentences import sentence_id
from tests.features.ingest.ingests import pairs_of, run, write


def test_only_the_chosen_splits_get_negatives(tmp_path):
    write(tmp_path / "p.tsv", [("A", "B", 1), ("C", "D", 2)])
    files = {"train": "p.tsv"}
    for negatives, expected in ((["train"], 2), ([], 0), (["dev"], 0)):
        corpus = CorpusSettings(dataset="pairs", files=files, negatives=negatives)
        report = run(tmp_path, corpus).report.splits[0]
        assert report.negatives == expected
        assert report.without_negative == 0


def test_negatives_asked_for_later_are_added_to_known_positives(four_pairs):
    without = CorpusSettings(dataset="pairs", files={"train": "p.tsv"}, negatives=())
    first = run(four_pairs, without)

    second = run(four_pairs, known=[first])

    assert second.tables["sentences"] == {}
    assert pairs_of(second)["kind"].to_list() == ["negative"] * 4
    assert list(second.tables["pairs"]) == ["pairs-00001"]
    # They are those that a first build would have drawn.
    assert set(pairs_of(second)["pair_id"]) == set(pairs_of(run(four_pairs)).filter(kind="negative")["pair_id"])


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

    ingested = run(tmp_path, corpus)

    text = {row[0]: row[1] for rows in ingested.tables["sentences"].values() for row in rows.iter_rows()}
    negatives = pairs_of(ingested).filter(kind="negative")
    assert negatives.height == 6
    assert all(text[row["sentence_a"]][0] != text[row["sentence_b"]][0] for row in negatives.iter_rows(named=True))


def test_negatives_of_a_shard_need_few_sentence_shards(tmp_path):
    write(tmp_path / "p.tsv", [(f"a {n}", f"b {n}", 1) for n in range(4000)])

    ingested = run(tmp_path, sentences_per_shard=100, pairs_per_shard=250)

    negatives = [rows for rows in ingested.tables["pairs"].values() if rows["kind"][0] == "negative"]
    needed = [len({*rows["shard_a"], *rows["shard_b"]}) for rows in negatives]
    assert len(ingested.tables["sentences"]) == 80
    assert len(negatives) == 16
    assert max(needed) <= 60  # two or three sides of a 4 × 4 grid over 80 shards; in random order all 80
    assert sum(needed) / len(needed) <= 45
