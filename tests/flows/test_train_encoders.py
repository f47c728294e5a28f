"""Which encoders a training covers: all or some, several seeds, those that are due; a failing one stops none.

The kind is a toy that reads pairs alone and learns nothing, so that no model is needed.
"""

import dataclasses
import json
import os
import pickle
import shutil

import pytest
from generated import commit_rows
from sentences import refused

from features.core.errors import InputError, PartlyDoneError
from features.core.faults import TrainingFailed, UnknownName
from features.sentences import sentence_id
from features.store.store import Store
from flows.command_line import run
from flows.project import Project
from flows.train_encoder import train_encoder
from flows.trainings.due import (
    Contents,
    due,
    evaluation_identity,
    evaluation_job,
    run_of,
    training_identity,
)
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import Source
from training.kinds import KINDS, Kind
from training.run_records import record_evaluation, record_failed_evaluation, state_of, trained_as
from training.runs import settings_digest

TOY = """
import json, sys
from pathlib import Path

path = Path(sys.argv[sys.argv.index("--settings") + 1])
job = json.loads(path.read_text())
output = Path(job["output"])
if job["settings"]["name"] == "broken":
    sys.stderr.write("error: There is nothing to learn from.\\n")
    sys.exit(1)
output.joinpath("train.json").write_text(json.dumps(job))
output.joinpath("shared").write_text(str(job["shared"] and Path(job["shared"]).is_dir()))
file = output / "encoder" / "training.json"
if not file.exists():
    file.parent.mkdir()
    course = {"steps": 1, "best_step": 1, "dev": {}, "seconds": 0.0, "pairs_per_second": 1.0}
    file.write_text(json.dumps({"settings": job["settings"], **course}))
"""


def add_shard(store, corpus, number):
    """Commit a shard of pairs of a corpus, with its sentences."""
    texts = [f"{corpus} {number} {side}" for side in "ab"]
    a, b = map(sentence_id, texts)
    pair = {"pair_id": f"{corpus}-{number}", "corpus": corpus, "split": "train", "sentence_a": a, "sentence_b": b}
    shard = f"sentences-{number:05d}"
    sentences = [{"sentence_id": identity, "text": text} for identity, text in zip((a, b), texts, strict=True)]
    commit_rows(
        store, number, sentences=sentences, pairs=[pair | {"kind": "positive", "shard_a": shard, "shard_b": shard}]
    )


@pytest.fixture
def store(tmp_path):
    """A store with two releases; the second has more of the corpus `news`."""
    store = Store.open(tmp_path / "store", create=True)
    add_shard(store, "captions", 0)
    add_shard(store, "news", 1)
    store.publish("one", stages=())
    add_shard(store, "news", 2)
    store.publish("two", stages=())
    return store


def encoder(name, *corpora, **more):
    return S3bertSettings(name=name, corpora=corpora, **more)


