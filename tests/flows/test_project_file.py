"""The project file: each error is one sentence with file and key."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from features.core.errors import SettingsError
from flows.project import load
from flows.project_errors import wrong_settings
from training.encoders.s3bert.settings import S3bertSettings

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
    ("text", "said"),
    [
        (CORPUS, "the key `name` is missing: add name = "),
        ('name = "p"\n', "the key `corpora` is missing: add a section [[corpora]]"),
        ('name = "p"\n[[corpora]]\n', "the key `corpora[1].dataset` is missing: add dataset = "),
        (
            f'name = "p"\n{CORPUS}[amr]\nbatchsize = 3\n',
            "the key `amr.batchsize` is unknown: did you mean `batch_size`?",
        ),
        (f'name = "p"\n{CORPUS}colums = 1\n', "the key `corpora[1].colums` is unknown: did you mean `columns`?"),
        (f'name = "p"\nzzz = 1\n{CORPUS}', "the key `zzz` is unknown: known keys are `name`, `store`, "),
        (f'name = "p"\n{CORPUS}store = "s"\n', "`corpora[1].store` is unknown: it belongs at the top of the file"),
        (f'name = "p"\n{CORPUS}amr = "x"\n', "`corpora[1].amr` is unknown: it is its own section, `[amr]`"),
        (
            f'name = "p"\nepochs = 3\n{CORPUS}',
            "the key `epochs` is unknown: it belongs in `loop = { … }` of [[encoders]].",
        ),
        (
            f'name = "p"\n{CORPUS}columns = {{ sentence_1 = "x" }}\n',
            "the key `corpora[1].columns.sentence_1` is unknown: did you mean `sentence_",
        ),
        (
            'name = "p"\n[[corpora]]\ndataset = "pairs"\nfiles = { trian = "x" }\n',
            "the key `corpora[1].files.trian` is unknown: did you mean `train`?",
        ),
        (
            f'name = "p"\n{CORPUS}[leakage]\nevaluation = [{{ dataset = "stsb", splitt = "test" }}]\n',
            "the key `leakage.evaluation[1].splitt` is unknown: did you mean `split`?",
        ),
        (
            f'name = "p"\n{CORPUS}[amr]\nbatch_size = "x"\n',
            "`amr.batch_size` = 'x' is wrong: give a whole number of at",
        ),
        (
            f'name = "p"\n{CORPUS}[limits]\nrejected_rows = 2\n',
            "= 2 is wrong: give a number of at least 0 and at most 1.",
        ),
        (
            f'name = "p"\n{CORPUS}[srl]\nenabled = "perhaps"\n',
            "`srl.enabled` = 'perhaps' is wrong: give true or false.",
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}epochs = 4\n',
            "the key `encoders[1].epochs` is unknown: it belongs in `loop = { … }` of [[encoders]].",
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}scale_learning_rate = 0\n',
            "`encoders[1].scale_learning_rate` = 0 is wrong: give a number above 0.",
        ),
        (
            f'name = "p"\n{CORPUS}[amr]\nbackend = "embeded"\n',
            '`amr.backend` = \'embeded\' is wrong: give "embedded", "amrlib" or "penman"; did you mean "embedded"?',
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}splits = ["train"]\n',
            "`encoders[1].splits` is wrong: give a list of 2 in square brackets, each item text in double quotes.",
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}preset = ["laptop"]\n',
            '= [\'laptop\'] is wrong: give "laptop", "paper" or "released"',
        ),
        (
            'name = "p"\n[[corpora]]\ndataset = "pairs"\nfiles = { train = 3 }\n',
            "`corpora[1].files.train` = 3 is wrong: give text in double quotes or a list in square brackets, each item",
        ),
        (
            f'name = "p"\n{CORPUS}caption_pairs = -3\n',
            '`corpora[1].caption_pairs` = -3 is wrong: give "all" or a whole number above 0.',
        ),
        ('name = "p"\n[corpora]\ndataset = "pairs"\n', "`[corpora]` is wrong: write its name in double brackets"),
        (f'name = "p"\n{CORPUS}[[amr]]\n', "`[[amr]]` is wrong: write its name in single brackets"),
        ('name = "p"\ncorpora = 3\n', "`corpora` = 3 is wrong: give a section `[[corpora]]` for each."),
        (f'name = "p"\namr = true\n{CORPUS}', "`amr` = true is wrong: give a section `[amr]`."),
        (f'name = "a b"\n{CORPUS}', "`name` = 'a b' is wrong: give letters, digits, `_`, `.` and `-` only."),
        ('name = "p"\n[[corpora]]\ndataset = "stbs"\n', "'stbs' is not a known dataset; did you mean 'stsb' or "),
        (f'name = "p"\n{CORPUS}[cluster]\nmemory_limit = "much"\n', 'give a size in double quotes, such as "4GiB".'),
        (f'name = "p"\n{CORPUS}[amr]\ndevice = "gpu"\n', 'give "auto", "cpu", "cuda" or "cuda:N".'),
        (
            f'name = "p"\n{CORPUS}{CORPUS}',
            "`corpora[2].name` is 'mine', as `corpora[1].name` is: give each its own `name`.",
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}loop = {{ epoch = 3 }}\n',
            "the key `encoders[1].loop.epoch` is unknown: did you mean `epochs`?",
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}[[encoders]]\nname = "b"\nkind = "s3bert"\nlayers = 3\n',
            "the key `encoders[2].layers` is unknown: did you mean `layers_tuned`?",
        ),
        (f'name = "p"\n{CORPUS}[[encoders]]\nname = "b"\n', "the key `encoders[1].kind` is missing: add kind = "),
        (
            f'name = "p"\n{CORPUS}[[encoders]]\nname = "b"\nkind = "s4bert"\n',
            (
                '`encoders[1].kind` = \'s4bert\' is wrong: give "s3bert", "aspect", "rgcn" or "pas"; did you mean '
                '"s3bert"?'
            ),
        ),
        (
            f'name = "p"\n{CORPUS}{ENCODER}{ENCODER}',
            "`encoders[2].name` is 's3bert', as `encoders[1].name` is: give each",
        ),
        (
            f'name = "p"\n{CORPUS}[[encoders]]\nname = "builds"\nkind = "s3bert"\n',
            "`encoders[1].name` is 'builds', which cannot be the name of a folder of runs",
        ),
        (f'name = "p"\n{CORPUS}[encoders]\nname = "b"\n', "`[encoders]` is wrong: write its name in double brackets"),
        (f'name = "p"\n{CORPUS}{ENCODER}facets = ["smash"]\n', "facets` names 'smash', which is not a metric; did you"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(write, text, said):
    path = write(text)
    with pytest.raises(SettingsError) as error:
        load(path)
    message = str(error.value)
    assert said in message
    assert message.startswith(f"In {str(path)!r} ")
    assert "\n" not in message


def test_everything_that_is_wrong_is_named_a_line_each(write):
    path = write(f'{CORPUS}[amr]\nbeems = 2\n[limits]\nrejected_rows = 2\nfailed_shards = "x"\n')
    with pytest.raises(SettingsError) as error:
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
    ("text", "said"),
    [
        ("# a comment\nname = foo\n", "invalid value in line 2, column 8, `name = foo`; write text in double quotes"),
        ('name = "C:\\data"\n', 'in line 1, column 13, `name = "C:\\data"`; write a path with / or in single quotes'),
        ('name = "a"\nname = "b"\n', 'in line 2, column 11, `name = "b"`; the key or section exists already'),
        ("[a.b]\n[a.b]\n", "cannot declare [a.b] twice in line 2, column 5, `[a.b]`; the section exists already"),
        ("x = [1,\n", "in line 1, `x = [1,`; the file ends within a value, close every bracket"),
        ('x = "a\n', '`x = "a`; close the text with a double quote on the same line'),
    ],
)
def test_what_is_no_toml_is_shown_with_its_line(write, text, said):
    path = write(text)
    with pytest.raises(SettingsError) as error:
        load(path)
    message = str(error.value)
    assert said in message
    assert message.startswith(f"The project file {str(path)!r} cannot be read: ")
    assert "\n" not in message


def test_a_file_in_another_encoding_names_the_line(tmp_path):
    path = tmp_path / "facetflow.toml"
    path.write_bytes(b'name = "p"\n# caf\xe9\n')
    with pytest.raises(SettingsError, match=r"its line 2 is not UTF-8 \(byte 0xe9\); save it as UTF-8\."):
        load(path)
    path.write_bytes(b"\xef\xbb\xbf" + f'name = "p"\n{CORPUS}'.encode())  # as Windows writes UTF-8
    assert load(path).name == "p"


def test_a_missing_file_says_how_to_make_one_or_where_one_is(tmp_path):
    with pytest.raises(SettingsError, match=r"There is no project file .*facetflow new"):
        load(tmp_path / "facetflow.toml")
    (tmp_path / "facetflow.toml").touch()
    inner = tmp_path / "données 猫" / "deep"
    inner.mkdir(parents=True)
    with pytest.raises(SettingsError, match=r"the nearest is '.*/facetflow\.toml': go to that folder, or .*--project"):
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


def test_the_errors_of_a_list_of_several_kinds_name_the_keys_of_the_file_too():
    """Two or more kinds form a union; its errors have the kind in their locations."""

    class Twin(S3bertSettings):
        kind: Literal["twin"] = "twin"

    class Two(BaseModel):
        encoders: tuple[Annotated[S3bertSettings | Twin, Field(discriminator="kind")], ...] = ()

    def said(**encoder):
        with pytest.raises(ValidationError) as error:
            Two.model_validate({"encoders": [{"name": "a", "kind": "s3bert"}, encoder]})
        return str(wrong_settings(Path("f.toml"), Two, error.value))

    assert said(name="b", kind="twin", loop={"epoch": 3}) == (
        "In 'f.toml' the key `encoders[2].loop.epoch` is unknown: did you mean `epochs`?"
    )
    assert said(name="b", kind="twins") == (
        'In \'f.toml\' `encoders[2].kind` = \'twins\' is wrong: give "s3bert" or "twin"; did you mean "twin"?'
    )
    assert said(name="b", kind="twin", alpha=-1) == (
        "In 'f.toml' `encoders[2].alpha` = -1 is wrong: give a number of at least 0."
    )


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
    ("name", "said"),
    [
        (
            "sts_dev",
            "which names no set of ratings under [[evaluation]]; did you mean 'sts-dev'? Or choose from 'loss', 'sts-d",
        ),
        (
            "stsb-test",
            "a set of split test: a model that is chosen by the pairs that it is scored on looks better than",
        ),
    ],
    ids=["unknown", "test"],
)
def test_a_set_that_is_unknown_or_not_of_dev_chooses_no_model(write, name, said):
    with pytest.raises(SettingsError) as error:
        load(write(f'name = "p"\n{CORPUS}{EVALUATION}{DEV}{CHOSEN.format(name)}'))
    assert f"`encoders[1].choose_by` is {name!r}, {said}" in str(error.value)
    assert str(error.value).endswith("'sts-dev', or name a set of split dev there.")


def test_an_encoder_that_the_project_does_not_have_is_refused_with_those_that_it_has(write):
    project = load(write(f'name = "p"\n{CORPUS}{ENCODER}'))
    assert project.encoder("s3bert") is project.encoders[0]
    with pytest.raises(SettingsError, match=r"has no encoder 's3brt' \(did you mean 's3bert'\?\); there are: s3bert\."):
        project.encoder("s3brt")
    with pytest.raises(SettingsError, match=r"has no encoder 'x', nor any other: add a section \[\[encoders\]\]\."):
        load(write(f'name = "p"\nencoders = []\n{CORPUS}')).encoder("x")
