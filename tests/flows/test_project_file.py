"""The project file: each error is one sentence with file and key."""

import os
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import (
    Conflict,
    MissingKey,
    NameNotAllowed,
    NameTaken,
    NoProjectFile,
    NotToml,
    SeveralFaults,
    UnknownKey,
    UnknownModel,
    UnknownName,
    WrongValue,
)
from features.models import locate
from flows.project import load

ENCODER = '[[encoders]]\nname = "s3bert"\nkind = "s3bert"\n'
CORPUS = '[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "a.tsv" }\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "facetflow.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_paths_are_relative_to_the_file(write, tmp_path):
    project = load(
        write(
            f'name = "p"\nstore = "s"\n{CORPUS}[amr]\ngraphs = ["g.amr"]\n'
            '[label_vectors]\nbackend = "glove"\nfile = "v"\n'
        )
    )
    assert (project.base, project.store, project.runs) == (tmp_path, tmp_path / "s", tmp_path / "runs")
    assert project.amr.graphs == (tmp_path / "g.amr",)
    assert project.label_vectors.file == tmp_path / "v"


def test_a_model_that_is_a_folder_is_found_from_the_file(write, tmp_path):
    (tmp_path / "parser").mkdir()
    project = load(write(f'name = "p"\n{CORPUS}[amr]\nbackend = "amrlib"\nmodel = "parser"\n'))
    assert project.amr.model == str(tmp_path / "parser")
    assert project.embeddings.model == "all-MiniLM-L6-v2"


GRAPHS = '[[corpora]]\ndataset = "penman"\nname = "g"\nfiles = { train = ["a.amr", "b.amr"] }\n'


@pytest.mark.parametrize(
    ("text", "backend", "model"),
    [
        (CORPUS, "embedded", "embedded"),
        (f'{CORPUS}[amr]\ngraphs = ["g.amr"]\n', "penman", None),
        (GRAPHS, "penman", None),
        (f"{CORPUS}{GRAPHS}[amr]\nmax_words = 9\n", "penman", None),
        (f'{GRAPHS}[amr]\nbackend = "embedded"\n', "embedded", "embedded"),
        (f'{CORPUS}[amr]\nbackend = "amrlib"\n', "amrlib", "parse_xfm_bart_large"),
    ],
)
def test_graphs_come_from_where_there_are_some(write, text, backend, model):
    amr = load(write(f'name = "p"\n{text}')).amr
    assert amr.backend == backend
    assert model in (None, amr.model)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (CORPUS, MissingKey),
        ('name = "p"\n[[evaluation]]\n', MissingKey),
        ('name = "p"\n[[corpora]]\n', MissingKey),
        (f'name = "p"\n{CORPUS}[amr]\nbatchsize = 3\n', UnknownKey),
        (f'name = "p"\n{CORPUS}colums = 1\n', UnknownKey),
        (f'name = "p"\nzzz = 1\n{CORPUS}', UnknownKey),
        (f'name = "p"\n{CORPUS}store = "s"\n', UnknownKey),
        (f'name = "p"\n{CORPUS}amr = "x"\n', UnknownKey),
        (f'name = "p"\nepochs = 3\n{CORPUS}', UnknownKey),
        (f'name = "p"\n{CORPUS}columns = {{ sentence_1 = "x" }}\n', UnknownKey),
        ('name = "p"\n[[corpora]]\ndataset = "pairs"\nfiles = { trian = "x" }\n', UnknownKey),
        (f'name = "p"\n{CORPUS}[leakage]\nevaluation = [{{ dataset = "stsb", splitt = "test" }}]\n', UnknownKey),
        (f'name = "p"\n{CORPUS}[amr]\nbatch_size = "x"\n', WrongValue),
        (f'name = "p"\n{CORPUS}[limits]\nrejected_rows = 2\n', WrongValue),
        (f'name = "p"\n{CORPUS}[srl]\nenabled = "perhaps"\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}epochs = 4\n', UnknownKey),
        (f'name = "p"\n{CORPUS}{ENCODER}scale_learning_rate = 0\n', WrongValue),
        (f'name = "p"\n{CORPUS}[amr]\nbackend = "embeded"\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}splits = ["train"]\n', MissingKey),
        (f'name = "p"\n{CORPUS}{ENCODER}preset = ["laptop"]\n', WrongValue),
        ('name = "p"\n[[corpora]]\ndataset = "pairs"\nfiles = { train = 3 }\n', WrongValue),
        (f'name = "p"\n{CORPUS}caption_pairs = -3\n', WrongValue),
        ('name = "p"\n[corpora]\ndataset = "pairs"\n', WrongValue),
        (f'name = "p"\n{CORPUS}[[amr]]\n', WrongValue),
        ('name = "p"\ncorpora = 3\n', WrongValue),
        (f'name = "p"\namr = true\n{CORPUS}', WrongValue),
        (f'name = "a b"\n{CORPUS}', WrongValue),
        ('name = "p"\n[[corpora]]\ndataset = "stbs"\n', UnknownName),
        (f'name = "p"\n{CORPUS}[cluster]\nmemory_limit = "much"\n', WrongValue),
        (f'name = "p"\n{CORPUS}[amr]\ndevice = "gpu"\n', WrongValue),
        (f'name = "p"\n{CORPUS}{CORPUS}', NameTaken),
        (f'name = "p"\n{CORPUS}{ENCODER}loop = {{ epoch = 3 }}\n', UnknownKey),
        (f'name = "p"\n{CORPUS}{ENCODER}[[encoders]]\nname = "b"\nkind = "s3bert"\nlayers = 3\n', UnknownKey),
        (f'name = "p"\n{CORPUS}[[encoders]]\nname = "b"\n', MissingKey),
        (f'name = "p"\n{CORPUS}[[encoders]]\nname = "b"\nkind = "s4bert"\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}{ENCODER}', NameTaken),
        (f'name = "p"\n{CORPUS}[[encoders]]\nname = "builds"\nkind = "s3bert"\n', NameNotAllowed),
        (f'name = "p"\n{CORPUS}[encoders]\nname = "b"\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}facets = ["smash"]\n', UnknownName),
        (f'name = "p"\n{CORPUS}[[encoders]]\nkind = "s3bert"\nfinish = 5\n', WrongValue),
        (f'name = "p"\n{CORPUS}draw = {{ dev = 1.5 }}\n', WrongValue),
        ('name = "p"\ncorpora = ["pairs"]\n', WrongValue),
        (f'name = "p"\n{CORPUS}columns = {{ sentence_a = "sentence_b" }}\n', Conflict),
        (f'name = "p"\n{CORPUS}{ENCODER}loop = {{ device = "gpu" }}\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}loop = {{ gradient_norm = inf }}\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}loop = {{ seed = 18446744073709551616 }}\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}temperature = 0.1\n', UnknownKey),
        (f'name = "p"\n{CORPUS}[leakage]\ndataset = "stsb"\n', UnknownKey),
        (f'name = "p"\n{CORPUS}{ENCODER}[[encoders.loop]]\nepochs = 3\n', WrongValue),
        (f'name = "p"\n{CORPUS}{ENCODER}loop = {{ threads = 18446744073709551616 }}\n', WrongValue),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(write, text, fault):
    path = write(text)
    with refused(fault):
        load(path)


