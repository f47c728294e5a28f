"""The console script: quick to say what it can do, one sentence for every error."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

from features.errors import InputError
from flows import command_line

HEAVY = ("prefect", "dask", "distributed", "polars", "pydantic", "torch", "deltalake", "numba", "rich")


@pytest.mark.parametrize("arguments", [["--help"], ["build", "--help"], ["plan", "--help"], ["gc", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys; from flows.command_line import run\n"
        f"code = run({arguments!r})\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded or code else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout


@pytest.mark.parametrize("name", command_line.COMMANDS)
def test_every_command_can_be_loaded_and_is_told_as_it_is(name, root):
    assert isinstance(command_line.LazyGroup().get_command(click.Context(command_line.cli), name), click.Command)
    assert (root / "flows" / "commands" / f"{name}.py").exists()


def test_every_command_file_is_a_command(root):
    # A command of several words has a file for each: score.py, score_srl.py.
    files = {path.stem.partition("_")[0] for path in (root / "flows" / "commands").glob("[a-z]*.py")}
    assert files == set(command_line.COMMANDS)


def test_an_error_of_ours_is_its_sentence(capsys, tmp_path):
    assert command_line.run(["--project", str(tmp_path / "none.toml"), "status"]) == 1
    assert capsys.readouterr().err.startswith("facetflow: There is no project file ")


def test_a_wrong_word_is_one_sentence(capsys):
    assert command_line.run(["biuld"]) == 1
    assert capsys.readouterr().err == "facetflow: No such command 'biuld'. (see facetflow --help)\n"


def raising(error):
    @click.command()
    def build():
        raise error

    return build


def test_an_unexpected_error_names_the_file_with_its_traceback(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("flows.commands.build.build", raising(ZeroDivisionError("by zero\nand more")))
    assert command_line.run(["build"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("facetflow: Unexpected ZeroDivisionError: by zero; the traceback is in ")
    assert said.count("\n") == 1
    log = Path(said.rsplit(" ", 1)[1].strip().removesuffix("."))
    assert "Traceback (most recent call last)" in log.read_text()


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (InputError("A bad file."), 1), (BrokenPipeError(), 0)]
)
def test_exit_codes(monkeypatch, error, code):
    monkeypatch.setattr("flows.commands.build.build", raising(error))
    monkeypatch.setattr("os.dup2", lambda *_: None)  # pytest owns standard output
    assert command_line.run(["build"]) == code


@pytest.mark.parametrize(("text", "hours"), [("90m", 1.5), ("12h", 12), ("2d", 48), ("1w", 168)])
def test_ages_are_read(text, hours):
    from flows.commands.gc import Age

    assert Age().convert(text, None, None).total_seconds() == hours * 3600


def test_a_wrong_age_is_refused(capsys):
    assert command_line.run(["gc", "--older-than", "soon"]) == 1
    assert "'soon' is no age: write a number and m, h, d or w, such as 7d" in capsys.readouterr().err
