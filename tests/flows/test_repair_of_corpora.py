"""Lost shards of ingest are restored from the corpora: labels, and what was drawn."""

from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.faults import CannotRebuild, FileMissing
from features.core.pages import tell
from features.corpora.settings import CorpusSettings, DrawSettings
from features.ingest.unread import Memory
from features.schemas import EMBEDDINGS, StageOutput
from features.stages.stage import Recipe
from features.store.fingerprints import fingerprint
from features.store.store import Store
from flows.building import ingest_corpora
from flows.building.ingest_repair import repair_ingested
from flows.project import load

CORPORA = """
[[corpora]]
dataset = "snli"
files = { train = "nli.tsv" }
[[corpora]]
dataset = "texts"
files = { train = "papers.tsv" }
"""


@pytest.fixture
def corpora(project):
    project.write(6, sentences=5, per_shard=4, more=CORPORA)
    (project.folder / "nli.tsv").write_text("premise\thypothesis\tlabel\nA pet .\tA cat .\tentailment\n")
    (project.folder / "papers.tsv").write_text("text\tlabel\nWe parse .\tparsing|tagging\nWe wait .\twaiting\n")
    return load(project.folder / "facetflow.toml")


def emptied(store, *tables):
    """Delete every file of tables, those of ingest by default, and return how many."""
    assert not store.damaged()
    found = [
        Path(store.location) / "tables" / table / file.path
        for table in tables or ("sentences", "pairs", "labels")
        for file in store._table(table).files()
    ]
    for file in found:
        file.unlink()
    return len(found)


def lost_shards(store, table, shards):
    """Delete the files of some shards of a table, and return how many."""
    files = [file for file in store._table(table).files() if file.shard in shards]
    for file in files:
        (Path(store.location) / "tables" / table / file.path).unlink()
    return len(files)


def ingested(corpora):
    """Return a store to which the corpora have been ingested."""
    store = Store.open(corpora.store, create=True)
    ingest_corpora.ingest_corpora(corpora, store, "first")
    return store


def grown(corpora, name, rows):
    """Return a store to which a file has been ingested, and once more with further rows."""
    store = ingested(corpora)
    with (corpora.base / name).open("a") as file:
        file.write(rows)
    ingest_corpora.ingest_corpora(corpora, store, "second")
    return store


def test_every_shard_of_ingest_is_made_again(corpora):
    store = ingested(corpora)
    before = {table: store.read(table, with_shard=True) for table in ("sentences", "pairs", "labels")}
    assert before["labels"].height == 3
    assert repair_ingested(corpora, store, store.damaged(), "none is") == []
    assert Memory.of(store).keys, "no corpus is read again"

    lost = emptied(store)
    assert len(repair_ingested(corpora, store, store.damaged(), "second")) == lost
    assert store.damaged(deep=True) == []
    assert all(store.read(table, with_shard=True).equals(rows) for table, rows in before.items())


@pytest.mark.parametrize("table", ["labels", "pairs"])
def test_rows_name_the_shards_of_their_texts_also_where_a_corpus_before_theirs_has_grown(corpora, table):
    store = ingested(corpora)
    before = store.read(table, with_shard=True)
    with (corpora.base / "pairs.tsv").open("a") as pairs:
        pairs.writelines(f"New {number} .\tOther {number} .\n" for number in range(2))

    assert lost_shards(store, table, set(before.filter(pl.col("corpus") != "mine")["shard"]))
    repair_ingested(corpora, store, store.damaged(), "second")
    assert store.read(table, with_shard=True).equals(before)


def test_a_label_that_was_corrected_before_its_pair_was_lost_is_no_longer_told_as_changed(corpora):
    store = ingested(corpora)
    file = corpora.base / "nli.tsv"
    file.write_text(file.read_text().replace("entailment", "neutral"))
    assert ingest_corpora.ingest_corpora(corpora, store, "second").report.changed

    emptied(store, "pairs")
    repair_ingested(corpora, store, store.damaged(), "third")
    assert "neutral" in store.read("pairs")["label"].to_list()
    assert ingest_corpora.last_ingested(store).report.rows, "retry --failed holds the limit for them"
    assert ingest_corpora.ingest_corpora(corpora, store, "fourth").report.changed == []


