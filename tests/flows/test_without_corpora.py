"""A project without corpora trains on the store that another builds, and no command of it writes there."""

import json
from pathlib import Path

import pytest
from generated import commit_rows
from sentences import refused

from features.core.faults import MissingKey, NoRelease, NoStore, OtherProjectsServer, TrainingFailed
from features.sentences import sentence_id
from features.store.store import Store
from flows.command_line import run
from flows.console.here import Here
from flows.console.searching import texts_among
from flows.deployments import target_of
from flows.refresh import refresh
from flows.train_encoder import train_encoder

PROJECT = 'name = "theirs"\n[[evaluation]]\ndataset = "pairs"\nname = "rated"\nsplit = "test"\nfile = "rated.tsv"\n'


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store of the project `theirs` with a release, of which one training pair has an evaluation sentence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACETFLOW_PRIVATE_SERVER", "1")
    Path("facetflow.toml").write_text(PROJECT)
    Path("rated.tsv").write_text("sentence_a\tsentence_b\tscore\nA cat sat.\tA dog sat.\t1\n")
    store = Store.open(tmp_path / "store", create=True, project="theirs")
    shard, texts = "sentences-00000", ["A cat sat!", "A bird sat.", "A dog sat.", "An owl sat."]
    ids = [sentence_id(text) for text in texts]
    shards = {"kind": "positive", "shard_a": shard, "shard_b": shard}
    pairs = [
        {"pair_id": split, "corpus": "news", "split": split, "sentence_a": a, "sentence_b": b} | shards
        for split, a, b in (("train", *ids[:2]), ("dev", *ids[2:]))
    ]
    rows = [{"sentence_id": identity, "text": text} for identity, text in zip(ids, texts, strict=True)]
    labels = [
        {"label_id": text, "corpus": "pets", "split": "train", "sentence": sentence_id(text), "aspect": "pet"}
        | {"label": text[:3], "sentence_shard": shard}
        for text in texts[:2]
    ]
    commit_rows(store, sentences=rows, pairs=pairs, labels=labels)
    store.publish("one", stages=())
    return store


def files_of(store: Store) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in Path(str(store.location)).rglob("*") if file.is_file()}


@pytest.mark.parametrize("command", ["build", "build --adopt", "retry --failed", "gc --older-than 0m", "gc --dry-run"])
def test_what_writes_the_store_is_refused_and_nothing_is_retracted(command, store, refuses):
    before = files_of(store)
    refuses(MissingKey, *command.split())
    assert files_of(store) == before


def test_what_reads_the_store_knows_all_of_it_and_changes_nothing(store, capsys):
    Path("facetflow.toml").write_text(PROJECT.replace("theirs", "mine"))
    before = files_of(store)
    for command in ("plan --json", "status --json", "plan", "verify --deep", "rejects", "runs"):
        assert run(command.split()) == 0, capsys.readouterr().err
        if command == "plan --json":
            planned = json.loads(capsys.readouterr().out)
            assert [item["encoder"] for item in planned["due"]] == ["s3bert"]
            assert (planned["release"], planned["publishes"], planned["stages"]) == (1, False, [])
            assert "[metrics] of the project that builds" in planned["pointless"][0]
        if command == "status --json":
            assert {table["wanted"] for table in json.loads(capsys.readouterr().out)["tables"]} == {None}
    assert target_of(Path("facetflow.toml")).resource == f"facetflow.store.{store.id}"
    assert len(texts_among(Here.read(Path("facetflow.toml")), "news", ())) == 4
    assert files_of(store) == before


def test_the_deployments_of_the_owner_are_not_taken_over_by_its_name(store):
    with refused(OtherProjectsServer):
        target_of(Path("facetflow.toml"))


def test_a_refresh_builds_nothing_and_asks_for_a_release(store, tmp_path):
    Path("facetflow.toml").write_text("encoders = []\n" + PROJECT)
    before = files_of(store)
    state = refresh.fn(Path("facetflow.toml"))
    assert (state.name, state.data.build) == ("Completed", None)
    assert files_of(store) == before
    Store.open(tmp_path / "empty", create=True)
    Path("facetflow.toml").write_text('encoders = []\nstore = "empty"\n' + PROJECT)
    with refused(NoRelease):
        refresh.fn(Path("facetflow.toml"))


@pytest.mark.parametrize(
    ("encoder", "mode", "told"),
    [
        ('kind = "pas"', "drop", "1 of 1 training pairs of 'pas'"),
        ('kind = "pas"\nsplits = ["test", "dev"]', "drop", ""),
        ('kind = "pas"\ncorpora = ["books"]', "drop", ""),
        ('kind = "aspect"', "drop", "1 of 2 training labels of 'aspect'"),
        ('kind = "aspect"', "off", ""),
    ],
)
def test_a_training_counts_evaluation_sentences_of_which_the_build_knew_nothing(
    encoder, mode, told, store, capsys, monkeypatch
):
    def fail(*_: object) -> None:
        raise TrainingFailed("not trained here")

    monkeypatch.setattr("flows.train_encoder.run_job", fail)
    Path("facetflow.toml").write_text(f'{PROJECT}[leakage]\nmode = "{mode}"\n[[encoders]]\n{encoder}\n')
    with pytest.raises(TrainingFailed):
        train_encoder.fn()
    err = capsys.readouterr().err
    assert told in err
    assert ("evaluation sentences" in err) is bool(told)


@pytest.mark.parametrize(("command", "fault"), [("plan", NoStore), ("train", NoStore), ("build", MissingKey)])
def test_a_store_that_is_not_there_is_named_and_runs_need_none(command, fault, store, tmp_path, refuses):
    (tmp_path / "store").rename(tmp_path / "moved")
    refuses(fault, command)
    assert not (tmp_path / "store").exists()
    assert run(["runs"]) == 0
