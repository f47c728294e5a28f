"""The suite `transfer`: tasks from files to tables, and reports on tasks that cannot be trained on."""

import json
import shutil

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import Conflict, FileMissing, NothingToLearn, NotText, RowWrong, SplitUnclear, TooFewTexts
from features.corpora.classified import read_tasks
from features.corpora.settings import EvaluationSet, LeakageSettings
from features.ingest.leaks import LeakageGuard
from features.metrics.bootstrap import FEWEST
from flows.console.tables import print_tables
from training.evaluation.models import Models, Shared
from training.evaluation.run import evaluate
from training.evaluation.suites import Subject, load_suite, score_tables
from training.evaluation.transfer import classifiers
from training.evaluation.transfer.suite import TransferSuite
from training.jobs import EvaluationJob

ANIMALS, PEOPLE = ("cat", "dog", "horse"), ("man", "woman", "child")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(classifiers, "RATE", 5e-2)
    monkeypatch.setattr(classifiers, "MOST_PASSES", 24)


def lines(count=18):
    """Return lines `label text`: 0 is about animals, 1 about people."""
    verbs = ("sleeps", "runs", "sees the house", "eats in the park", "eats", "sleeps not")
    texts = [
        (label, f"the {words[n % 3]} {verbs[n % 6]}")
        for n in range(count)
        for label, words in enumerate((ANIMALS, PEOPLE))
    ]
    return "".join(f"{label} {text}\n" for label, text in texts)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "mr.all").write_text(lines())
    for split in ("train", "dev", "test"):
        (tmp_path / f"sst.{split}").write_text(lines(9))
    rows = [line.split(" ", 1) for line in lines(9).splitlines()]
    pairs = [f"{label}\t1\t2\t{text}\tthe {'dog' if n % 2 else 'man'} runs\n" for n, (label, text) in enumerate(rows)]
    for split in ("train", "test"):
        (tmp_path / f"mrpc.{split}.tsv").write_text("Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n" + "".join(pairs))
    return tmp_path


def job(files, encoder, *tasks, **more):
    return EvaluationJob(encoder=encoder, output=files / "out", base=files, tasks=tasks, resamples=100, folds=3, **more)


MR = {"dataset": "mr", "file": "mr.all"}
SST = {"dataset": "sst2", "files": {split: f"sst.{split}" for split in ("train", "dev", "test")}}
MRPC = {"dataset": "mrpc", "files": {split: f"mrpc.{split}.tsv" for split in ("train", "test")}}


def test_tasks_of_every_form_are_learnt_by_both_classifiers_and_shown(files, tiny_encoder, capsys):
    scores = evaluate(job(files, tiny_encoder, MR, SST, MRPC, classifiers=("logistic regression", "mlp")))
    found = scores["suites"]["transfer"]
    assert [row["task"] for row in found["rows"][::2]] == ["mr", "sst2", "mrpc"]
    assert [row["items"] for row in found["rows"][::2]] == [36, 18, 18]
    assert [row["parts"] for row in found["rows"][::2]] == [["test"], ["train", "dev", "test"], ["train", "test"]]
    by_name = {row["name"]: row for row in found["rows"]}
    assert by_name["sst2 by logistic regression"]["encoder"] > 0.6  # random weights, but words stay apart
    by_dev = by_name["sst2 by mlp"]
    assert by_dev["encoder_interval"]["low"] <= by_dev["encoder"] <= by_dev["encoder_interval"]["high"]
    assert by_dev["start"] is by_dev["difference"] is None
    mean = sum(row["encoder"] for row in found["rows"] if row["classifier"] == "mlp") / 3
    assert found["means"]["mlp"]["encoder"] == pytest.approx(mean)
    print_tables(score_tables(scores))
    said = capsys.readouterr().out
    assert "Accuracy × 100, by logistic regression" in said
    assert "Accuracy × 100, by mlp" in said
    assert "Nested cross-validation, 3 × 3 folds: mr." in said
    assert "By mlp" in (files / "out" / "report.html").read_text()
    table = pl.read_parquet(files / "out" / "transfer.parquet")
    right = table.filter(set="sst2 by mlp").select((pl.col("label") == pl.col("predicted")).mean()).item()
    assert right == pytest.approx(by_dev["encoder"])
    suite = load_suite("transfer")
    assert found["data"]["folds"] == 3
    assert suite.numbers(found)["sst2 by mlp"] == by_dev["encoder"]
    assert suite.headline(found)["transfer by mlp"] == pytest.approx(mean)
    items = {item.name: item for item in suite.items(files / "out", found)}
    assert items["sst2 by mlp"].predicted.mean() == pytest.approx(by_dev["encoder"])
    assert all(len(set(item.items)) == len(item.items) for item in items.values())
    assert len(items["mrpc by mlp"].items) == 18