def test_what_is_lost_for_good_is_named_also_where_later_pairs_are_still_there(corpora):
    store = grown(corpora, "nli.tsv", "A dog .\tA wolf .\tneutral\n")
    (corpora.base / "pairs.tsv").write_text("sentence_a\tsentence_b\nOne .\tTwo .\n")

    emptied(store, "sentences")
    with refused(CannotRebuild):
        repair_ingested(corpora, store, store.damaged(), "third")


def test_labels_that_came_later_do_not_keep_the_earlier_ones_from_being_made_again(corpora):
    store = grown(corpora, "papers.tsv", "We wait .\tpatience\nWe sing .\tmusic\n")
    before = store.read("labels", with_shard=True)
    assert before["shard"].n_unique() == 2

    emptied(store)
    repair_ingested(corpora, store, store.damaged(), "third")
    assert store.read("labels", with_shard=True).equals(before)


def drawn(corpora, **shares):
    papers = CorpusSettings(dataset="texts", files={"train": "papers.tsv"}, draw=shares)
    return corpora.model_copy(update={"corpora": (papers,)})


def test_texts_in_drawn_splits_are_made_again_as_they_were_drawn(corpora):
    papers = corpora.base / "papers.tsv"
    papers.write_text("text\tlabel\n" + "".join(f"Paper {number}.\tparsing\n" for number in range(30)))
    store = ingested(drawn(corpora, dev=0.3, test=0.2))
    with papers.open("a") as file:
        file.writelines(f"Paper {number}.\ttagging\n" for number in range(20, 60))
    ingest_corpora.ingest_corpora(drawn(corpora, dev=0.3, test=0.2), store, "second")
    before = store.read("labels", with_shard=True)
    assert set(before["split"]) == {"train", "dev", "test"}
    assert before.group_by("sentence").agg(pl.col("split").n_unique())["split"].max() == 1

    lost = emptied(store)
    with refused(CannotRebuild):
        repair_ingested(drawn(corpora, dev=0.1, test=0.2), store, store.damaged(), "third")
    assert len(repair_ingested(drawn(corpora, dev=0.3, test=0.2), store, store.damaged(), "third")) == lost
    assert store.read("labels", with_shard=True).equals(before)


def test_texts_are_made_again_in_the_split_that_later_labels_show_whatever_the_shares_are_by_now(corpora):
    papers = corpora.base / "papers.tsv"
    papers.write_text("text\tlabel\n" + "".join(f"Paper {number}.\tparsing\n" for number in range(30)))
    store = ingested(drawn(corpora, dev=0.3, test=0.2))
    first = set(store.committed("labels"))
    papers.write_text(papers.read_text().replace("parsing\n", "parsing|tagging\n"))
    ingest_corpora.ingest_corpora(drawn(corpora, dev=0.3, test=0.2), store, "second")
    before = store.read("labels", with_shard=True)

    assert lost_shards(store, "labels", first)
    repair_ingested(drawn(corpora, dev=0.1, test=0.1), store, store.damaged(), "third")
    assert store.read("labels", with_shard=True).equals(before)


def test_texts_in_several_spellings_are_made_again_as_they_were_drawn(corpora):
    papers = CorpusSettings(dataset="texts", files={"train": "papers.tsv"}, draw={"dev": 0.3, "test": 0.2})
    corpora = corpora.model_copy(update={"corpora": (papers,)})
    file = corpora.base / "papers.tsv"
    rows = [f"{paper} {number}.\tparsing\n" for number in range(30) for paper in ("Paper", "paper")]
    file.write_text("text\tlabel\n" + "".join(rows))
    store = ingested(corpora)
    before = store.read("labels", with_shard=True)

    lost = emptied(store)
    assert len(repair_ingested(corpora, store, store.damaged(), "second")) == lost
    assert store.read("labels", with_shard=True).equals(before)


