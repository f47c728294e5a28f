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
    # Dask's report of a worker, scores in JSON, an aspect of papers, a module of the public package.
    "metrics": ("flows/clusters/", "flows/commands/evaluate.py", "features/corpora/records/", "facetflow/__init__.py"),
}


@pytest.mark.parametrize("name", STAGES)
def test_few_files_spell_the_name_of_a_stage(root: Path, name: str) -> None:
    own = f"features/stages/{name}.py"
    files = [
        file.relative_to(root).as_posix()
        for package in PACKAGES
        for file in sorted((root / package).rglob("*.py"))
        if any(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(ast.parse(file.read_text())))
    ]
    spelt = [file for file in files if file != own and not file.startswith(OTHER_MEANINGS.get(name, ()))]
    assert len(spelt) <= MOST, spelt