def test_an_encoder_is_compared_with_its_start_model_item_by_item(files, tiny_encoder):
    encoder = files / "run" / "encoder"
    shutil.copytree(tiny_encoder, encoder)
    (encoder / "training.json").write_text(json.dumps({"settings": {"kind": "new", "backbone": str(tiny_encoder)}}))
    (score,) = evaluate(job(files, encoder, SST))["suites"]["transfer"]["rows"]
    assert score["start"] == score["encoder"]
    assert (score["difference"]["low"], score["difference"]["high"]) == (0, 0)
    assert score["difference"]["verdict"] == "unclear"


def test_pairs_with_the_same_first_text_are_drawn_together(files, tiny_encoder):
    header, *_ = (files / "mrpc.test.tsv").read_text().splitlines(keepends=True)
    found = {}
    for firsts in (5, 6):
        (files / "mrpc.test.tsv").write_text(
            header
            + "".join(
                f"{n % 2}\t1\t2\tthe cat {'not ' * (n % firsts)}sleeps\tthe {PEOPLE[n % 3]} runs {n}\n"
                for n in range(30)
            )
        )
        (task,) = (result := evaluate(job(files, tiny_encoder, MRPC))["suites"]["transfer"])["rows"]
        assert task["items"] == 30
        (found[firsts],) = load_suite("transfer").items(files / "out", result)
        assert (task["encoder_interval"] is None) == (firsts < FEWEST)
    assert len(set(found[6].groups)) == 6
    assert found[6].unit == "pairs"


def test_encoders_with_the_same_start_model_train_its_classifiers_once(files, tiny_encoder, monkeypatch):
    encoders = [files / name / "encoder" for name in ("one", "two")]
    for encoder in encoders:
        shutil.copytree(tiny_encoder, encoder)
        settings = {"kind": "rgcn", "backbone": str(tiny_encoder)}
        (encoder / "training.json").write_text(json.dumps({"settings": settings, "backbone_digest": "0"}))
    learnt = []

    def predict(self, parts, folds, real=classifiers.Learner.predict):
        learnt.append(self.name.rpartition(" on ")[2])
        return real(self, parts, folds)

    monkeypatch.setattr(classifiers.Learner, "predict", predict)
    shared = Shared()
    first, second = (evaluate(job(files, each, SST, suites=["transfer"]), shared) for each in encoders)
    assert learnt == ["the encoder", "its start model", "the encoder"]
    assert first["suites"] == second["suites"] == evaluate(job(files, encoders[0], SST, suites=["transfer"]))["suites"]


def test_what_was_learnt_from_a_start_model_counts_for_the_same_texts_folds_and_classifier(files, monkeypatch):
    def embed(texts):
        return np.array([[animal in text for animal in ANIMALS] for text in texts], np.float32)

    monkeypatch.setitem(classifiers.HIDDEN, "mlp", 2)
    (files / "other").write_text(lines(12))
    other, of_start = SST | {"files": SST["files"] | {"test": "other"}}, {}
    cases = (SST, {}), (SST, {}), (other, {}), (SST, {"folds": 2}), (SST, {"classifiers": ("mlp",)})
    for task, changed in cases:
        suite = TransferSuite.of(Subject(job(files, files / "nowhere", task).model_copy(update=changed)))
        suite.score(Models(embed, embed, of_start=of_start))
    assert len(of_start) == 4


