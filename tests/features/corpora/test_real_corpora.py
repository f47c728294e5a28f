"""The real files, where present: every row is read, and the counts match those that the authors state."""

import gzip
from collections import Counter

import pytest

from features.corpora.dataset import DATASETS
from features.corpora.reading import PairRow, Skip, read_evaluation, read_outcomes
from features.corpora.settings import CorpusSettings, EvaluationSet
from features.corpora.sources import Digests

# Rows by split as in the papers and readme files of the datasets (sts12 without MSRvid, which is not redistributed).
CORPORA = {
    "stsb": (
        {split: f"bamboo/sts/orig.{split}.txt.gz" for split in ("train", "dev", "test")},
        {"train": 5749, "dev": 1500, "test": 1379},
    ),
    "sick": (
        {"train": "sick/SICK_train.txt.gz", "dev": "sick/SICK_trial.txt.gz", "test": "sick/SICK_test_annotated.txt.gz"},
        {"train": 4500, "dev": 500, "test": 4927},
    ),
    "mrpc": (
        {"train": "mrpc/msr-para-train.tsv.gz", "dev": "mrpc/msr-para-val.tsv.gz", "test": "mrpc/msr-para-test.tsv.gz"},
        {"train": 3576, "dev": 500, "test": 1725},
    ),
    "sts12": (
        {"train": "sts12_16/2012/*.train.tsv.gz", "test": "sts12_16/2012/*.test.tsv.gz"},
        {"train": 1484, "test": 2358},
    ),
    "sts13": ({"test": "sts12_16/2013/*.test.tsv.gz"}, {"test": 1500}),
    "sts14": ({"test": "sts12_16/2014/*.test.tsv.gz"}, {"test": 3750}),
    "sts15": ({"test": "sts12_16/2015/*.test.tsv.gz"}, {"test": 3000}),
    "sts16": ({"test": "sts12_16/2016/*.test.tsv.gz"}, {"test": 1186}),
    "snli": (
        {"dev": "snli/dev.tsv.gz", "test": "snli/test.tsv.gz", "train": "snli/cat_subset_train.tsv.gz"},
        {"dev": 9842, "test": 9824, "train": 18000},
    ),
    "mnli": (
        {"dev": "mnli/dev_matched.tsv.gz", "train": "mnli/llmsknow_train.tsv.gz"},
        {"dev": 9815, "train": 10000},
    ),
    "qqp": ({"dev": "qqp/dev.tsv.gz", "test": "qqp/test.tsv.gz"}, {"dev": 10000, "test": 10000}),
    "paws_wiki": ({"dev": "paws_wiki/dev.tsv.gz", "test": "paws_wiki/test.tsv.gz"}, {"dev": 8000, "test": 8000}),
    "paws_qqp": ({"test": "paws_qqp/dev_and_test.tsv.gz"}, {"test": 677}),
    "twitter_url": (
        {"train": "twitter_url/train.tsv.gz", "test": "twitter_url/test.tsv.gz"},
        {"train": 42200, "test": 9324},
    ),
    "pan": (
        {"train": "pan_paraphrase/train.tsv.gz", "test": "pan_paraphrase/test.tsv.gz"},
        {"train": 10000, "test": 3000},
    ),
    "ukp_aspect": ({"test": "ukp_aspect/UKP_ASPECT.tsv"}, {"test": 3595}),
    "flickr30k": (
        {"dev": "flickr30k/val.tsv.gz", "test": "flickr30k/test_2016.tsv.gz"},
        {"dev": 10140, "test": 10000},  # ten pairs of five captions
    ),
    "penman": ({"dev": ("bamboo/sts/src.dev.amr.gz", "bamboo/sts/tgt.dev.amr.gz")}, {"dev": 1501}),  # with `Empty line`
}  # fmt: skip


@pytest.fixture(scope="session")
def data(shared):
    return shared / "data"


@pytest.mark.parametrize("name", CORPORA)
def test_every_row_is_read(data, name):
    files, expected = CORPORA[name]
    labels = "all" if DATASETS[name].labels else None

    counts = Counter()
    for row in read_outcomes(CorpusSettings(dataset=name, files=files, labels=labels), data):
        assert isinstance(row, PairRow) or (isinstance(row, Skip) and row.reason == "not rated"), row
        if isinstance(row, PairRow):
            counts[row.split] += 1

    assert counts == expected