@pytest.mark.parametrize("lost", ["first", "second", "all"])
def test_texts_whose_other_spelling_came_later_are_made_again_where_they_were(corpora, lost):
    papers = CorpusSettings(dataset="texts", files={"train": "papers.tsv"}, draw={"dev": 0.3, "test": 0.2})
    corpora = corpora.model_copy(update={"corpora": (papers,)})
    file = corpora.base / "papers.tsv"
    file.write_text("text\tlabel\n" + "".join(f"Paper {number}.\tparsing\n" for number in range(30)))
    store = ingested(corpora)
    first = set(store.committed("labels"))
    with file.open("a") as added:
        added.writelines(f"PAPER {number}!\tparsing\n" for number in range(30))
    ingest_corpora.ingest_corpora(corpora, store, "second")
    before = store.read("labels", with_shard=True)

    second = set(store.committed("labels")) - first
    assert lost_shards(store, "labels", {"first": first, "second": second, "all": first | second}[lost])
    repair_ingested(corpora, store, store.damaged(), "third")
    assert store.read("labels", with_shard=True).equals(before)


@pytest.mark.parametrize("lost", ["first", "second"])
def test_pairs_in_drawn_splits_are_made_again_as_they_were_drawn(corpora, lost):
    def link(chain, number):
        return f"{chain}-{number}\t{chain}-{number + 1}\n"

    drawn = corpora.model_copy(
        update={
            "corpora": (
                CorpusSettings(dataset="pairs", files={"train": "own.tsv"}, draw={"dev": 0.3, "test": 0.2}, name="own"),
            )
        }
    )
    own = corpora.base / "own.tsv"
    own.write_text("sentence_a\tsentence_b\n" + "".join(link(chain, 5) for chain in range(40)))
    store = ingested(drawn)
    first = set(store.committed("pairs"))
    # Chains grow at both ends, so that other sentences stand for them, and new ones come.
    with own.open("a") as file:
        file.writelines(link(chain, number) for number in (4, 6, 3, 7) for chain in range(20, 60))
    report = ingest_corpora.ingest_corpora(drawn, store, "second").report
    before = store.read("pairs", with_shard=True)
    counts = dict(before.filter(kind="positive")["split"].value_counts().iter_rows())
    told = f"Pairs of 'own': {counts['train']} train, {counts['dev']} dev, {counts['test']} test."
    assert ingest_corpora.in_words(drawn, report, [])[1:] == [told]
    assert set(before["split"]) == {"train", "dev", "test"}

    count = lost_shards(store, "pairs", first if lost == "first" else set(store.committed("pairs")) - first)
    assert len(repair_ingested(drawn, store, store.damaged(), "third")) == count > 1
    assert store.read("pairs", with_shard=True).equals(before)


def test_texts_that_keep_their_split_are_told(corpora):
    papers = CorpusSettings(dataset="texts", files={"train": "papers.tsv"})
    other = papers.model_copy(update={"draw": DrawSettings(dev=0.0, test=0.99)})
    store = Store.open(corpora.store, create=True)
    with_draw, without = (corpora.model_copy(update={"corpora": (one,)}) for one in (other, papers))
    ingest_corpora.ingest_corpora(without, store, "first")

    report = ingest_corpora.ingest_corpora(with_draw, store, "second").report
    (told,) = ingest_corpora.warnings(report, drops=True)
    assert told == (
        "2 rows of 'texts' keep the split that the store has them in, although `draw` or `files` of the corpus now "
        "put them into another: what the store holds stays as it is, only new rows follow the change. For other "
        "splits, build a new store."
    )
    assert set(store.read("labels")["split"]) == {"train"}


def test_one_row_and_one_pair_are_told_as_one():
    told = tell("flows.building/ingest.txt", "warnings", {"texts": 1}, {}, {}, {"pairs": 1}, {}, 0)
    assert told.startswith("1 row of 'texts' keeps the split that the store has it in, although `draw` or ")
    assert "\n1 pair of 'pairs' left out, joining sentences" in told


