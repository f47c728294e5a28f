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


def test_store_is_found_where_it_is_looked_for():
    from features.store import Store
    from features.store.store import Store as Same

    assert Store is Same
    with pytest.raises(ImportError, match="Shop"):
        from features.store import Shop  # noqa: F401
