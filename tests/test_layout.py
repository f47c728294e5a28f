"""Guards of the layout: each of these once went wrong silently."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

PACKAGES = ("facetflow", "flows", "tasks", "training", "features")


@pytest.mark.parametrize("package", PACKAGES)
def test_the_five_import_names_are_ours(package: str) -> None:
    # `tasks` and `flows` are common names: another distribution that ships one would shadow ours, or be shadowed.
    assert set(packages_distributions()[package]) == {"facetflow"}


def test_a_folder_of_that_name_in_the_working_directory_does_not_hide_the_public_package(tmp_path: Path) -> None:
    (tmp_path / "facetflow").mkdir()  # who starts Python in the folder above a clone has one
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    program = "import facetflow; print(facetflow.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).name == "__init__.py"


def test_the_packages_are_named_explicitly(root: Path) -> None:
    # Auto-discovery of setuptools silently skips a package called `tasks`.
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    assert settings["tool"]["setuptools"]["packages"]["find"]["include"] == [f"{name}*" for name in PACKAGES]


def test_every_folder_with_modules_is_a_package(root: Path) -> None:
    folders = {path.parent for name in PACKAGES for path in (root / name).rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_tests_have_no_init(root: Path) -> None:
    assert list((root / "tests").rglob("__init__.py")) == []


def test_no_flow_is_named_like_something_it_could_shadow(root: Path) -> None:
    # Prefect puts the folder of a flow on sys.path when it is given as a file.
    taken = set(PACKAGES) | {"prefect", "dask", "distributed", "torch", "polars", "click", "rich", "spacy", "numba"}
    taken |= sys.stdlib_module_names
    assert [path.name for path in (root / "flows").glob("*.py") if path.stem in taken] == []


def test_long_files_are_looked_at(root: Path) -> None:
    files = [
        path for name in PACKAGES for path in (root / name).rglob("*.py") if path.name != "faults.py"
    ]  # a catalogue
    assert [path.name for path in files if len(path.read_text().splitlines()) > 400] == []


def test_nothing_unfinished_is_left(root: Path) -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "NotImplemented" + "Error", "XX" + "X")
    files = [path for name in (*PACKAGES, "tests") for path in (root / name).rglob("*.py")]
    assert [(path.name, mark) for path in files for mark in marks if mark in path.read_text()] == []
