"""What is declared, locked and copied is what is used."""

import ast
import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGES = ("facetflow", "features", "flows", "tasks", "training")
OF_OTHERS = {"cryptography", "fastapi", "mteb", "sqlalchemy", "tensorboard", "umap-learn", "unidecode"}
"""Declared for what another package does, or imported by name only: pyproject.toml says why."""


@pytest.fixture
def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


@pytest.fixture
def declared(project) -> dict[str, Requirement]:
    extras = (lines for name, lines in project["optional-dependencies"].items() if name not in {"dev", "docs"})
    found = [Requirement(line) for lines in (project["dependencies"], *extras) for line in lines]
    return {canonicalize_name(one.name): one for one in found if one.name != "facetflow"}


def imported(root: Path) -> set[str]:
    names = set()
    for file in (file for name in PACKAGES for file in (root / name).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - {*PACKAGES, "mteb", "umap"} - sys.stdlib_module_names


def test_what_is_imported_is_declared_and_what_is_declared_is_imported(root, declared):
    distributions = packages_distributions()
    providers = {name: {canonicalize_name(one) for one in distributions[name]} for name in imported(root)}
    assert {name for name, by in providers.items() if not by & declared.keys()} == set()
    assert declared.keys() - set().union(*providers.values()) == OF_OTHERS


def test_every_declared_range_admits_the_locked_version(root, declared):
    lines = (line.partition("==") for line in (root / "constraints.txt").read_text().splitlines())
    locked = {canonicalize_name(name): version for name, _, version in lines}
    assert {name for name, wanted in declared.items() if not wanted.specifier.contains(locked[name])} == set()


def test_the_image_copies_what_is_there_and_starts_what_is_installed(root, project):
    text = re.sub(r"\\\n", " ", (root / "Dockerfile").read_text())
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    assert {word for word, _ in steps} <= {"FROM", "ARG", "ENV", "WORKDIR", "COPY", "RUN", "ENTRYPOINT", "CMD"}
    (base,) = (rest for word, rest in steps if word == "FROM")
    assert base == f"python:{project['requires-python'].removeprefix('>=')}-slim"
    copied = {name for word, rest in steps if word == "COPY" for name in rest.split()[:-1]}
    assert copied >= {*PACKAGES, "pyproject.toml", "constraints.txt", project["readme"], *project["license-files"]}
    assert all((root / name).exists() for name in copied)
    kept = [line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert [name for name in copied if not any(fnmatch(name, pattern) for pattern in kept)] == []
    (entry,) = (ast.literal_eval(rest) for word, rest in steps if word == "ENTRYPOINT")
    assert entry[0] in project["scripts"]


@pytest.mark.parametrize("file", ["Dockerfile", "examples/clusters/Dockerfile"])
def test_whoever_runs_an_image_has_its_compiled_metrics_and_a_home(root, file):
    text = (root / file).read_text()
    (kernels,) = re.findall(r"NUMBA_CACHE_DIR=(\S+)", text)
    (opened,) = re.findall(r"chmod -R a\+rwX (.+)", text[text.index("warm_up()") :])
    assert {kernels, '"$HOME"'} <= set(opened.split())
    assert " HOME=" in text


@pytest.mark.parametrize("file", ["Makefile", "Dockerfile", "examples/clusters/Dockerfile"])
def test_what_set_up_calls_is_there(root, file):
    calls = re.findall(r"from ([\w.]+) import (\w+)", (root / file).read_text())
    assert calls
    assert all(callable(getattr(importlib.import_module(module), name)) for module, name in calls)


def test_a_clone_may_lie_in_a_folder_with_a_space(root, tmp_path):
    if (make := shutil.which("make")) is None:
        pytest.skip("needs make")
    clone = tmp_path / "my clone"
    (clone / ".venv" / "bin").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, clone)
    for name in ("bin/pip", ".run"):
        (clone / ".venv" / name).touch()
    done = subprocess.run([make, "--dry-run", "run"], cwd=clone, capture_output=True, text=True, check=True)
    assert f'cd runs/example && "{clone}/.venv/bin/facetflow" build\n' in done.stdout