def test_the_pinned_copies_are_recognised(data):
    for name, path, known_as in (
        ("stsb", "bamboo/sts/orig.train.txt.gz", "sts-train.csv"),
        ("sick", "sick/SICK_trial.txt.gz", "SICK_trial.txt"),
        ("mrpc", "mrpc/msr-para-test.tsv.gz", "msr_paraphrase_test.txt"),
        ("paws_wiki", "paws_wiki/dev.tsv.gz", "dev.tsv"),
        ("ukp_aspect", "ukp_aspect/UKP_ASPECT.tsv", "UKP_ASPECT.tsv"),
    ):
        assert Digests({}).of(data / path) == DATASETS[name].sha256[known_as]


def test_scores_are_those_of_the_normalised_files(data):
    # BAMBOO normalised them: STSb by 5, SICK by (score - 1) / 4; its last value, and the first of SICK, are no pair.
    for name, folder, low, width, header in (("stsb", "sts", 0, 5, 0), ("sick", "sick", 1, 4, 1)):
        found = read_evaluation(EvaluationSet(dataset=name, file=f"bamboo/{folder}/orig.test.txt.gz"), data)
        normalised = [float(line) for line in (data / f"bamboo/{folder}/test.y").read_text().split()]
        assert ((found.scores - low) / width).tolist() == pytest.approx(normalised[header:-1])


def test_votes_give_the_labels_of_the_distributed_twitter_set(data):
    votes = "twitter_url/test_raw_with_votes.tsv.gz"
    outcomes = list(read_outcomes(CorpusSettings(dataset="twitter_url", files={"test": votes}, labels="all"), data))
    labels = CorpusSettings(dataset="twitter_url", files={"test": "twitter_url/test.tsv.gz"}, labels="all")
    by_label = Counter(row.label for row in read_outcomes(labels, data) if isinstance(row, PairRow))

    found = Counter(row.label for row in outcomes if isinstance(row, PairRow))
    assert found["1"] == by_label["1"] + 1
    assert found["0"] == by_label["0"] + 9
    assert sum(isinstance(row, Skip) for row in outcomes) == 786


def test_votes_on_tweets_give_the_labels_that_the_makers_of_pit_2015_published(data):
    files = {"dev": "pit2015/dev.data.gz", "test": "pit2015/test.data.gz"}
    by_split = {"dev": [], "test": []}
    for row in read_outcomes(CorpusSettings(dataset="pit2015", files=files), data):
        assert isinstance(row, PairRow) or row.reason == "debatable"
        by_split[row.split].append(row.label if isinstance(row, PairRow) else None)

    with gzip.open(data / "pit2015/test.label.gz", "rt") as official:
        published = [{"true": "1", "false": "0", "----": None}[line.split("\t")[0]] for line in official]
    assert by_split["test"] == published
    assert Counter(by_split["dev"]) == {"1": 1470, "0": 2672, None: 585}  # (3, 2) and up, (1, 4) and down, (2, 3)


def test_duplicate_questions_alone_are_a_table_of_ones_own(data):
    columns = {"sentence_a": "question1", "sentence_b": "question2"}
    settings = CorpusSettings(dataset="pairs", files={"train": "qqp/duplicates_only_t5val.tsv.gz"}, columns=columns)

    assert sum(isinstance(row, PairRow) for row in read_outcomes(settings, data)) == 14927


def test_enclosing_quotes_are_taken_off_where_they_enclose(data):
    for dataset, files in (
        ("qqp", {"dev": "qqp/dev.tsv.gz"}),
        ("snli", {"train": "snli/cat_subset_train.tsv.gz"}),
    ):
        rows = read_outcomes(CorpusSettings(dataset=dataset, files=files, labels="all"), data)
        assert not any('""' in row.text_a or '""' in row.text_b for row in rows if isinstance(row, PairRow))
    mnli = CorpusSettings(dataset="mnli", files={"train": "mnli/llmsknow_train.tsv.gz"}, labels="all")
    assert any(row.text_a.startswith('"') for row in read_outcomes(mnli, data) if isinstance(row, PairRow))
