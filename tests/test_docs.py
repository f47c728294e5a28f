"""Documentation that drifts from the code fails here."""

import re
import tomllib
from pathlib import Path

import pytest

from features.store.schemas import METRIC_NAMES, TABLES
from flows.command_line import COMMANDS
from flows.project import Project


@pytest.fixture
def readme(root: Path) -> str:
    return (root / "README.md").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(readme: str, command: str) -> None:
    assert f"`facetflow {command}" in readme


def test_the_readme_names_no_command_that_does_not_exist(readme: str) -> None:
    assert set(re.findall(r"^facetflow ([a-z]+)", readme, re.MULTILINE)) <= set(COMMANDS)


def test_the_project_file_of_the_readme_is_valid(readme: str) -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    assert Project.model_validate(tomllib.loads(text)).corpora[0].name == "mine"


@pytest.mark.parametrize(
    "path", ["flows/templates/project.toml", "flows/templates/example.toml", "examples/bamboo/facetflow.toml"]
)
def test_the_project_files_that_come_along_are_valid(root: Path, path: str) -> None:
    Project.model_validate(tomllib.loads((root / path).read_text()))


def test_links_between_documents_lead_somewhere(root: Path) -> None:
    documents = [root / "README.md", *(root / "docs").glob("*.md"), *root.glob("*/README.md")]
    dead = [
        (document.name, link)
        for document in documents
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / link).exists()
    ]
    assert dead == []


def test_the_architecture_page_names_every_folder_and_table(root: Path) -> None:
    page = (root / "docs" / "architecture.md").read_text()
    folders = [f"features/{path.name}" for path in (root / "features").iterdir() if (path / "__init__.py").exists()]
    assert [name for name in (*folders, *TABLES) if name not in page] == []


def test_every_metric_is_documented(root: Path) -> None:
    page = (root / "docs" / "metrics.md").read_text()
    assert [name for name in METRIC_NAMES if f"`{name}`" not in page] == []


def test_the_make_targets_are_documented_by_themselves(root: Path) -> None:
    makefile = (root / "Makefile").read_text()
    public = re.search(r"^\.PHONY: (.*help.*)$", makefile, re.MULTILINE)
    assert public is not None
    assert [name for name in public[1].split() if not re.search(rf"^{name}:.*## ", makefile, re.MULTILINE)] == []


def test_nothing_names_this_machine(root: Path) -> None:
    places = ("/ro" + "ot/", "/wo" + "rk/", "py" + "env", "/opt/" + "wheels")
    suffixes = {".py", ".md", ".toml", ".txt", ".yaml", ".sh", ""}
    tracked = [path for path in root.rglob("*") if path.is_file() and path.suffix in suffixes]
    skipped = {".git", ".venv", "build", "runs", "__pycache__"}
    ours = [
        path
        for path in tracked
        if not any(part in skipped or part.startswith(".") for part in path.relative_to(root).parts)
    ]
    found = [(path.name, place) for path in ours for place in places if place in path.read_text(errors="ignore")]
    assert found == []
