"""Documentation that drifts from the code fails here."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from result_tables import RESULTS, SHOWN, pages, with_tables

from features.core.types import RejectCode
from features.corpora.dataset import DATASETS
from features.stages.registry import TABLES
from flows.command_line import EXAMPLES, cli
from flows.console.options import FILE
from flows.project import Project
from training.modules.spans import Spans
from training.modules.trees import Trees


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield path and command of all commands, including groups."""

    def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
        yield path, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                _, below, _ = command.resolve_command(context, [name])
                assert below is not None
                yield from walk(below, f"{path} {name}".strip())

    yield from walk(cli, "")


def test_every_option_has_a_help_text_and_shows_its_default() -> None:
    options = [
        (path, option)
        for path, command in every_command()
        for option in command.params
        if isinstance(option, click.Option)
    ]
    assert [(path, option.name) for path, option in options if len((option.help or "").split()) < 2] == []
    below = click.Context(cli, **cli.context_settings)
    hidden = [
        (path, option.name)
        for path, option in options
        if not option.is_flag
        and option.to_info_dict()["default"] not in (None, "", ())
        and "default" not in option.get_help_extra(below)
    ]
    assert hidden == []


def test_every_command_says_what_it_does_and_its_arguments() -> None:
    for path, command in every_command():
        assert (command.help or "").strip().endswith("."), path
        for argument in command.params:
            if isinstance(argument, click.Argument):
                name = argument.make_metavar(click.Context(command)).strip("[].")
                _, group, _ = cli.resolve_command(click.Context(cli), path.split()[:1])
                around = f"{command.help} {group.help}"
                assert name in around, (path, name)


def test_no_command_is_cut_off_where_a_group_lists_it() -> None:
    groups = [(path, command) for path, command in every_command() if isinstance(command, click.Group)]
    listed = [(path, group.get_help(click.Context(group)).partition("Commands:")[2]) for path, group in groups]
    assert len(listed) == 4
    assert [path for path, lines in listed if "..." in lines] == []


