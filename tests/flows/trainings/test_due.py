"""What makes an evaluation due."""

import json
from types import SimpleNamespace

import pytest

from features.corpora.settings import EvaluationSet
from flows.trainings.due import Contents, evaluation_identity, key_of, unread, unscored
from training.encoders.aspect.settings import AspectSettings
from training.encoders.s3bert.settings import S3bertSettings
from training.jobs import EvaluationJob, Source


@pytest.mark.parametrize("file", ["rated.tsv", "rated*.tsv", "~/rated.tsv"])
def test_an_evaluation_is_due_again_when_a_file_changes_however_it_is_named(tmp_path, monkeypatch, file):
    (folder := tmp_path / "rated [v2]").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    rated = EvaluationSet(dataset="pairs", name="rated", file=file)
    job = EvaluationJob(encoder=tmp_path, output=tmp_path, split="dev", ratings=(rated,), base=folder)
    identities = []
    for score in (1, 2):
        (folder / "rated.tsv").write_text(f"sentence_a\tsentence_b\tscore\na\tb\t{score}\n")
        identities.append(evaluation_identity({}, "syntax/00001-aaaaaa/seed-0", job))
    assert identities[0]["evaluation.rated"] != identities[1]["evaluation.rated"]


def test_an_evaluation_is_due_again_when_the_scores_beside_its_file_change(tmp_path):
    (tmp_path / "STS.input.a.txt").write_text("a\tb\n")
    rated = EvaluationSet(dataset="sts12", name="rated", file="STS.input.a.txt")
    job = EvaluationJob(encoder=tmp_path, output=tmp_path, ratings=(rated,), base=tmp_path)
    identities = []
    for score in (1, 2):
        (tmp_path / "STS.gs.a.txt").write_text(f"{score}\n")
        identities.append(evaluation_identity({}, "syntax/00001-aaaaaa/seed-0", job))
    assert identities[0] != identities[1]


def test_an_evaluation_is_due_again_when_anything_changes_that_decides_its_scores(tmp_path):
    job = EvaluationJob(source=Source(store="s", release=1), encoder=tmp_path, output=tmp_path)

    def identity(encoder="0", run="syntax/00001-aaaaaa/seed-0", **changed):
        return json.dumps(evaluation_identity({"seed": encoder}, run, job.model_copy(update=changed)))

    def without(*corpora):
        return identity(source=Source(store="s", release=1, without=corpora))

    others = [identity(encoder="1"), identity(run="syntax/00001-aaaaaa/seed-1"), identity(split="test")]
    others += [identity(folds=5), identity(classifiers=("svm",)), without("nli", "sts")]
    assert len({identity(), *others}) == 1 + len(others)
    assert without("nli", "sts") == without("sts", "nli")
    assert identity(source=Source(store="t", release=2), resamples=200) == identity()


def test_corpora_that_the_project_no_longer_names_are_left_out_of_what_would_read_them():
    uses = SimpleNamespace(sentences={"s": {"nli", "sts", "papers", "talks"}}, pairs={"p": {"nli", "sts"}})
    contents = Contents("store", {}, uses)
    project = SimpleNamespace(corpora=[SimpleNamespace(name="nli"), SimpleNamespace(name="papers")])
    assert unread(project, S3bertSettings(), contents) == ("sts",)
    assert unread(project, AspectSettings(), contents) == ("talks",)
    of_another = SimpleNamespace(corpora=[])
    assert unread(of_another, S3bertSettings(), contents) == unscored(of_another, S3bertSettings(), contents) == ()
    assert unread(project, S3bertSettings(corpora=("sts",)), contents) == (), "it names them itself"
    assert unscored(project, S3bertSettings(corpora=("sts",)), contents) == ("talks",)


def test_encoders_and_copies_of_a_project_with_equal_settings_have_keys_of_their_own():
    names = [(SimpleNamespace(name=project), SimpleNamespace(name=encoder)) for project in "pq" for encoder in "ab"]
    assert len({key_of(*name, {"seed": "0"}) for name in names}) == len(names)


def test_an_evaluation_is_due_again_when_a_set_is_read_otherwise_also_where_its_file_cannot_be_read(tmp_path):
    (tmp_path / "rated.tsv").write_text("sentence_a\tsentence_b\tscore\na\tb\t1\n")
    (tmp_path / "broken.tsv").symlink_to("/proc/self/mem")  # a file that is there, and an error when it is read
    named = {"rated.tsv": ("test", "dev"), "gone.tsv": ("test",), "broken.tsv": ("test",)}
    identities = []
    for file, splits in named.items():
        for split in splits:
            rated = EvaluationSet(dataset="pairs", name="rated", file=file, split=split)
            job = EvaluationJob(encoder=tmp_path, output=tmp_path, ratings=(rated,), base=tmp_path)
            identities.append(evaluation_identity({}, "syntax/00001-aaaaaa/seed-0", job)["evaluation.rated"])
    assert len(set(identities)) == len(identities)


def test_an_evaluation_is_due_again_when_a_classified_set_changes(tmp_path):
    files = {"train": "train.tsv", "test": "test.tsv"}
    task = EvaluationSet(dataset="texts", name="topics", files=files)
    job = EvaluationJob(encoder=tmp_path, output=tmp_path, tasks=(task,), base=tmp_path)
    identities = []
    for text in ("We parse.", "We wait."):
        for file in files.values():
            (tmp_path / file).write_text(f"text\tlabel\n{text}\twork\n")
            identities.append(evaluation_identity({}, "syntax/00001-aaaaaa/seed-0", job)["evaluation.topics"])
    assert len(set(identities)) == len(identities)


def test_contents_of_a_release_are_those_at_its_versions():
    store = SimpleNamespace(
        id="store",
        committed=lambda table, version: {"s": SimpleNamespace(fingerprint=f"{table} {version}")},
        uses=lambda versions: versions,
    )
    release = SimpleNamespace(versions={"pairs": 3, "labels": 4}, rows={"pairs": 1})
    assert Contents.of(store, release) == Contents("store", {"pairs": {"s": "pairs 3"}}, release.versions)


def test_contents_ahead_are_what_is_there_but_for_what_goes_and_what_is_made():
    sources = {"sentences": {"s0": "in"}, "pairs": {"p0": "in"}}
    files = {**sources, "labels": {}, "metrics": {}, "amr": {"s0": "old", "s1": "outdated", "s2": "other"}}
    store = SimpleNamespace(
        id="store",
        committed=lambda table: {shard: SimpleNamespace(fingerprint=mark) for shard, mark in files[table].items()},
    )
    made = {("amr", "s0"): "new", ("amr", "s3"): "new"}
    planned = SimpleNamespace(
        stages=("amr", "metrics"), outdated=[("amr", "s1")], scope={"amr": {"s0", "s3"}}, expected=made, uses="uses"
    )
    shards = {**sources, "amr": {"s0": "new", "s2": "other", "s3": "new"}, "metrics": {}}
    assert Contents.ahead(store, planned) == Contents("store", shards, "uses")
