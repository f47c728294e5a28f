"""The console script: quick to list what it can do, one sentence for every error."""

import errno
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from features.core.errors import InputError
from features.core.faults import FileMissing, NoProjectFile, Usage
from flows import command_line
from flows.terminal import Verbosity, verbosity

HEAVY = ("prefect", "dask", "distributed", "polars", "pydantic", "torch", "deltalake", "numba", "rich")


@pytest.mark.parametrize("name", command_line.COMMANDS)
def test_every_command_can_be_loaded_and_is_told_as_it_is(name, root):
    _, command, _ = command_line.cli.resolve_command(click.Context(command_line.cli), [name])
    assert command.callback is not None or isinstance(command, click.Group)


def test_every_command_has_one_file_and_every_file_a_command(root):
    files = {path.stem for path in (root / "flows" / "commands").glob("[a-z]*.py")}
    assert {file for file, _ in command_line.COMMANDS.values()} == files
    assert files <= command_line.COMMANDS.keys(), "a file is named after its first command"


def test_an_error_of_ours_is_its_sentence(capsys, tmp_path):
    assert command_line.run(["--project", str(tmp_path / "none.toml"), "status"]) == 1
    assert capsys.readouterr().err.startswith("facetflow: There is no project file ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["biuld"], "No such command 'biuld'. Did you mean 'build'? (see facetflow --help)"),
        (["parse", "ammr"], "No such command 'ammr'. Did you mean 'amr'? (see facetflow parse --help)"),
        (["models", "verfy"], "No such command 'verfy'. Did you mean 'verify'? (see facetflow models --help)"),
        (["plan", "--explan"], "No such option '--explan'. Did you mean '--explain'? (see facetflow plan --help)"),
        (["--projct", "x"], "No such option '--projct'. Did you mean '--project'? (see facetflow --help)"),
        (["plan", "extra"], "Got unexpected extra argument (extra) (see facetflow plan --help)"),
        (["new"], "Missing argument 'FOLDER' (see facetflow new --help)"),
        (["--quiet"], "Missing command (see facetflow --help)"),
    ],
)
def test_a_wrong_word_is_one_sentence_that_names_the_help_of_its_command(capsys, arguments, said):
    assert command_line.run(arguments) == 1
    assert capsys.readouterr().err == f"facetflow: {said} (FF001)\n"


@pytest.mark.parametrize(
    "arguments", [["encode", "none", "-o", "x.parquet"], ["explain", "--graphs", "none", "a", "b"]]
)
def test_a_file_that_is_not_there_is_the_fault_that_it_is_elsewhere(refuses, arguments):
    refuses(FileMissing, *arguments)


@pytest.mark.parametrize("group", [[], ["parse"], ["models"], ["score"]])
def test_a_bare_group_shows_its_help(capsys, group):
    assert command_line.run(group) == 0
    bare = capsys.readouterr()
    assert bare.err == ""
    assert bare.out.startswith(f"Usage: {' '.join(['facetflow', *group])} [OPTIONS] COMMAND")
    assert command_line.run([*group, "--help"]) == 0
    assert capsys.readouterr().out == bare.out


@pytest.mark.parametrize("name", ["-c", "/usr/lib/python3/site-packages/flows/command_line.py", "-"])
def test_the_program_is_called_facetflow_however_it_was_started(capsys, monkeypatch, name):
    monkeypatch.setattr(sys, "argv", [name, "plan", "--help"])
    assert command_line.run() == 0
    assert capsys.readouterr().out.startswith("Usage: facetflow plan [OPTIONS]\n")


def test_the_version_is_that_of_the_package(capsys, root):
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    assert command_line.run(["--version"]) == 0
    assert capsys.readouterr().out == f"facetflow, version {version}\n"


@pytest.fixture
def chosen(monkeypatch):
    """Return a function that runs words with a command `plan` and a group `models list`, and returns their project."""

    def chosen(*words):
        seen = []

        @click.command()
        @click.pass_obj
        def command(project):
            seen.append(project)

        group = click.Group("models", commands={"list": command})
        monkeypatch.setattr("flows.commands.build.plan", command)
        monkeypatch.setattr("flows.commands.models.models", group)
        assert command_line.run(list(words)) == 0
        return str(seen[0])

    return chosen