def test_everything_that_is_wrong_is_named_a_line_each(write):
    path = write(f'{CORPUS}[amr]\nbeems = 2\n[limits]\nrejected_rows = 2\nfailed_shards = "x"\n')
    with refused(SeveralFaults) as error:
        load(path)
    head, *lines = str(error.value).splitlines()
    assert head == f"In {str(path)!r} 4 things are wrong:"
    assert [line.strip().partition(" is ")[0] for line in lines] == [
        "the key `name`",
        "the key `amr.beems`",
        "`limits.rejected_rows` = 2",
        "`limits.failed_shards` = 'x'",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\nname = foo\n",
        'name = "C:\\data"\n',
        'name = "a"\nname = "b"\n',
        "[a.b]\n[a.b]\n",
        "x = [1,\n",
        'x = "a\n',
        "\0" * 10_000,
        "name = " + "[" * 9_999,
        "name = " + "9" * 9_999,
    ],
)
def test_what_is_no_toml_is_shown_with_its_line(write, text):
    path = write(text)
    with refused(NotToml) as error:
        load(path)
    assert len(str(error.value)) < 3_000


def test_a_file_in_another_encoding_names_the_line(tmp_path):
    path = tmp_path / "facetflow.toml"
    path.write_bytes(b'name = "p"\n# caf\xe9\n')
    with refused(NotToml):
        load(path)
    path.write_bytes(b"\xef\xbb\xbf" + f'name = "p"\n{CORPUS}'.encode())  # as Windows writes UTF-8
    assert load(path).name == "p"


def test_a_missing_file_says_how_to_make_one_or_where_one_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (Path("facetflow.toml"), tmp_path / "facetflow.toml"):
        with refused(NoProjectFile):
            load(path)
    os.mkfifo(tmp_path / "pipe.toml")
    for path in (tmp_path, tmp_path / "pipe.toml"):  # which would be waited for
        with refused(NoProjectFile):
            load(path)
    (tmp_path / "facetflow.toml").touch()
    inner = tmp_path / "données 猫" / "deep"
    inner.mkdir(parents=True)
    with refused(NoProjectFile):
        load(inner / "facetflow.toml")