def test_a_class_that_is_not_trained_on_is_named_and_counts_as_an_error(files, tiny_encoder, capsys):
    (files / "sst.test").write_text("2 the red house\n" * 2 + lines(9))
    (files / "sst.dev").write_text("2 the small house\n" + lines(9))
    sst5 = {"dataset": "sst5", "files": SST["files"]}
    scores = evaluate(job(files, tiny_encoder, sst5))
    (task,) = scores["suites"]["transfer"]["rows"]
    assert task["unknown"] == {"2": 2}
    assert task["items"] == 20
    print_tables(score_tables(scores))
    assert "Classes of sst5 that train does not have, and count as errors: '2' (2)." in capsys.readouterr().out


@pytest.mark.parametrize(("factor", "noted"), [(3.0, True), (0.25, True), (1.9, False)])
def test_embeddings_of_other_lengths_are_noted_and_scored_as_they_are(files, factor, noted):
    def embed(texts):
        return np.array([[1, 0] if set(text.split()) & set(ANIMALS) else [0, 1] for text in texts], np.float32)

    suite = TransferSuite.of(Subject(job(files, files / "nowhere", SST, MRPC)))
    found = suite.score(Models(lambda texts: factor * embed(texts), embed))
    assert found["rows"][1]["lengths"] == {"encoder": pytest.approx(factor), "start": pytest.approx(1)}
    note = suite.tables(found)[0].note
    assert (f"Embedding lengths differ: {factor:.2g} on average for the encoder, 1 for its start" in note) is noted
    assert ("differ" in note) is noted
    alone = suite.score(Models(embed, None))
    assert "differ" not in suite.tables(alone)[0].note


def test_what_is_scored_and_learnt_from_is_counted(files, tiny_encoder, capsys):
    (files / "sst.test").write_text("0 The cat  sleeps!\n1 a word of test alone\n0 the cat\n")
    scores = evaluate(job(files, tiny_encoder, SST, MR))
    assert [task["seen"] for task in scores["suites"]["transfer"]["rows"]] == [1, 0]
    print_tables(score_tables(scores))
    assert "Scored items of sst2 that train also has: 1 of 3." in capsys.readouterr().out


def test_the_most_frequent_class_of_train_is_shown_beside_the_scores(files, tiny_encoder):
    (files / "sst.train").write_text("1 the cat\n" * 5 + "0 the dog\n" * 4)
    (files / "sst.test").write_text("0 a bird\n" * 3 + "1 a horse\n")
    result = evaluate(job(files, tiny_encoder, SST))["suites"]["transfer"]
    assert result["rows"][0]["most_frequent"] == 0.25
    (table,) = TransferSuite.tables(result)
    assert table.rows[0][table.columns.index("one class")] == "25.0"


def test_one_file_for_two_splits_is_refused_unless_a_column_says_the_split(files):
    sst = {"dataset": "sst2", "files": SST["files"] | {"test": "../" + files.name + "/sst.tr*n"}}
    with refused(SplitUnclear):
        read_tasks(EvaluationSet(**sst), files)
    rows = [f"a {n}\tb {n}\t{n % 2}\t{'train' if n < 4 else 'test'}\n" for n in range(8)]
    (files / "own.tsv").write_text("sentence_a\tsentence_b\tlabel\tsplit\n" + "".join(rows))
    own = {"dataset": "pairs", "name": "own", "files": {"train": "own.tsv", "test": "own.tsv"}}
    (task,) = read_tasks(EvaluationSet(**own, columns={"label": "label", "split": "split"}), files)
    assert task.splits == ("train",) * 4 + ("test",) * 4
    (files / "own.tsv").write_text("sentence_a\tsentence_b\tlabel\na\tb\t1\nc\td\t0\n")
    with refused(SplitUnclear):
        read_tasks(EvaluationSet(**own), files)
    with refused(SplitUnclear):  # by a build, too
        LeakageGuard(LeakageSettings(evaluation=[EvaluationSet(**own)]), files)