@pytest.mark.parametrize(
    ("words", "project"),
    [
        ("plan", "facetflow.toml"),
        ("--project x plan", "x"),
        ("plan --project x", "x"),
        ("plan --project=x", "x"),
        ("models list --project x", "x"),
        ("models --project x list", "x"),
        ("--project x models list", "x"),
        ("--project x plan --project y", "y"),
        ("plan --project x --project y", "y"),
    ],
)
def test_the_project_is_chosen_anywhere_and_the_last_word_counts(chosen, words, project):
    assert chosen(*words.split()) == project


def test_the_project_may_be_a_folder_or_at_home(chosen, tmp_path, monkeypatch):
    folder = tmp_path / "données 猫"
    folder.mkdir()
    assert chosen("plan", "--project", str(folder)) == str(folder / "facetflow.toml")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert chosen("plan", "--project=~/mine.toml") == str(tmp_path / "mine.toml")


@pytest.mark.parametrize("words", ["-q plan", "plan -q", "plan --quiet", "models -q list", "models list --quiet"])
def test_quiet_stands_anywhere_and_holds_for_one_command(chosen, words):
    chosen(*words.split())
    assert verbosity() is Verbosity.QUIET
    chosen("plan")
    assert verbosity() is Verbosity.NORMAL


def complete(words, *, of="bash"):
    """Return the completions of the last of some words, and the heavy libraries that this loaded."""
    code = (
        "import atexit, sys; from flows.command_line import run\n"
        f"atexit.register(lambda: print([n for n in {HEAVY!r} if n in sys.modules], file=sys.stderr))\n"
        "run([])"
    )
    environment = {
        **os.environ,
        "_FACETFLOW_COMPLETE": f"{of}_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1) if of != "fish" else words.split(" ")[-1],
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    return done.stdout, done.stderr.strip()


def test_completing_a_command_is_quick():
    assert complete("facetflow pl") == ("plain,plan\n", "[]")
    names = complete("facetflow ")
    assert names == ("".join(f"plain,{name}\n" for name in command_line.COMMANDS), "[]")


def test_completing_goes_below_commands():
    assert complete("facetflow models ve") == ("plain,verify\n", "[]")
    assert complete("facetflow plan --exp") == ("plain,--explain\n", "[]")
    assert complete("facetflow plan --pro", of="fish")[0].startswith("plain,--project")
    assert complete("facetflow plan --project ")[0] == "file,\n"  # the shell completes files itself


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_written(monkeypatch, capfdbinary, shell):
    monkeypatch.setenv("_FACETFLOW_COMPLETE", f"{shell}_source")
    with pytest.raises(SystemExit) as ended:
        command_line.run([])
    assert ended.value.code == 0
    assert f"_FACETFLOW_COMPLETE={shell}_complete".encode() in capfdbinary.readouterr().out


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
    log = Path(said.rsplit(" ", 2)[1])
    assert "Traceback (most recent call last)" in log.read_text()


def of_system(number, file=None):
    return OSError(number, os.strerror(number), file) if file else OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (of_system(errno.EACCES, "a 猫/b"), "'a 猫/b' cannot be used: permission denied; correct its"),
        (of_system(errno.EPERM, "a/b"), "'a/b' cannot be used: it is protected, or its file system lacks the links"),
        (of_system(errno.EROFS, "a/b"), "'a/b' cannot be used: the file system is read-only; choose another place"),
        (of_system(errno.ENOSPC, "a/b"), "'a/b' cannot be used: the disk is full; free some space"),
        (of_system(errno.ENOSPC), "A file cannot be used: the disk is full; free some space"),
        (
            of_system(errno.ENOENT),
            "The working folder cannot be used: it does not exist; check the path; the traceback",
        ),
        (
            OSError(errno.ENOENT, "No place in ['/tmp']"),
            "A file cannot be used ([Errno 2] No place in ['/tmp']): it does",
        ),
        (of_system(errno.ENOENT, "a/b"), "'a/b' cannot be used: it does not exist; check the path (FF002)."),
        (of_system(errno.EISDIR, "a/b"), "'a/b' cannot be used: it is a folder where a file is needed"),
        (of_system(errno.ENOTDIR, "a/b"), "'a/b' cannot be used: a part of the path is a file"),
        (
            FileNotFoundError("No such file or directory (os error 2): a/b"),
            "A file cannot be used (No such file or directory",
        ),
        (RuntimeError("can't start new thread"), "memory, threads or processes are used up"),
        (of_system(errno.EAGAIN), "memory, threads or processes are used up"),  # of a fork
        (MemoryError(), "memory, threads or processes are used up"),
        (  # under `ulimit -v`
            ImportError("libarrow.so: failed to map segment from shared object"),
            "memory, threads or processes are used up",
        ),
        (  # how a Rust library panics: no Exception
            BaseException('cannot spawn: Os { code: 11, message: "Resource temporarily unavailable" }'),
            "memory, threads or processes are used up",
        ),
        (BaseException('Failed: Os { code: 24, message: "Too many" }'), "too many files are open; raise the limit"),
        (RuntimeError("Could not determine home directory."), "it does not exist; check the path"),  # of `~data/store`
        (UnicodeEncodeError("ascii", "猫", 0, 1, "ordinal"), "which has no '猫': set PYTHONIOENCODING=utf-8 (FF003)."),
        (
            UnicodeEncodeError("utf-8", "a\udce9", 1, 2, "surrogates"),
            "The byte 0xe9 in an argument or in the name of a folder is not UTF-8",
        ),
        (UnicodeDecodeError("utf-8", b"caf\xe9", 3, 4, "end"), "is not UTF-8 text (byte 0xe9): save it as UTF-8"),
        (
            ModuleNotFoundError("No module named 'torch'", name="torch"),  # as where only some extras are installed
            "The package 'torch' is missing: install it by `pip install 'facetflow[all]'` (FF406).",
        ),
    ],
)
def test_errors_of_the_file_system_of_text_and_of_packages_are_one_sentence(capsys, monkeypatch, tmp_path, error, said):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("flows.commands.build.build", raising(error))
    assert command_line.run(["build"]) == 1
    line = capsys.readouterr().err
    assert said in line
    assert line.startswith("facetflow: ")
    assert line.count("\n") == 1
    assert "Unexpected" not in line