def test_a_tilde_is_the_home_of_the_user(write, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = load(
        write(f'name = "p"\nstore = "~/s 猫"\n{CORPUS}[amr]\ngraphs = ["~/g.amr"]\n[metrics]\nown = ["~/m.py"]\n')
    )
    assert project.store == tmp_path / "home" / "s 猫"
    assert project.amr.graphs == (tmp_path / "home" / "g.amr",)
    assert project.metrics.own == (tmp_path / "home" / "m.py",)


def test_a_file_without_encoders_has_the_usual_one_and_an_empty_list_none(write):
    (usual,) = load(write(f'name = "p"\n{CORPUS}')).encoders
    assert usual == load(write(f'name = "p"\n{CORPUS}{ENCODER}')).encoders[0]
    assert (usual.name, usual.kind, usual.preset) == ("s3bert", "s3bert", "laptop")
    assert load(write(f'name = "p"\nencoders = []\n{CORPUS}')).encoders == ()


def test_an_empty_text_is_wrong_because_it_is_empty(write):
    with refused(WrongValue) as error:
        load(write('name = "p"\n[[corpora]]\ndataset = "texts"\nfiles = { train = "a.tsv" }\nseparator = ""\n'))
    assert "give text in double quotes that is not empty" in str(error.value)


EVALUATION = '[[evaluation]]\ndataset = "stsb"\nfile = "sts-test.csv"\n'


def test_evaluation_sets_are_guarded_and_named_once(write):
    plain = load(write(f'name = "p"\n{CORPUS}{EVALUATION}'))
    assert [(guarded.name, guarded.file) for guarded in plain.guard.evaluation] == [("stsb-test", "sts-test.csv")]
    assert plain.guard.mode == "drop"
    twice = '[leakage]\nmode = "report"\nevaluation = [{ dataset = "stsb", file = "sts-test.csv" }]\n'
    both = load(write(f'name = "p"\n{CORPUS}{twice}{EVALUATION}'))
    assert both.guard == both.leakage, "a set that is named in both places is one"
    more = load(write(f'name = "p"\n{CORPUS}{twice.replace("sts-test", "sts-dev")}{EVALUATION}'))
    assert [guarded.file for guarded in more.guard.evaluation] == ["sts-dev.csv", "sts-test.csv"]
    off = load(write(f'name = "p"\n{CORPUS}[leakage]\nmode = "off"\n{EVALUATION}'))
    assert off.guard.evaluation == ()


DEV = '[[evaluation]]\ndataset = "stsb"\nname = "sts-dev"\nsplit = "dev"\nfile = "sts-dev.csv"\n'
CHOSEN = '[[encoders]]\nname = "a"\nkind = "s3bert"\nchoose_by = {!r}\n'


def test_a_model_is_chosen_by_a_set_of_dev_that_the_project_names(write):
    project = load(write(f'name = "p"\n{CORPUS}{EVALUATION}{DEV}{CHOSEN.format("sts-dev")}'))
    assert project.encoder("a").choose_by == "sts-dev"
    assert load(write(f'name = "p"\n{CORPUS}{CHOSEN.format("loss")}')).encoder("a").choose_by == "loss"


@pytest.mark.parametrize(
    ("name", "fault"),
    [("sts_dev", UnknownName), ("stsb-test", WrongValue)],
    ids=["unknown", "test"],
)
def test_a_set_that_is_unknown_or_not_of_dev_chooses_no_model(write, name, fault):
    with refused(fault):
        load(write(f'name = "p"\n{CORPUS}{EVALUATION}{DEV}{CHOSEN.format(name)}'))


def test_an_encoder_that_the_project_does_not_have_is_refused_with_those_that_it_has(write):
    project = load(write(f'name = "p"\n{CORPUS}{ENCODER}'))
    assert project.encoder("s3bert") is project.encoders[0]
    with refused(UnknownName):
        project.encoder("s3brt")
    with refused(UnknownName):
        load(write(f'name = "p"\nencoders = []\n{CORPUS}')).encoder("x")


def test_models_that_are_folders_are_those_of_the_project_wherever_it_runs(write, tmp_path):
    for name in ("tags", "tokenizer", "embedded", "all-MiniLM-L6-v2"):
        (tmp_path / name).mkdir()
    project = load(write(f'name = "p"\n{CORPUS}[amr]\ntokenizer = "tokenizer"\n[srl]\ntags = "tags"\n'))
    assert (project.amr.tokenizer, project.srl.tags) == (str(tmp_path / "tokenizer"), str(tmp_path / "tags"))
    assert (project.amr.model, project.embeddings.model) == ("embedded", "all-MiniLM-L6-v2"), "which are known names"


def test_a_tilde_before_a_name_that_no_user_has_is_part_of_the_path(write, tmp_path):
    project = load(write(f'name = "p"\n{CORPUS}[amr]\ngraphs = ["~nosuchuser/g.amr"]\n'))
    assert project.amr.graphs == (tmp_path / "~nosuchuser/g.amr",)
    with refused(UnknownModel):
        locate("~nosuchuser/model", tmp_path)