@pytest.fixture
def near(corpora):
    """Return a project whose corpus asks for neighbours, and its store, in which they were drawn twice."""
    mine = CorpusSettings(dataset="pairs", files={"train": "mine.tsv"}, neighbours=2)
    corpora = corpora.model_copy(update={"corpora": (mine,)})
    file = corpora.base / "mine.tsv"
    rows = [f"The cat sees dog {n} .\tDog {n} and cat {n % 3} .\n" for n in range(12)]
    store = Store.open(corpora.store, create=True)
    for run, count in (("first", 6), ("second", 12)):
        file.write_text("sentence_a\tsentence_b\n" + "".join(rows[:count]))
        ingest_corpora.ingest_corpora(corpora, store, run)
        embed(store)
        assert ingest_corpora.add_neighbours(corpora, store, run)
    assert not ingest_corpora.add_neighbours(corpora, store, "third")
    assert ingest_corpora.read_corpora(corpora, store).report.unread == 12, "that neighbours came changes no corpus"
    counts = mine.model_copy(update={"neighbours": 1})  # how many there are now does not change how many there were
    return corpora.model_copy(update={"corpora": (counts,)}), store


def test_neighbours_are_drawn_again_as_they_were(near):
    corpora, store = near
    before = store.read("pairs", with_shard=True)
    assert before.filter(kind="neighbour")["shard"].n_unique() > 2
    lost = emptied(store)
    assert len(repair_ingested(corpora, store, store.damaged(), "third")) == lost
    assert store.read("pairs", with_shard=True).equals(before)
    assert repair_ingested(corpora, store, store.damaged(), "fourth") == []


def test_neighbours_wait_for_embeddings_that_are_lost_as_well(near):
    corpora, store = near
    before = {table: store.read(table, with_shard=True) for table in ("sentences", "pairs")}
    drawn = set(before["pairs"].filter(kind="neighbour")["shard"])
    later = before["pairs"].filter(pl.col("shard") > min(drawn), kind="positive")
    assert later.height, "an ingest came after neighbours, and its shards are numbered after theirs"
    lost = emptied(store, "sentences", "pairs", "embeddings")

    damaged = store.damaged()
    repaired = repair_ingested(corpora, store, damaged, "third")
    waiting = [damage for damage in damaged if damage.table == "pairs" and damage not in repaired]
    assert {damage.shard for damage in waiting} == drawn
    assert len(repaired) + len(waiting) + len(store.committed("embeddings")) == lost
    with refused(CannotRebuild):
        repair_ingested(corpora, store, waiting, "third")

    embed(store, again=True)
    assert repair_ingested(corpora, store, waiting, "third") == waiting
    assert store.damaged() == []
    assert all(store.read(table, with_shard=True).equals(rows) for table, rows in before.items())


def test_lost_pairs_of_a_corpus_whose_file_is_gone_are_told_in_a_sentence(near):
    corpora, store = near
    (corpora.base / "mine.tsv").unlink()
    emptied(store, "pairs", "embeddings")
    with refused(FileMissing):
        repair_ingested(corpora, store, store.damaged(), "third")


def test_shards_that_are_made_again_keep_their_fingerprints_throughout(near):
    corpora, store = near
    before = {table: store.committed(table) for table in ("sentences", "pairs")}
    emptied(store)
    repair_ingested(corpora, store, store.damaged(), "third")
    for table, files in before.items():
        assert store.committed(table) == files
        assert {mark for _, mark in store.provenance(table)} == {file.fingerprint for file in files.values()}


def embed(store, *, again=False):
    """Commit an embedding of each sentence: how often each letter occurs in it."""
    recipe = Recipe("embeddings")
    for shard in store.committed("sentences").keys() - (set() if again else store.committed("embeddings").keys()):
        rows = store.read("sentences", shards=[shard])
        vectors = [[float(text.count(letter)) for letter in "abcdegost0123456789"] for text in rows["text"]]
        vectors = pl.DataFrame({"sentence_id": rows["sentence_id"], "vector": vectors}, schema=EMBEDDINGS)
        mark = fingerprint(recipe, [shard])
        receipt = store.write_shard("embeddings", shard, mark, StageOutput(vectors), expected=rows.height)
        store.commit([receipt], run_id="run", recipes={"embeddings": recipe})
