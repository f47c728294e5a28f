"""User mistakes, one by one: each gets one sentence and exit code 1, or a reject with a code."""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
from sentences import refused

from features.core.faults import StoreUnreachable
from features.store.store import Store
from flows.command_line import run

PROJECT = """
name = "test"
[[corpora]]
dataset = "pairs"
name = "mine"
files = { train = "pairs.tsv" }
negatives = []
[amr]
graphs = ["graphs.amr"]
[label_vectors]
backend = "glove"
file = "words.txt"
[dependencies]
enabled = false
[srl]
enabled = false
[embeddings]
enabled = false
[ingest]
max_words = 50
[limits]
rejected_rows = 1.0
[cluster]
workers = 1
"""
ROWS = "sentence_a\tsentence_b\tscore\nA boy sleeps.\tA girl sleeps.\t3\n"
OWN_METRIC = """from features.metrics.own import own_metric

@own_metric(reads="dependencies")
def heads(left, right):
    \"""Compare roots.\"""
    return 1.0
"""
GRAPHS = """# ::snt A boy sleeps.
(s / sleep-01 :ARG0 (b / boy))

# ::snt A girl sleeps.
(s / sleep-01 :ARG0 (g / girl))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project that works; each test breaks one thing."""
    (tmp_path / "facetflow.toml").write_text(PROJECT)
    (tmp_path / "pairs.tsv").write_text(ROWS)
    (tmp_path / "graphs.amr").write_text(GRAPHS)
    (tmp_path / "words.txt").write_text("sleep 1 0\nboy 0 1\ngirl 1 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "facetflow.toml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


def put(name: str, content: str | bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return change


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def judged(*labels: str) -> Callable[[Path], None]:
    rows = "".join(f"A boy sleeps {number}.\tA girl sleeps.\t{label}\n" for number, label in enumerate(labels))
    return put("pairs.tsv", f"sentence_a\tsentence_b\tlabel\n{rows}")


def learn_spans(settings: str = "") -> Callable[[Path], None]:
    spans = f'spans = "none"\nsplits = ["train", "train"]\n{settings}'
    return edit("[cluster]", f'[[encoders]]\nname = "pas"\nkind = "pas"\n{spans}\n[cluster]')


def damage_log(folder: Path) -> None:
    Store.open(folder / "store", create=True)
    (folder / "store" / "tables" / "pairs" / "_delta_log" / f"{0:020d}.json").write_text("{ no log")


def delete_table(folder: Path) -> None:
    Store.open(folder / "store", create=True)
    shutil.rmtree(folder / "store" / "tables" / "amr")


def link(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).symlink_to(name)

    return change


def pipe(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


class Wrong(NamedTuple):
    """A mistake, the command, and what its one sentence must contain."""

    change: Callable[[Path], object]
    command: tuple[str, ...]
    says: tuple[str, ...]


CASES = {
    "link to itself": Wrong(
        link("pairs.tsv"), ("plan",), ("pairs.tsv", "is a link to 'pairs.tsv', where there is no file")
    ),
    "pipe for a corpus": Wrong(pipe("pairs.tsv"), ("build",), ("pairs.tsv", "is a pipe or a device")),
    "pipe for graphs": Wrong(pipe("graphs.amr"), ("build",), ("graphs.amr", "a pipe or a device")),
    "unknown split": Wrong(
        edit("[cluster]", '[[encoders]]\nname = "s3bert"\nkind = "s3bert"\nsplits = ["trian", "dev"]\n[cluster]'),
        ("plan",),
        ("`encoders[1].splits`", "'trian'", "did you mean 'train'?"),
    ),
    "unknown label": Wrong(
        lambda folder: (judged("yes", "no")(folder), learn_spans('labels = ["yes", "maybe"]')(folder)),
        ("plan",),
        ("`labels` of the encoder 'pas'", "'maybe', which no training pair has; there are: no, yes"),
    ),
    "unknown positive label": Wrong(
        lambda folder: (judged("yes", "no")(folder), learn_spans('positive_label = "paraphrase"')(folder)),
        ("plan",),
        ("encoder 'pas' has the label 'paraphrase', its `positive_label`", "set it to one of: no, yes"),
    ),
    "corpus is missing": Wrong(remove("pairs.tsv"), ("plan",), ("pairs.tsv",)),
    "corpus is empty": Wrong(put("pairs.tsv", ""), ("plan",), ("pairs.tsv", "empty")),
    "corpus in latin-1": Wrong(put("pairs.tsv", ROWS.encode() + b"caf\xe9\tx\t1\n"), ("plan",), ("pairs.tsv", "UTF-8")),
    "column is missing": Wrong(
        put("pairs.tsv", ROWS.replace("sentence_b", "other")), ("plan",), ("pairs.tsv", "sentence_b")
    ),
    "unknown suffix": Wrong(
        lambda folder: (put("pairs.xls", "a sheet")(folder), edit("pairs.tsv", "pairs.xls")(folder))[0],
        ("plan",),
        ("pairs.xls", "save the sheet as .csv", ".tsv"),
    ),
    "broken gzip": Wrong(
        lambda folder: (put("pairs.tsv.gz", b"no gzip")(folder), edit("pairs.tsv", "pairs.tsv.gz")(folder))[0],
        ("plan",),
        ("pairs.tsv.gz",),
    ),
    "graphs are missing": Wrong(remove("graphs.amr"), ("plan",), ("graphs.amr",)),
    "word vectors are no vectors": Wrong(
        put("words.txt", "boy one two\n"),
        ("measure", "graphs.amr", "graphs.amr", "-o", "o.tsv", "--glove", "words.txt"),
        ("words.txt",),
    ),
    "store is a file": Wrong(put("store", "a file"), ("plan",), ("store",)),
    "store has a damaged log": Wrong(damage_log, ("plan",), ("pairs",)),
    "store lost a table": Wrong(delete_table, ("plan",), ("amr",)),
    "explain with a folder that is no encoder": Wrong(
        lambda _: None,
        ("explain", "two cats", "a cat", "--encoder", "."),
        ("'.' holds no encoder (there is no modules.json)",),
    ),
    "explain with an encoder that is not there": Wrong(
        lambda _: None, ("explain", "two cats", "a cat", "--encoder", "s3brt"), ("'s3brt'",)
    ),
    "compare what was not trained": Wrong(lambda _: None, ("compare", "a", "b"), ("'a'", "facetflow train")),
    "train before build": Wrong(lambda _: None, ("train",), ("facetflow build",)),
    "no sentences to parse": Wrong(
        put("empty.txt", "\n\n"), ("parse", "amr", "empty.txt", "-o", "o.amr", "--graphs", "graphs.amr"), ("empty.txt",)
    ),
    "store of another project": Wrong(
        lambda folder: Store.open(folder / "store", create=True, project="theirs"),
        ("plan",),
        ("'theirs'", "'test'", "facetflow build --adopt"),
    ),
    "a null byte in a path": Wrong(
        edit('name = "test"', 'name = "test"\nruns = "a\\u0000b"'), ("runs",), ("`runs`: 'a\\x00b' is not a folder",)
    ),
    "runs in a bucket": Wrong(
        edit('name = "test"', 'name = "test"\nruns = "s3://bucket/runs"'),
        ("plan",),
        ("`runs`: 's3://bucket/runs' is not a folder", "file:///"),
    ),
    "store of an unknown kind": Wrong(
        edit('name = "test"', 'name = "test"\nstore = "ftp://host/store"'), ("plan",), ("'ftp://host/store'", "s3://")
    ),
    "store that is a whole bucket": Wrong(
        edit('name = "test"', 'name = "test"\nstore = "s3://bucket"'), ("plan",), ("'s3://bucket'", "prefix")
    ),
    "credentials in the address of a store": Wrong(
        edit('name = "test"', 'name = "test"\nstore = "s3://bucket/x?secret_key=y"'),
        ("plan",),
        ("'secret_key'", "Credentials are read from the environment"),
    ),
    "retry without a store": Wrong(lambda _: None, ("retry", "--failed"), ("no store", "facetflow build")),
    "retry in an empty store": Wrong(
        lambda folder: Store.open(folder / "store", create=True, project="test"),
        ("retry", "--failed"),
        ("is empty", "facetflow build"),
    ),
    "verify without a store": Wrong(lambda _: None, ("verify",), ("no store", "facetflow build")),
    "no such cluster, and nothing to make": Wrong(
        edit('name = "test"', 'name = "test"\nencoders = []'),
        ("build", "--dask-address", "tcp://127.0.0.1:9"),
        ("No Dask scheduler answers at 'tcp://127.0.0.1:9'",),
    ),
    # Without its corpus, each of these shows that no row is read before.
    "stage switched off that another reads": Wrong(
        lambda folder: (remove("pairs.tsv")(folder), edit("[amr]", "[amr]\nenabled = false")(folder)),
        ("plan",),
        ("facetflow.toml", "[metrics] reads 'amr', which the project file switches off"),
    ),
    "stage switched off that an own metric reads": Wrong(
        lambda folder: (
            remove("pairs.tsv")(folder),
            put("own.py", OWN_METRIC)(folder),
            edit("[ingest]", '[metrics]\nown = ["own.py"]\n[ingest]')(folder),
        ),
        ("plan",),
        ("[metrics] reads 'dependencies', which the project file switches off",),
    ),
    "corpus of an encoder that is unknown": Wrong(
        lambda folder: (remove("pairs.tsv")(folder), learn_spans('corpora = ["mime"]')(folder)),
        ("plan",),
        ("`encoders[1].corpora` names 'mime'", "did you mean 'mine'"),
    ),
    "corpus of the layers of an encoder that is unknown": Wrong(
        edit("[cluster]", '[[encoders]]\nname = "s"\nkind = "s3bert"\nlayer_corpora = ["mime"]\n[cluster]'),
        ("plan",),
        ("`layer_corpora` of the encoder 's' names 'mime', which it is not trained on; there are mine",),
    ),
}


FLOWS = {"build", "train", "evaluate", "retry"}


@pytest.fixture
def command_line(request, generated, folder, capfd):
    """Return a function that runs a command, and returns its exit code and what it wrote."""

    def run_command(*command: str) -> tuple[int, list[str]]:
        if command[0] in FLOWS:  # Prefect keeps the address of the first server that a process has seen
            code, said = request.getfixturevalue("facetflow").run(generated(folder), *command)
            return code, said.strip().splitlines()
        capfd.readouterr()
        code = run(command)
        return code, capfd.readouterr().err.strip().splitlines()

    return run_command


def the_sentence(lines: list[str]) -> str:
    """Return the one sentence that a failed command said."""
    assert "Traceback" not in "".join(lines)
    assert [line for line in lines if line.startswith("facetflow: ")] == lines[-1:]
    assert "Unexpected" not in lines[-1]
    return lines[-1]


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_and_exit_code_1(name, folder, command_line):
    wrong = CASES[name]
    wrong.change(folder)
    code, lines = command_line(*wrong.command)
    assert code == 1
    sentence = the_sentence(lines)
    assert [part for part in wrong.says if part not in sentence] == []


def test_status_knows_of_a_build_that_was_refused_before_it_read_anything(folder, command_line):
    learn_spans('corpora = ["mime"]')(folder)
    _, lines = command_line("build")
    (record,) = Store.open(folder / "store").runs()
    assert (record.state, record.message in lines[-1]) == ("failed", True)


def test_a_store_stays_with_its_project_where_the_build_that_adopts_it_is_refused(folder, command_line):
    Store.open(folder / "store", create=True, project="theirs")
    learn_spans('corpora = ["mime"]')(folder)
    assert command_line("build", "--adopt")[0] == 1
    assert Store.open(folder / "store").project == "theirs"


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "permission")],
)
def test_a_file_system_that_refuses(folder, monkeypatch, capfd, number, says):
    # The superuser may write anywhere, so the refusal is simulated at the system call.
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    Store.open("store", create=True, project="theirs")
    monkeypatch.setattr(os, "fsync", refuse)
    (folder / "store" / "_tmp-old").touch()
    monkeypatch.setattr(Path, "unlink", refuse)
    for attempt in (lambda: Store.open("other", create=True), lambda: Store.open("store").adopt("test")):
        with refused(StoreUnreachable):
            attempt()
    put("facetflow.toml", PROJECT.replace('"test"', '"theirs"'))(folder)
    assert run(["gc", "--older-than", "0m"]) == 1
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert says in lines[0]
    assert "Unexpected" not in lines[0]


