"""Recipes, schemas and stage outputs also import on machines without deltalake."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["features.stages", "features.schemas", "features.store.fingerprints", "features.store.receipts"]
)
def test_module_needs_no_deltalake(root, module):
    code = f"import sys; sys.modules['deltalake'] = None; import {module}"

    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.stderr == ""