@pytest.mark.parametrize("path", EXAMPLES)
def test_the_examples_of_the_help_are_commands_with_known_options(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = dict(every_command())[path]
    assert all(line in (command.epilog or "") for line in EXAMPLES[path])
    monkeypatch.setattr(type(FILE), "convert", lambda _self, value, *_: value)  # the files of an example are not there
    for line in EXAMPLES[path]:
        words = shlex.split(line)
        rest = words[1 + len(path.split()) :] if words[1:][: len(path.split())] == path.split() else words[2:]
        command.make_context(path, rest, parent=click.Context(cli, **cli.context_settings))


@pytest.mark.parametrize("name", ["commands", "errors", "metrics"])
def test_the_generated_pages_are_current(root: Path, name: str) -> None:
    tool = root / f"tools/{name}_page.py"
    done = subprocess.run([sys.executable, tool, "--print"], capture_output=True, text=True, check=True)
    assert (root / f"docs/reference/{name}.md").read_text() == done.stdout, f"run python tools/{name}_page.py"


RESULT_PAGES = [page for page in pages() if "<!-- table: " in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", RESULT_PAGES, ids=lambda page: page.name)
def test_the_tables_of_measurements_are_those_of_their_files(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == with_tables(page), "run python tools/result_tables.py"


def test_every_file_of_measurements_is_shown_and_names_the_command_that_made_it(root: Path) -> None:
    files = {path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in RESULTS.glob("*.csv")}
    assert {match[1] for page in RESULT_PAGES for match in SHOWN.finditer(page.read_text("utf-8"))} == files.keys()
    assert [name for name, line in files.items() if not line.startswith("# ")] == []
    scripts = {name for line in files.values() for name in re.findall(r"(?:benchmarks|examples)/\S+\.\w+", line)}
    assert [name for name in scripts if not (root / name).is_file()] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_commands_and_options_of_a_page_exist(page: Path) -> None:
    known = {path: {name for option in command.params for name in option.opts} for path, command in every_command()}
    shared = known[""]
    lines = "".join(re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)).splitlines()
    for line in lines:
        for part in re.findall(r"\bfacetflow ([a-z].*?)(?=[|;>]|&&|  #|\)|$)", line):
            words = shlex.split(part, comments=True)
            path = max((p for p in known if words[: len(p.split())] == p.split()), key=len)
            assert path, line
            options = set().union(*(known[p] for p in known if p == path or p.startswith(f"{path} ")))
            assert {word for word in words if word.startswith("--")} <= options | shared, line


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_project_files_of_a_page_are_valid(page: Path) -> None:
    for text in re.findall(r"```toml\n(name = .*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        assert Project.model_validate(tomllib.loads(text)).name


def test_the_readme_ends_before_the_second_screen(root: Path) -> None:
    assert len((root / "README.md").read_text(encoding="utf-8").splitlines()) <= 90


def test_the_documentation_can_be_read_in_an_afternoon(root: Path) -> None:
    # What is added takes the place of something else: a page that says all is read by nobody.
    documents = [root / "README.md", root / "CHANGELOG.md", *(root / "docs").rglob("*.md")]
    assert sum(len(document.read_text(encoding="utf-8").split()) for document in documents) <= 40_500


def test_the_project_file_of_the_example_is_valid(root: Path) -> None:
    Project.model_validate(tomllib.loads((root / "flows/templates/example.toml").read_text()))


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    documents = [root / "README.md", *(root / "docs").rglob("*.md"), *root.glob("*/README.md")]
    dead = [
        (document.name, link)
        for document in documents
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / link).exists()
    ]
    assert dead == []


@pytest.mark.parametrize("told", ["tests/sentences.json", "flows/templates/project.txt"])
def test_nothing_sends_whom_installed_the_package_to_pages_of_the_repository(root: Path, told: str) -> None:
    assert "docs/" not in (root / told).read_text()


def test_the_architecture_page_names_every_folder_and_table(root: Path) -> None:
    page = (root / "docs/concepts/architecture.md").read_text()
    folders = [f"features/{path.name}" for path in (root / "features").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in (*folders, *TABLES) if name not in page] == []


def test_every_reject_code_is_documented(root: Path) -> None:
    page = (root / "docs/reference/corpora.md").read_text(encoding="utf-8").partition("## Rejects")[2]
    assert set(re.findall(r"`(\w+)`", "".join(re.findall(r"(?m)^\| (.*?) \|", page)))) == set(RejectCode)


def test_every_dataset_is_in_the_list_of_corpora(root: Path) -> None:
    page = (root / "docs/reference/corpora.md").read_text(encoding="utf-8")
    listed = {*re.findall(r"`(\w+)`", page), *(f"sts{year}" for year in range(12, 17))}
    assert DATASETS.keys() - listed == set()


def test_a_parser_of_ones_own_is_named_by_the_attributes_that_structures_have(root: Path) -> None:
    page = (root / "docs/howto/publishing.md").read_text(encoding="utf-8")
    named = re.search(r"`encoder\.model\[0\]\.structure\.(\w+) = FOLDER` \(`(\w+)` for trees\)", page)
    assert named is not None
    assert (named[1] in Spans.parsed_by, named[2] in Trees.parsed_by) == (True, True)


def test_the_make_targets_are_documented_by_themselves(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    public = re.search(r"^\.PHONY: (.*help.*)$", makefile, re.MULTILINE)
    assert public is not None
    assert [name for name in public[1].split() if not re.search(rf"^{name}:.*## ", makefile, re.MULTILINE)] == []


def test_nothing_names_this_machine(root: Path) -> None:
    places = ("/ro" + "ot/", "/wo" + "rk/", "py" + "env", "/opt/" + "wheels")
    suffixes = {".py", ".md", ".toml", ".txt", ".yaml", ".sh", ""}
    skipped = {"build", "runs", "__pycache__"}
    ours: list[Path] = []
    for folder, below, files in os.walk(root):
        below[:] = [name for name in below if name not in skipped and not name.startswith(".")]
        paths = [Path(folder, name) for name in files if not name.startswith(".")]
        ours += [path for path in paths if path.suffix in suffixes]
    assert root / "README.md" in ours
    found = [(path.name, place) for path in ours for place in places if place in path.read_text(errors="ignore")]
    assert found == []
