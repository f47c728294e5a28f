"""The project file: what is wrong is said in one sentence with file and key."""

import pytest

from features.errors import SettingsError
from flows.project import load

CORPUS = '[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "a.tsv" }\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "facetflow.toml"
        path.write_text(text)
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
    assert project.amr.graphs == (str(tmp_path / "g.amr"),)
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
        (CORPUS, "the key `name` is missing"),
        ('name = "p"\n', "the key `corpora` is missing"),
        (
            f'name = "p"\n{CORPUS}[amr]\nbatchsize = 3\n',
            "the key `amr.batchsize` is unknown: did you mean `batch_size`?",
        ),
        (f'name = "p"\n{CORPUS}colums = 1\n', "the key `corpora[1].colums` is unknown: did you mean `columns`?"),
        (f'name = "p"\nzzz = 1\n{CORPUS}', "the key `zzz` is unknown: known are `name`, `store`, "),
        (f'name = "p"\n{CORPUS}[amr]\nbatch_size = "x"\n', "`amr.batch_size` = 'x' is wrong: input should be"),
        (
            f'name = "p"\n{CORPUS}[limits]\nrejected_rows = 2\nfailed_shards = 3\n',
            "`limits.rejected_rows` = 2 is wrong (and 1 more)",
        ),
        (f'name = "a b"\n{CORPUS}', "`name` = 'a b' is wrong: string should match pattern"),
        ('name = "p"\n[[corpora]]\ndataset = "stbs"\n', "'stbs' is no known dataset; use one of stsb, "),
        (f'name = "p"\n{CORPUS}[cluster]\nmemory_limit = "much"\n', "`cluster.memory_limit` = 'much' is wrong"),
        ("name = \n", "cannot be read: Invalid value (at line 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(write, text, said):
    path = write(text)
    with pytest.raises(SettingsError) as error:
        load(path)
    message = str(error.value)
    assert said in message
    assert str(path) in message
    assert "\n" not in message


def test_a_missing_file_says_how_to_make_one(tmp_path):
    with pytest.raises(SettingsError, match=r"There is no project file .*facetflow new"):
        load(tmp_path / "facetflow.toml")
