"""Output of plan, status, verify and rejects, and that they change nothing."""

import json
import os
import re
from dataclasses import asdict
from pathlib import Path

import pytest
from generated import ENCODER, write_backbone

from features.core.faults import FileChanged
from features.core.types import RejectCode, Shard
from features.ingest.building import Ingested
from features.ingest.report import IngestReport, SplitReport
from features.parsers import bank
from features.schemas import Reject
from features.store.damage import Damage
from features.store.runs import RunRecord
from features.store.storage import FolderStorage
from features.store.store import Store
from flows.building.ingest_corpora import ingest_corpora, label_counts, read_corpora, refusal, warnings
from flows.building.planning import look_ahead
from flows.command_line import run
from flows.commands.gc import _needed
from flows.pages.build_facts import BuildFacts, FactKeeper
from flows.project import load
from flows.stages import chain

READERS = (
    ["plan", "--explain"],
    ["plan", "--deep", "--json"],
    ["status"],
    ["status", "--json"],
    ["verify", "--deep"],
    ["rejects"],
    ["gc", "--dry-run", "--older-than", "0m"],
)


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Return inode, size and time of everything in a folder."""
    entries = [folder, *folder.rglob("*")]
    return {str(entry): (entry.stat().st_ino, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries}


def test_commands_that_read_write_nothing(built, monkeypatch, capsys):
    # Another graph file, for which a build would make another index and delete the one that is there.
    with (built.folder / "graphs.amr").open("a") as graphs:
        graphs.write("\n# ::snt One more .\n(m / more)\n")
    before = snapshot(built.folder)
    monkeypatch.chdir(built.folder)
    for command in READERS:
        assert run(command) == 0, capsys.readouterr().err
        assert snapshot(built.folder) == before, command


def test_the_times_of_a_copied_store_are_not_said_to_be_right(built, here):
    for file in (built.folder / "store").rglob("*.parquet"):
        os.utime(file, (2**32, 2**32))
    assert here.done(built, "verify").endswith("MB: no damage by size and time; --deep reads every byte.\n")


def test_a_plan_does_not_touch_the_index_of_graphs_of_a_running_build(built, here):
    index = built.folder / "store" / "graphs"
    (built.folder / "graphs.amr").write_text("# ::snt One .\n(o / one)\n")
    before = snapshot(index)
    here.done(built, "plan")
    assert snapshot(index) == before


def test_an_index_of_graphs_that_change_while_they_are_read_is_not_kept(project, monkeypatch):
    project.write(4)
    settings = load(project.folder / "facetflow.toml")
    store = Store.open(settings.store, create=True)
    build_bank = bank.build_bank

    def cut(files, index):
        os.truncate(files[0], 100)
        build_bank(files, index)

    monkeypatch.setattr(bank, "build_bank", cut)
    with pytest.raises(FileChanged):
        chain(settings, store)
    assert store.storage.names("graphs") == []


def test_a_first_build_is_planned_without_making_a_store(project, monkeypatch, capsys):
    project.write(10, sentences=4, per_shard=4)
    monkeypatch.chdir(project.folder)
    before = snapshot(project.folder)
    assert run(["plan", "--explain"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Read 10 rows: 10 new sentences in 3 shards, 20 new pairs in 6 shards.",
        "amr: 3 shards, 3 to do: 3 new",
        "label_vectors: 3 shards, 3 to do: 3 new",
        "metrics: 6 shards, 6 to do: 6 new",
        "Release 1 would follow.",
        "1 encoder would be trained: s3bert, because it has no finished training.",
    ]
    assert snapshot(project.folder) == before
    assert not (project.folder / "store").exists()


def test_a_release_after_a_store_was_restored_has_no_number_that_a_training_names(project, here):
    project.write(10, sentences=4, per_shard=4)
    run_of_before = project.folder / "runs/s3bert/00007-aaaaaa/seed-0"
    run_of_before.mkdir(parents=True)
    (run_of_before / "train.json").touch()
    assert "Release 8 would follow." in here.done(project, "plan")


def test_a_refresh_is_planned_with_its_new_rows(built, here):
    built.write(62, sentences=8, per_shard=8)
    planned = json.loads(here.done(built, "plan", "--json"))
    assert planned["stages"] == [
        {"stage": "amr", "shards": 9, "unwanted": 0, "to_do": 1},
        {"stage": "label_vectors", "shards": 9, "unwanted": 0, "to_do": 1},
        {"stage": "metrics", "shards": 18, "unwanted": 0, "to_do": 2},
    ]
    assert [work["kind"] for work in planned["to_do"]] == ["new"] * 4
    assert planned["obstacles"] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_plan_foresees_the_release_and_the_identity_of_what_follows(built, facetflow, here):
    def due():
        planned = json.loads(here.done(built, "plan", "--json"))
        return planned["release"], planned["publishes"], planned["due"]

    assert due()[:2] == (1, False)
    built.write(62, sentences=8, per_shard=8, more=ENCODER)
    write_backbone(built.folder / "backbone")
    assert here.done(built, "plan").splitlines()[-2:] == [
        "Release 2 would follow.",
        "1 encoder would be trained: s3bert, because it has no finished training.",
    ]
    ahead = due()
    facetflow.done(built, "build")
    assert due() == (2, False, ahead[2]), "the same identity, from the plan and from the release"


@pytest.fixture
def of_texts(tmp_path):
    """A project of texts with topics, whose table a test writes."""
    (tmp_path / "facetflow.toml").write_text(
        'name = "mine"\nencoders = []\nlimits.rejected_rows = 1.0\n[[corpora]]\ndataset = "texts"\nname = "mine"\n'
        'files.train = "mine.tsv"\naspects = { topic = "topic" }\n'
    )
    return load(tmp_path / "facetflow.toml")


def test_rows_that_are_newly_rejected_make_a_release(tmp_path, of_texts):
    table = tmp_path / "mine.tsv"
    table.write_text("text\ttopic\nA cat.\tanimals\n")
    store = Store.open(of_texts.store, create=True)
    strict = of_texts.model_copy(update={"limits": of_texts.limits.model_copy(update={"rejected_rows": 0.0})})
    for number, rows in enumerate(("A dog.\n", "A dog.\nA cow.\n", ""), start=1):
        ingest_corpora(of_texts, store, f"run-{number}")
        assert store.publish(f"run-{number}", stages=[]).number == number
        assert not look_ahead(of_texts).publishes
        table.write_text(f"text\ttopic\nA cat.\tanimals\n{rows}")
        assert look_ahead(of_texts).publishes, rows
        ahead = look_ahead(strict)
        assert (ahead.release, ahead.publishes) == ((number, False) if rows else (number + 1, True))


def test_a_release_is_followed_where_it_cannot_be_read_and_stays_where_its_rejects_are_made_again(tmp_path, of_texts):
    (tmp_path / "mine.tsv").write_text("text\ttopic\nA cat.\tanimals\nA dog.\n")
    store = Store.open(of_texts.store, create=True)
    ingest_corpora(of_texts, store, "run")
    release = store.publish("run", stages=[])
    (rejects,) = (tmp_path / "store/tables/rejects").rglob("*.parquet")
    rejects.unlink()
    ahead = look_ahead(of_texts)
    assert (len(ahead.damaged), ahead.release, ahead.publishes) == (1, 1, False)
    pinned = {"versions": {**release.versions, "labels": 99}}
    (tmp_path / "store/releases/00001.json").write_text(json.dumps(asdict(release) | pinned))
    ahead = look_ahead(of_texts)
    assert (ahead.release, ahead.publishes) == (2, True)


def test_a_plan_lists_the_log_of_a_table_once(tmp_path, monkeypatch, of_texts):
    (tmp_path / "mine.tsv").write_text("text\ttopic\nA cat.\tanimals\n")
    ingest_corpora(of_texts, Store.open(of_texts.store, create=True), "run")
    listed, names = [], FolderStorage.names
    monkeypatch.setattr(FolderStorage, "names", lambda *given: listed.append(given[-1]) or names(*given))
    for _ in range(2):  # a later plan looks again
        look_ahead(of_texts)
        logs = [folder for folder in listed if str(folder).endswith("_delta_log")]
        assert logs
        assert len(logs) == len(set(logs))
        listed.clear()


def test_rows_that_ingest_would_reject_stand_in_the_way(project, here):
    project.write(10)
    with (project.folder / "pairs.tsv").open("a") as pairs:
        pairs.write("\tan empty one\n" * 2)
    assert here.done(project, "plan").splitlines()[-1] == (
        "Nothing will be published: 2 of 12 rows of the corpora were rejected, more than the 5.0% allowed, 2 of them "
        "as 'empty_sentence' (pairs.tsv:12: a sentence is empty; expected two sentences); correct them, or raise "
        "limits.rejected_rows. `facetflow rejects --stage ingest` lists what a build has read."
    )


def test_rows_that_are_left_out_for_evaluation_are_no_reason_to_publish_nothing():
    leaked = [Reject(f"leaked-{number}", RejectCode.LEAKED, "a sentence of STSb") for number in range(3)]
    long = Reject("long", RejectCode.SENTENCE_TOO_LONG, "1,000 words")
    wrong = [Reject(f"wrong-{number}", RejectCode.EMPTY_SENTENCE, "a sentence is empty") for number in range(2)]
    split = SplitReport(corpus="mine", split="train", rows=30, new=24, dropped=3, rejected=3)
    ingested = Ingested({}, [*leaked, long, *wrong], IngestReport(splits=[split]))
    assert refusal(ingested, 0.1) is None
    assert "3 of 30 rows of the corpora were rejected" in refusal(ingested, 0.05)
    assert "2 of them as 'empty_sentence' (a sentence is empty)" in refusal(ingested, 0.05)


def test_a_train_and_a_dev_of_one_file_are_told(project, monkeypatch, capsys):
    project.write(10)
    toml = project.folder / "facetflow.toml"
    toml.write_text(toml.read_text().replace('train = "pairs.tsv"', 'train = "pairs.tsv", dev = "copy.tsv"'))
    (project.folder / "copy.tsv").write_text((project.folder / "pairs.tsv").read_text())
    monkeypatch.chdir(project.folder)
    assert run(["plan"]) == 0
    assert capsys.readouterr().err == (
        "All 10 pairs of dev of 'mine' are also in train of 'mine': encoders that learn from train leave these out; "
        "give each split its own pairs.\n"
    )


def test_verify_names_all_releases_that_need_a_file():
    damage = Damage("amr", "amr", Shard("s"), "s.parquet", "missing", "is missing", current=False, releases=(1, 2))
    assert _needed(damage).startswith("; only releases 1, 2 need it, and no build")


def test_verify_says_what_to_do(built, monkeypatch, capsys):
    file = next((built.folder / "store/tables/amr").rglob("*.parquet"))
    os.truncate(file, 10)
    monkeypatch.chdir(built.folder)
    assert run(["verify"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("damaged: amr sentences-0000")
    assert f"{str(file.relative_to(built.folder / 'store'))!r} has 10 bytes instead of " in out
    assert out.endswith("; release 1 needs it\n")
    assert err.startswith("facetflow: 1 file is damaged, of ")
    assert err.endswith("`facetflow build` rebuilds what can be rebuilt (FF322).\n")

    assert run(["verify", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [damage["problem"] for damage in found["damaged"]] == ["size"]
    assert found["releases_hurt"] == [1]


def test_status_says_which_shards_are_wanted_and_which_are_missing(built, here):
    (toml := built.folder / "facetflow.toml").write_text(
        toml.read_text().replace("[dependencies]\nenabled = false", '[dependencies]\nenabled = true\nmodel = "nowhere"')
    )
    tables = {table["table"]: table for table in json.loads(here.done(built, "status", "--json"))["tables"]}
    assert (tables["amr"]["shards"], tables["amr"]["wanted"], tables["amr"]["missing"]) == (8, 8, 0)
    trees = tables["dependencies"]
    assert (trees["shards"], trees["wanted"], trees["missing"]) == (0, 8, 8)
    assert tables["pairs"]["wanted"] is None
    said = here.done(built, "status")
    assert re.search(r"  amr +8 shards +60 rows +0.0 MB, 8 wanted\n", said)
    assert re.search(r"  dependencies +0 shards +0 rows +0.0 MB, 8 wanted, 8 to make\n", said)


def test_status_tells_a_build_that_was_killed(built, here):
    built.store.record_run(RunRecord("20990101T000000-0000", "build_features", "2099-01-01T00:00:00+00:00", number=2))
    assert "20990101T000000-0000 killed: its process no longer builds; what was committed" in here.done(built, "status")
    found = json.loads(here.done(built, "status", "--json"))
    assert (found["project"], found["runs"][0]["state"]) == ("generated", "killed")


@pytest.mark.parametrize("address", ["file:///{folder}/elsewhere", "{folder}/elsewhere"])
def test_a_store_may_be_named_by_a_url(project, here, address):
    folder = str(project.folder).lstrip("/") if address.startswith("file") else str(project.folder)
    project.write(4, store=address.format(folder=folder))
    Store.open(project.folder / "elsewhere", create=True)
    here.done(project, "status")
    assert not (project.folder / "file:").exists()


COUNTS = (
    "Aspect 'label' of 'texts': 2 labels on 2 texts, 2 with fewer than 5 training texts (`min_texts`); the most "
    "frequent: 'parsing' (1), 'waiting' (1)."
)


def test_a_project_for_aspects_is_planned_in_words_of_texts_and_labels(tmp_path, capfd):
    (tmp_path / "papers.tsv").write_text("text\tlabel\nWe parse .\tparsing\nWe wait .\twaiting\n")
    (tmp_path / "facetflow.toml").write_text(
        'name = "papers"\n[[corpora]]\ndataset = "texts"\nfiles = { train = "papers.tsv" }\n'
        '[[encoders]]\nname = "task"\nkind = "aspect"\n'
    )

    assert run(["plan", "--project", str(tmp_path)]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "Read 2 rows: 2 new texts, 2 new labels.",
        COUNTS,
        "There is nothing to parse or measure: no encoder reads a stage, and none has `enabled = true`.",
        "Release 1 would follow.",
        "1 encoder would be trained: task, because it has no finished training.",
    ]


def test_labels_are_rare_below_what_the_first_encoder_that_learns_them_asks_for(tmp_path, of_texts):
    encoders = [("other", 'corpora = ["reviews"]', 7), ("first", 'aspects = ["topic"]', 2), ("second", "", 9)]
    more = "".join(f'[[encoders]]\nname = "{n}"\nkind = "aspect"\n{of}\nmin_texts = {m}\n' for n, of, m in encoders)
    reviews = '[[corpora]]\ndataset = "mr"\nname = "reviews"\nfiles.train = "mr.txt"\n'
    toml = (tmp_path / "facetflow.toml").read_text().replace("encoders = []\n", "")
    (tmp_path / "facetflow.toml").write_text(f"{toml}{reviews}{more}")
    topics = ["plants", "animals", "animals", "cars", "dishes", "cars"]
    rows = "".join(f"Text {number}.\t{topic}\n" for number, topic in enumerate(topics))
    (tmp_path / "mine.tsv").write_text(f"text\ttopic\n{rows}")
    (tmp_path / "mr.txt").write_text("1 a film\n")
    project = load(tmp_path / "facetflow.toml")
    store = Store.open(project.store, create=True)
    ingest_corpora(project, store, "run")
    (counts,) = label_counts(project, store)
    assert (counts["corpus"], counts["labels"], counts["rare"], counts["min_texts"]) == ("mine", 4, 2, 2)
    assert list(counts["most"].items()) == [("animals", 2), ("cars", 2), ("dishes", 1)]


def test_of_many_labels_that_are_not_asked_for_the_first_are_told(tmp_path, capfd):
    rows = "".join(f"A\tB\tlabel {number}\n" for number in range(9))
    (tmp_path / "p.tsv").write_text(f"sentence_a\tsentence_b\tlabel\nA\tB\tyes\n{rows}")
    corpus = '[[corpora]]\ndataset = "pairs"\nfiles.train = "p.tsv"\nlabels = ["yes"]\n'
    (tmp_path / "facetflow.toml").write_text(f'name = "labels"\nencoders = []\n{corpus}')
    assert run(["plan", "--project", str(tmp_path)]) == 0
    assert capfd.readouterr().out.splitlines()[0].endswith("1 label label 4, 4 for other reasons.")


def test_rows_that_are_no_judgement_are_told_with_the_reason(tmp_path, capfd):
    rows = ["1\tBlizzard\tsnow\tsnow again\t(4, 1)\tx\ty", "1\tBlizzard\tsnow\train\t(2, 3)\tx\ty"]
    (tmp_path / "dev.data").write_text("".join(f"{row}\n" for row in rows))
    (tmp_path / "facetflow.toml").write_text(
        'name = "tweets"\n[[corpora]]\ndataset = "pit2015"\nfiles = { dev = "dev.data" }\n'
    )
    assert run(["plan", "--project", str(tmp_path)]) == 0
    assert ", 1 left out: debatable." in capfd.readouterr().out.splitlines()[0]
    report = read_corpora(load(tmp_path / "facetflow.toml"), Store.open(tmp_path / "store", create=True)).report
    keeper = object.__new__(FactKeeper)
    keeper.facts = BuildFacts("tweets", "store", "run", "host:1", "2026-01-01T00:00:00+00:00")
    keeper.read(report)
    assert keeper.facts.ingest["skipped"] == {"debatable": 1}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            'aspects = ["topick"]',
            "names 'topick', in which no text has a label; did you mean 'topic'? There are: area,",
        ),
        (
            'aspects = ["topic"]\ncorpora = ["other"]',
            "names 'topic', in which no text has a label; there are: mood (FF212).",
        ),
        ("", "the texts have labels in 3 aspects (area, mood, topic): name one in `aspects` of the encoder 'mine'"),
    ],
)
def test_aspects_that_an_encoder_cannot_learn_are_told_by_the_plan(tmp_path, monkeypatch, capsys, asked, said):
    corpora = (
        '[[corpora]]\ndataset = "texts"\nname = "{}"\nfiles = {{ train = "texts.tsv" }}\naspects = {{ {} }}\n'.format(
            *of
        )
        for of in (("papers", 'topic = "x", area = "y"'), ("other", 'mood = "y"'))
    )
    encoder = f'[[encoders]]\nname = "mine"\nkind = "aspect"\n{asked}\n'
    (tmp_path / "facetflow.toml").write_text(f'name = "papers"\n{"".join(corpora)}{encoder}')
    (tmp_path / "texts.tsv").write_text("text\tx\ty\nOne.\tparsing\tNLP\nTwo.\ttagging\tNLP\n")
    monkeypatch.chdir(tmp_path)

    assert run(["plan"]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ("no\t3", "\t3", "('no', now empty)"),
        ("\t3", "no\t3", "(empty, now 'no')"),
        ("no\t3", "no\t2", "(3.0, now 2.0)"),
        ("no\t3", "no\t", "(3.0, now empty)"),
    ],
    ids=["label emptied", "label given", "score changed", "score emptied"],
)
def test_a_changed_judgement_is_told_as_it_was_and_is(tmp_path, before, now, said):
    (tmp_path / "facetflow.toml").write_text(
        'name = "judged"\n[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "pairs.tsv" }\n'
    )
    store = Store.open(tmp_path / "store", create=True)
    settings = load(tmp_path / "facetflow.toml")
    rows = "sentence_a\tsentence_b\tlabel\tscore\nOne.\tTwo.\tyes\t1\nThree.\tFour.\t"
    (tmp_path / "pairs.tsv").write_text(f"{rows}{before}\n")
    ingest_corpora(settings, store, "run")
    (tmp_path / "pairs.tsv").write_text(f"{rows}{now}\n")

    told = warnings(read_corpora(settings, store).report, drops=True)[-1]

    assert told.startswith(
        f"1 row of 'mine' has another score or label than in the store, such as pairs.tsv:3 {said}: what the store"
    )