def test_a_store_whose_lock_cannot_be_written(folder, monkeypatch, capfd):
    Store.open("store", create=True, project="test")
    (folder / "store" / "build.lock").mkdir()  # as good as a folder without permission, which stops no superuser
    assert run(["gc"]) == 1
    (line,) = capfd.readouterr().err.strip().splitlines()
    assert line.startswith("facetflow: The lock ")
    assert "Unexpected" not in line


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put("pairs.tsv", ROWS), "no pair of its corpora has one: name the column, columns = { label ="),
        (judged("yes", "yes"), "All 2 training pairs have the same label, 'yes': a classifier learns nothing from it."),
        (
            lambda folder: (
                put("texts.tsv", "text\tlabel\nWe parse.\tparsing\n")(folder),
                edit('dataset = "pairs"', 'dataset = "texts"')(folder),
                edit("negatives = []\n", "")(folder),
                edit("pairs.tsv", "texts.tsv")(folder),
            ),
            "its corpora have none in the split 'train': they have texts with labels, from which encoders of kind",
        ),
        (
            lambda folder: (judged("1", "0")(folder), edit("spans =", 'backbone = "team/encoder"\nspans =')(folder)),
            "get it with `facetflow models pull team/encoder`",
        ),
    ],
    ids=["no label column", "one label for all pairs", "texts only", "no backbone"],
)
def test_a_plan_tells_that_a_training_will_be_pointless(change, says, folder, capfd):
    learn_spans()(folder)
    change(folder)
    assert run(["plan"]) == 0
    said = capfd.readouterr()
    (told,) = [line for line in said.err.splitlines() if line.startswith("`facetflow train pas` will fail: ")]
    assert says in told
    assert run(["plan", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["pointless"] == [told]


def test_a_plan_tells_that_what_a_training_reads_is_switched_off(folder, capfd):
    judged("1", "0")(folder)
    edit("[cluster]", '[[encoders]]\nkind = "pas"\n[[encoders]]\nname = "s"\nkind = "s3bert"\n[cluster]')(folder)
    assert run(["plan"]) == 0
    assert [line for line in capfd.readouterr().err.splitlines() if "will fail" in line] == [
        (
            "`facetflow train pas` will fail: it reads 'srl', which is not made; "
            "set `enabled = true` in [srl] of the project that builds the store."
        )
    ], "of embeddings, a training makes its own"


def test_a_plan_tells_that_no_label_is_frequent_enough(folder, capfd):
    rows = "".join(f"Text {number}.\tlabel {number}|tag {number}\n" for number in range(20))
    put("texts.tsv", f"text\tlabel\n{rows}")(folder)
    aspects = '[[encoders]]\nname = "topic"\nkind = "aspect"\n'
    put(
        "facetflow.toml",
        f'name = "test"\n[[corpora]]\ndataset = "texts"\nfiles = {{ train = "texts.tsv" }}\n{aspects}',
    )(folder)
    assert run(["plan"]) == 0
    said = capfd.readouterr()
    assert (
        "None of the 40 labels of 'texts' in the aspect 'label' is on two texts, such as 'label 0': there" in said.err
    )
    assert "`facetflow train topic` will fail: Of the 40 labels in the aspect 'label', 0 can be trained on" in said.err


BAD_ROWS = [
    "\tA girl sleeps.\t3",  # empty sentence
    "A boy sleeps." + " Very much." * 5000 + "\tA girl sleeps.\t3",  # 10,000 words
    "A boy sleeps.\tA girl sleeps.\tNaN",
    "A boy sleeps.\tA girl sleeps.\tmany",
    "A boy sleeps.",  # too few columns
    "A boy sings.\tA girl sings.\t2",  # the graphs of these are wrong
    "A boy runs.\tA girl runs.\t2",  # and these have none
]
WRONG_GRAPHS = (
    "\n\n# ::snt A boy sings.\n(s / sing-01 :ARG0 (b / boy)\n\n# ::snt A girl sings.\n(s / sing-01 :ARG0 (s / girl))\n"
)


@pytest.mark.slow
def test_bad_rows_are_rejected_with_a_code_and_the_build_goes_on(folder, command_line):
    put("pairs.tsv", ROWS + "\n".join(BAD_ROWS) + "\n")(folder)
    put("graphs.amr", GRAPHS + WRONG_GRAPHS)(folder)
    code, lines = command_line("build")
    assert code == 0, lines
    store = Store.open(folder / "store")
    codes = store.read("rejects").group_by("stage", "code").len().sort("stage", "code").rows()
    assert set(codes) >= {
        ("ingest", "bad_score", 2),
        ("ingest", "empty_sentence", 1),
        ("ingest", "sentence_too_long", 1),
        ("ingest", "wrong_columns", 1),
        ("metrics", "missing_parse", 2),
    }
    of_graphs = {code: count for stage, code, count in codes if stage == "amr"}
    assert sum(of_graphs.values()) == 4  # two wrong graphs, two missing ones
    assert "unbalanced_penman" in of_graphs
    assert store.read("metrics").height == 1
    assert store.read("rejects").filter(pl.col("message").str.len_chars() == 0).is_empty()