@pytest.fixture
def project(tmp_path, store, monkeypatch):
    """Return a function that makes a project of some encoders, which are of the toy kind."""
    (tmp_path / "toy_training.py").write_text(TOY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("FACETFLOW_PRIVATE_SERVER", "1")
    toy = Kind(S3bertSettings, "toy_training", tables=("sentences", "pairs"))
    monkeypatch.setattr("flows.train_encoder.TRAIN", "toy_training")
    for module in ("flows.trainings.due", "training.kinds"):
        monkeypatch.setattr(f"{module}.KINDS", {**KINDS, "s3bert": toy})

    def make(*encoders, evaluation=()):
        made = Project.model_validate(
            {
                "name": "ours",
                "store": store.location,
                "runs": str(tmp_path / "runs"),
                "corpora": [{"dataset": "example", "name": name} for name in ("captions", "news")],
                "metrics": {"enabled": False},
                "evaluation": evaluation,
            }
        ).model_copy(update={"encoders": encoders})
        monkeypatch.setattr("flows.train_encoder.project.load", lambda _: made)
        return made

    return make


def train(*names, **more):
    return train_encoder.fn(names=names, **more)


def trainings_due(made, store, release=None):
    """Return encoder → why its training is due on a release."""
    items = due(made, Contents.of(store, store.release(release)))
    return {item.encoder.name: item.reason for item in items if item.step == "training"}


def test_all_encoders_are_trained_by_default_and_metrics_may_be_off(project):
    made = project(encoder("one"), encoder("two"))
    found = train()
    assert [(one.name, one.release, one.seed, one.was_done) for one in found] == [
        ("one", 2, 0, False),
        ("two", 2, 0, False),
    ]
    assert [one.folder.relative_to(made.runs).parts[::2] for one in found] == [("one", "seed-0"), ("two", "seed-0")]
    assert all(one.was_done for one in train()), "the same training is the same run"


def test_some_are_trained_by_name_on_a_release_with_several_seeds(project):
    project(encoder("one"), encoder("two", loop={"seed": 5}))
    found = train("two", release=1, seeds=3)
    assert [one.run.partition("/")[0] for one in found] == ["two"] * 3
    assert [(one.release, one.seed) for one in found] == [(1, 5), (1, 6), (1, 7)]
    jobs = [json.loads((one.folder.parent / "train.json").read_text()) for one in found]
    assert [job["settings"]["loop"]["seed"] for job in jobs] == [5, 6, 7]
    assert len({one.folder.parent.parent for one in found}) == 1
    with refused(UnknownName):
        train("three")


def test_the_trainings_of_a_command_share_a_folder_that_goes_with_it(project, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed = tmp_path / ".facetflow-states-abcdefgh"
    killed.mkdir()
    project(encoder("one"), encoder("two"))
    found = [one.folder.parent for one in train(seeds=2)]
    (shared,) = {json.loads((run / "train.json").read_text())["shared"] for run in found}
    assert {(run / "shared").read_text() for run in found} == {"True"}
    assert not os.path.lexists(shared)
    assert not killed.exists(), "nobody holds it: its command was killed"
    (alone,) = train("one", release=1)
    assert (alone.folder.parent / "shared").read_text() == "None"


def test_one_that_fails_keeps_no_other_from_being_trained(project, capsys):
    made = project(encoder("broken"), encoder("whole"))
    with refused(PartlyDoneError) as failed:
        train()
    assert [(one.name, one.was_done) for one in failed.value.done] == [("whole", False)]
    assert pickle.loads(pickle.dumps(failed.value)).done == failed.value.done, "a flow may hand it on"
    assert "failed: There is nothing to learn from (FF" in capsys.readouterr().err
    states = {run.parent.parent.name: state_of(run) for run in made.runs.glob("*/*/seed-0")}
    assert {name: found.state for name, found in states.items()} == {"broken": "failed", "whole": "done"}
    assert states["broken"].message == "There is nothing to learn from (FF518)."
    with refused(TrainingFailed):
        train("broken")
    with refused(TrainingFailed):
        train("broken", seeds=2)


def ran(monkeypatch, capsys, *arguments):
    """Run the command, its flow in this process without a server; return its code and what it wrote."""
    monkeypatch.setattr(
        "flows.server.local_run.run_flow", lambda _name, file, _check, **given: train_encoder.fn(file, **given)
    )
    code = run(["train", *arguments])
    return code, capsys.readouterr()


def test_the_command_names_what_was_trained_and_is_partly_done_where_some_failed(project, monkeypatch, capsys):
    made = project(encoder("broken"), encoder("whole"))
    code, told = ran(monkeypatch, capsys)
    (whole,) = made.runs.glob("whole/*/seed-0/encoder")
    assert (code, told.out) == (2, f"Trained {whole}\n")
    assert told.err.splitlines()[-1].startswith("facetflow: 1 of 2 trainings failed (broken, seed 0: There is nothing")
    code, told = ran(monkeypatch, capsys, "--json")
    assert (code, [(one["name"], one["was_done"]) for one in json.loads(told.out)]) == (2, [("whole", True)])
    assert ran(monkeypatch, capsys, "whole")[0] == 0
    code, told = ran(monkeypatch, capsys, "broken", "--seeds", "2")
    assert (code, told.out) == (1, "")


def test_those_are_due_whose_input_changed_and_a_refresh_says_why(project, store):
    made = project(encoder("seen", "captions"), encoder("grown", "news"))
    assert trainings_due(made, store) == dict.fromkeys(("seen", "grown"), "it has no finished training")
    first = train(release=1)
    assert trainings_due(made, store, 1) == {}
    assert trainings_due(made, store) == {"grown": f"sentences and pairs changed since {first[1].run}"}
    assert [one.name for one in train(release=2)] == ["seen", "grown"], "by hand everything is trained"
    assert trainings_due(made, store) == {}


def test_a_training_that_a_refresh_began_is_on_the_newest_release_and_only_while_it_is_due(project, store, capsys):
    made = project(encoder("seen", "captions"), encoder("grown", "news"))
    before = {item.encoder.name: item.identity for item in due(made, Contents.of(store, store.release(1)))}
    (seen,) = train("seen", wanted=before["seen"])
    assert (seen.name, seen.release) == ("seen", 2), "another release came while it waited, with the same input"
    capsys.readouterr()
    assert train("grown", wanted=before["grown"]) == [], "of older rows: a newer one is due instead"
    assert train("seen", wanted=before["seen"]) == [], "it was finished meanwhile"
    project(encoder("seen", "captions"))
    assert train("grown", wanted=before["grown"]) == [], "it left the project"
    assert capsys.readouterr().err.count("It is no longer due: it was done meanwhile") == 3


def test_a_run_of_a_store_that_was_there_before_is_of_other_data(project, store):
    made = project(encoder("seen", "captions"))
    (run,) = train(release=1)
    shutil.rmtree(store.location)  # built anew, as it has to be to get rid of rows: its releases begin at 1 again
    anew = Store.open(store.location, create=True)
    add_shard(anew, "captions", 0)
    anew.publish("one", stages=())
    assert trainings_due(made, anew) == {"seen": f"the store changed since {run.run}"}


def test_what_was_killed_between_the_encoder_and_its_record_is_found_to_be_finished(project, store):
    made = project(encoder("seen", "captions"))
    (first,) = train()
    (first.folder.parent / "run.json").write_text('{"state": "running", "message": "", "at": "", "identity": {}}')
    assert trainings_due(made, store) == {"seen": f"it is not recorded what {first.run} was trained on"}
    assert [one.was_done for one in train()] == [True]
    assert trainings_due(made, store) == {}


def test_other_settings_another_seed_or_other_code_are_another_training(project, store, monkeypatch):
    made = project(encoder("seen", "captions"))
    (run,) = train(release=1)

    def reasons(**more):
        return trainings_due(made.model_copy(update={"encoders": (encoder("seen", "captions", **more),)}), store)

    assert reasons() == reasons(loop={"threads": 1}) == reasons(pool="gpu") == {}
    assert reasons(alpha=0.5) == {"seen": f"its settings changed since {run.run}"}
    assert reasons(loop={"seed": 1}) == {"seen": f"its seed changed since {run.run}"}
    with monkeypatch.context() as patch:
        patch.setattr("flows.trainings.due.shipped_version", lambda _: "that of another facetflow")
        assert reasons() == {"seen": f"its backbone changed since {run.run}"}
        folders = {run.folder.parent, run_of(made, made.encoders[0], 1)}
    later = dataclasses.replace(KINDS["s3bert"], tables=("sentences", "pairs"), version=99)
    monkeypatch.setattr("flows.trainings.due.KINDS", {"s3bert": later})
    assert reasons() == {"seen": f"the way in which facetflow trains it changed since {run.run}"}
    assert len(folders | {run_of(made, made.encoders[0], 1)}) == 3, "each has a folder of its own"


def test_an_evaluation_is_due_until_its_encoder_is_scored_and_judged_by_what_is_wanted_now(project, store):
    made = project(encoder("seen", "captions"))
    run, beside = (one.folder.parent for one in train(seeds=2))

    def why(of=made):
        return [(item.runs, item.reason) for item in due(of, Contents.of(store, store.release(2)))]

    def scored(*runs):
        for each in runs:
            name = each.relative_to(made.runs).as_posix()
            record_evaluation(each, evaluation_identity(trained_as(each), name, evaluation_job(made, each)))

    both = tuple(each.relative_to(made.runs).as_posix() for each in (run, beside))
    assert why() == [(both, "it is not evaluated yet")]
    assert evaluation_job(made, run).split == "dev"
    scored(run, beside)
    assert why() == [(both, "it is not judged yet")]
    (run / "promotion.json").touch()
    assert why() == [(both[1:], "it is not judged yet")]
    (beside / "promotion.json").touch()
    assert why() == []
    folds = made.transfer.model_copy(update={"folds": 5})
    assert why(made.model_copy(update={"transfer": folds})) == [(both, "its settings changed since it was evaluated")]
    record_failed_evaluation(beside, InputError("No pairs."))
    assert why() == [(both[1:], "its evaluation failed")]
    (beside / "encoder" / "training.json").unlink()
    assert why() == [], "that seed is not finished"


def test_a_training_with_other_settings_replaces_nothing(project):
    project(encoder("one"))
    (run,) = train()
    before = (run.folder / "training.json").read_bytes()
    project(encoder("one", alpha=0.5))
    (other,) = train()
    assert (other.folder / "training.json").exists()
    assert other.folder != run.folder
    assert (run.folder / "training.json").read_bytes() == before


def test_other_ratings_that_choose_the_model_are_another_run(project, store, tmp_path):
    file = tmp_path / "rated.tsv"
    file.write_text("sentence_a\tsentence_b\tscore\na cat\ta dog\t1\na man\ttwo men\t3\n")
    rated = {"dataset": "pairs", "name": "mine", "split": "dev", "file": str(file)}
    chosen = encoder("chosen", "captions", choose_by="mine")
    made = project(chosen, encoder("by-loss", "captions"), evaluation=(rated,))
    first, by_loss = (one.folder.parent for one in train(release=1))
    assert by_loss.parent.name == f"00001-{settings_digest(encoder('by-loss', 'captions'))}"
    assert [one.was_done for one in train(release=1)] == [True, True]
    assert trainings_due(made, store).keys() == set()

    file.write_text(file.read_text().replace("\t3", "\t2"))
    assert trainings_due(made, store).keys() == {"chosen"}
    (second,) = train("chosen", release=1)
    assert (second.was_done, second.folder.parent.parent.parent) == (False, first.parent.parent)
    assert second.folder.parent != first
    file.write_text(file.read_text().replace("\t2", "\t3"))
    assert train("chosen", release=1)[0].folder.parent == first


def test_a_corpus_that_the_project_no_longer_names_is_not_trained_on(project, store, monkeypatch):
    every, named = encoder("every"), encoder("named", "captions", "news")
    made = project(every, named)
    before = {one.name: one.folder for one in train()}

    fewer = made.model_copy(update={"corpora": made.corpora[:1]})
    assert (trainings_due(made, store).keys(), trainings_due(fewer, store).keys()) == (set(), {"every"})
    monkeypatch.setattr("flows.train_encoder.project.load", lambda _: fewer)
    now = {one.name: one.folder for one in train()}
    assert now["named"] == before["named"]
    assert now["every"].parents[1] != before["every"].parents[1], "another training"
    job = json.loads((now["every"].parent / "train.json").read_text())
    assert job["source"]["without"] == ["news"]
    assert json.loads((before["every"].parent / "train.json").read_text())["source"]["without"] == []


@pytest.mark.parametrize("corpora", [("news",), ()])
def test_what_an_encoder_reads_is_what_its_corpora_use_or_all_where_another_project_has_built_it(
    project, store, corpora
):
    grown = encoder("grown", *corpora)
    made = project(grown) if corpora else project(grown).model_copy(update={"corpora": ()})
    first, second = (training_identity(made, grown, Contents.of(store, store.release(number))) for number in (1, 2))
    assert first.keys() == second.keys() == {"store", "settings", "seed", "sentences", "pairs"}
    assert [part for part in first if first[part] != second[part]] == ["sentences", "pairs"]


def test_a_project_without_encoders_trains_none_and_says_so(project, capsys):
    project()
    assert train() == []
    assert "`encoders = []`" in capsys.readouterr().err


def test_the_newest_training_under_the_settings_of_now_is_evaluated_however_many_there_are(project, store):
    made = project(encoder("one", "captions"))
    train(release=1)
    (newest,) = train(release=2)
    others = project(encoder("one", "captions", alpha=0.5))
    (last,) = train()
    contents = Contents.of(store, store.release())
    assert [(item.step, item.runs) for item in due(made, contents)] == [("evaluation", (newest.run,))]
    assert [(item.step, item.runs) for item in due(others, contents)] == [("evaluation", (last.run,))]
    assert trainings_due(project(encoder("one", "captions", alpha=0.7)), store) == {
        "one": f"its settings changed since {last.run}"
    }


def test_an_evaluation_is_on_the_release_of_its_training_of_what_the_project_says_now(project):
    rated = {"dataset": "pairs", "name": "rated", "file": "rated.tsv"}
    topics = {"dataset": "texts", "name": "topics", "files": {"train": "train.tsv", "test": "test.tsv"}}
    made = project(encoder("one", "captions"), evaluation=(rated, topics))
    (run,) = train(release=1)
    transfer = made.transfer.model_copy(update={"classifiers": ("mlp",), "folds": 5})
    now = made.model_copy(update={"corpora": made.corpora[:1], "transfer": transfer})
    job = evaluation_job(now, run.folder.parent)
    assert job.source == Source(store=now.store, release=1, without=("news",))
    assert [[each.name for each in sets] for sets in (job.ratings, job.tasks)] == [["rated"], ["topics"]]
    assert (job.classifiers, job.folds, job.project) == (("mlp",), 5, "ours")


def test_an_evaluation_is_due_again_when_a_set_leaves_the_project(project, store):
    rated = {"dataset": "pairs", "name": "rated", "file": "rated.tsv"}
    made = project(encoder("one", "captions"), evaluation=(rated,))
    (run,) = train()
    folder = run.folder.parent
    record_evaluation(folder, evaluation_identity(trained_as(folder), run.run, evaluation_job(made, folder)))
    (item,) = due(project(encoder("one", "captions")), Contents.of(store, store.release()))
    assert item.reason == "evaluation.rated changed since it was evaluated"
