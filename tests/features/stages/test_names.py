"""A stage is named in its own file, and next to nowhere else."""

import ast
from pathlib import Path

import pytest

from features.stages.registry import STAGES

PACKAGES = ("facetflow", "features", "flows", "tasks", "training")
MOST = 3
OTHER_MEANINGS = {
    # The metric of this name; the kind of reader in an archive; the prefix of a scratch folder.
    "srl": ("features/metrics/", "features/contrasts/", "features/parsers/srl/", "training/"),
    # Dask's report of a worker, scores in JSON, a module of the public package.
    "metrics": ("flows/clusters/", "flows/commands/train.py", "facetflow/__init__.py"),
}


@pytest.fixture(scope="module")
def words_of_files(root: Path) -> dict[str, set[str]]:
    """Return the strings of each file of the packages."""
    files = (file for package in PACKAGES for file in sorted((root / package).rglob("*.py")))
    return {
        file.relative_to(root).as_posix(): {
            node.value
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for file in files
    }


@pytest.mark.parametrize("name", STAGES)
def test_few_files_spell_the_name_of_a_stage(words_of_files: dict[str, set[str]], name: str) -> None:
    own = f"features/stages/{name}.py"
    files = [file for file, words in words_of_files.items() if name in words]
    spelt = [file for file in files if file != own and not file.startswith(OTHER_MEANINGS.get(name, ()))]
    assert len(spelt) <= MOST, spelt