def test_lines_without_text_are_left_out_and_counted(files, tiny_encoder, capsys):
    (files / "mr.all").write_text("0\n1 \n" + lines())
    scores = evaluate(job(files, tiny_encoder, MR))
    assert scores["suites"]["transfer"]["rows"][0]["items"] == 36
    print_tables(score_tables(scores))
    assert "Left out of mr: 2 without text." in capsys.readouterr().out
    guard = LeakageGuard(LeakageSettings(evaluation=[EvaluationSet(**MR)]), files)  # no reason to refuse
    assert guard.leaks("train", "the cat sleeps") == "'the cat sleeps' is a sentence of mr"


@pytest.mark.parametrize(
    ("described", "content", "fault"),
    [
        (MR, "0 a\n0 b\n0 c\n", NothingToLearn),
        (MR, "0 a\n", NothingToLearn),
        (MR, "0 a\n7 b\n", RowWrong),
        (MR, "0 a\n1 b\n", TooFewTexts),
        ({"dataset": "cr", "file": "mr.all"}, b"0 caf\xe9\n1 b\n", RowWrong),
        ({"dataset": "cr", "file": "mr.all"}, "0 caf\u00e9\n".encode("utf-16"), NotText),
        ({"dataset": "cr", "file": "none"}, "", FileMissing),
        ({"dataset": "texts", "file": "mr.all", "name": "own"}, "text\tlabel\na\tx|y\n", RowWrong),
    ],
    ids=["one class", "one text", "unknown class", "few texts", "latin-1", "utf-16", "no file", "two classes"],
)
def test_what_cannot_be_learnt_is_said_before_anything_is_encoded(files, tiny_encoder, described, content, fault):
    name = "mr.tsv" if described["dataset"] == "texts" else "mr.all"
    (files / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    described = described | ({"file": name} if described["file"] == "mr.all" else {})
    with refused(fault):
        evaluate(job(files, tiny_encoder, described))


@pytest.mark.parametrize(
    "described",
    [
        {"dataset": "sst2", "files": {"train": "a", "dev": "b"}},
        {"dataset": "stsb", "files": {"train": "a", "test": "b"}},
        {"dataset": "mr", "file": "a", "files": {"train": "a", "test": "b"}},
        {"dataset": "mr", "split": "dev", "files": {"train": "a", "test": "b"}},
    ],
    ids=["no test", "rated pairs", "both", "unread split"],
)
def test_files_that_make_no_task_are_refused_in_the_project_file(described):
    with refused(Conflict):
        EvaluationSet(**described)


def test_own_texts_with_two_aspects_are_two_tasks(files):
    (files / "own.tsv").write_text("text\ttone\ttopic\ncats sleep\tcalm\tcats\ndogs run\twild\tdogs\n")
    described = EvaluationSet(dataset="texts", name="own", file="own.tsv", aspects={"tone": "tone", "topic": "topic"})
    tasks = read_tasks(described, files)
    assert {task.name: task.labels for task in tasks} == {"own: tone": ("calm", "wild"), "own: topic": ("cats", "dogs")}


def test_what_is_scored_is_guarded_and_what_classifiers_learn_from_is_not(files):
    (files / "sst.train").write_text("0 only a cat in train\n1 a man\n")
    (files / "sst.dev").write_text("0 only a cat in dev\n1 a man\n")
    guard = LeakageGuard(
        LeakageSettings(evaluation=[EvaluationSet(**SST), EvaluationSet(**MR), EvaluationSet(**MRPC)]), files
    )
    assert guard.leaks("train", "Only a cat in dev!") == "'Only a cat in dev!' is a sentence of sst2"
    assert guard.leaks("train", "only a cat in train") is None
    assert "mr" in str(guard.leaks("train", "the cat sleeps"))  # one file is all scored
    assert "mrpc" in str(guard.leaks("train", "the dog runs"))
