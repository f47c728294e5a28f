"""A build, killed in the middle, whose store is in an object storage: the same rows as in a folder."""

import pytest

from features.core.errors import FacetflowError
from features.stages.registry import TABLES
from features.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.soak, pytest.mark.timeout(900)]


def in_the_middle(url: str) -> bool:
    """Return whether graphs are committed and not all pairs are measured."""
    try:
        store = Store.open(url)
        return bool(store.committed("amr")) and len(store.committed("metrics")) < len(store.committed("pairs"))
    except FacetflowError:  # the store is just being made
        return False


def test_a_killed_build_goes_on_and_makes_the_rows_that_a_folder_holds(
    bucket, project, built, facetflow_alone, wait_until
):
    project.write(60, sentences=8, per_shard=8, workers=2, store=bucket.url())
    with facetflow_alone.start(project, "build") as build:
        wait_until(lambda: in_the_middle(bucket.url()), "the first commit of graphs")
        build.kill()
        build.communicate(timeout=400)
    bucket.fail(("PUT", "503", 5), ("PUT", "lost", 5))
    output = facetflow_alone.done(project, "build")
    assert "Traceback" not in output
    store = Store.open(bucket.url())
    assert store.verify(deep=True).broken == ()
    for name, expected in built.tables().items():
        rows = store.read(name, with_shard=True).sort("shard", next(iter(TABLES[name])))
        assert rows.equals(expected), name
    assert facetflow_alone.done(project, "build").count("Nothing changed: release 1 is up to date.") == 1
    assert not (project.folder / "store").exists()
