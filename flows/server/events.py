"""The event of a release, for automations of others: facetflow itself starts nothing by it.

facetflow.features.committed    once for each release, when it is published; lost if the server is away
"""

from features.store.releases import Release
from features.store.store import Store
from flows.server.prefect_address import somebody_listens

COMMITTED = "facetflow.features.committed"


def resource_id(store: Store) -> str:
    """Return the id by which events and deployments name a store."""
    return f"facetflow.store.{store.id}"


def emit_release(project: str, store: Store, release: Release) -> None:
    """Tell the configured server of a new release; without one nobody would listen."""
    if not somebody_listens():
        return
    from prefect.events import emit_event

    emit_event(
        COMMITTED,
        {
            "prefect.resource.id": resource_id(store),
            "prefect.resource.name": project,
            "facetflow.store": store.location,
        },
        payload={
            "project": project,
            "release": release.number,
            "versions": dict(release.versions),
            "rows": dict(release.rows),
        },
    )