def test_a_disk_that_has_no_room_for_a_traceback_still_gets_a_sentence(capsys, monkeypatch):
    def refuse(*_, **__):
        raise of_system(errno.ENOSPC)

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    monkeypatch.setattr("flows.commands.build.build", raising(of_system(errno.ENOSPC)))
    assert command_line.run(["build"]) == 1
    assert capsys.readouterr().err == (
        "facetflow: A file cannot be used: the disk is full; free some space and run the same command again (FF002).\n"
    )


def test_verbose_shows_where_an_error_of_the_file_system_came_from(capsys, monkeypatch):
    monkeypatch.setattr("flows.commands.build.build", raising(of_system(errno.EACCES, "a/b")))
    assert command_line.run(["build", "--verbose"]) == 1
    *trace, last = capsys.readouterr().err.splitlines()
    assert trace[0].startswith("Traceback")
    assert last.startswith("facetflow: 'a/b' cannot be used: permission denied")


@pytest.mark.parametrize(
    ("command", "said"), [("build", "the same command continues from there"), ("gc", "run it again")]
)
def test_an_interrupt_says_what_the_next_run_does(capsys, monkeypatch, command, said):
    def press_ctrl_c():
        raise KeyboardInterrupt

    monkeypatch.setattr(f"flows.commands.{command}.{command}", click.Command(command, callback=press_ctrl_c))
    assert command_line.run([command]) == 128 + signal.SIGINT
    assert capsys.readouterr().err.endswith(f"{said}.\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (InputError("A bad file."), 1), (BrokenPipeError(), 0), (EOFError(), 1)],
)
def test_exit_codes(monkeypatch, error, code):
    monkeypatch.setattr("flows.commands.build.build", raising(error))
    monkeypatch.setattr("os.dup2", lambda *_: None)  # pytest owns standard output
    assert command_line.run(["build"]) == code


@pytest.mark.parametrize(("text", "hours"), [("90m", 1.5), ("12h", 12), ("2d", 48), ("1w", 168)])
def test_ages_are_read(text, hours):
    from flows.commands.gc import age

    assert age(text).total_seconds() == hours * 3600


def test_a_wrong_age_is_refused(refuses):
    refuses(Usage, "gc", "--older-than", "soon")


@pytest.mark.parametrize("words", [["explain", "a", "b"], ["search", "a"], ["report", "--encoder", "."]])
def test_a_project_that_is_named_must_be_there(refuses, tmp_path, words):
    refuses(NoProjectFile, "--project", str(tmp_path / "typo"), *words)


def test_an_evaluation_on_a_mistyped_split_is_refused_before_it_is_recorded_as_failed(refuses):
    refuses(Usage, "evaluate", "--split", "trian")
