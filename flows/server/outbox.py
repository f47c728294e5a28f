"""What a flow sends to a Prefect server besides its states, without risk to the run: log lines, artifacts, an event.

    flow ── log, show ──> outbox ── a thread, every two seconds ──> server
                            └── the server is away: kept, tried again, given up at the end

Log lines are those of the terminal at every verbosity, so that the page of a run shows what its user would have seen.
If no server outlives the run, nobody would look, and nothing is sent. The event of a release is for automations of
others: facetflow itself starts nothing by it, and it is lost if the server is away.
"""

import contextvars
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from features.core.errors import described
from features.core.wording import counted
from features.store.releases import Release
from features.store.store import Store
from flows import terminal
from flows.server.prefect_address import somebody_listens

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

EVERY = 2.0
"""Seconds between two requests with log lines."""
SHOW_EVERY = 5.0
"""Seconds between two requests that update an artifact."""
CLOSE_TIMEOUT = 10.0
"""Seconds that the end of a run waits for a slow server."""
_REQUEST_TIMEOUT = 5.0
_BATCH = 200  # lines per request
_KEPT = 20_000  # lines kept for a server that is away
_LONGEST = 20_000  # characters of a line

COMMITTED = "facetflow.features.committed"
"""The event of a release, emitted once when it is published."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """Something shown on the page of a run: a share in percent, a text, or rows, with Markdown above it.

    The server keeps a history by its key, of lower-case letters, digits and dashes.
    """

    key: str
    kind: Literal["progress", "markdown", "table"]
    data: float | str | Sequence[Mapping[str, Any]]
    description: str = ""


class Outbox:
    """Log lines and artifacts of a flow run on their way to the server; None if there is none to tell."""

    def __init__(self, flow_run: UUID | None) -> None:
        self._flow_run = flow_run
        self._lines: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._artifacts: dict[str, Artifact] = {}
        self._known: dict[str, UUID] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._shown = 0.0
        self._thread: threading.Thread | None = None
        if flow_run is not None:
            # Runs in the context of the flow, whose settings say where the server is.
            run = contextvars.copy_context().run
            self._thread = threading.Thread(target=run, args=(self._work,), name="outbox", daemon=True)
            self._thread.start()

    @property
    def open(self) -> bool:
        """Whether there is a server to tell."""
        return self._thread is not None

    def log(self, level: int, text: str) -> None:
        """Send a line, or several, to the log of the run, with a level as in `logging`."""
        if self._thread is None or not text.strip():
            return
        line = {
            "name": "facetflow",
            "level": level,
            "message": text.rstrip("\n")[:_LONGEST],
            "timestamp": datetime.now(UTC).isoformat(),
            "flow_run_id": str(self._flow_run),
        }
        with self._lock:
            self._lines.append(line)

    def show(self, artifact: Artifact) -> None:
        """Show an artifact on the page of the run, replacing one of this run with the same key."""
        if self._thread is not None:
            with self._lock:
                self._artifacts[artifact.key] = artifact

    def show_all(self, artifacts: Iterable[Artifact]) -> None:
        """Show several artifacts; if nobody would see them they are not even read, and no error is raised."""
        if not self.open:
            return
        try:
            for artifact in artifacts:
                self.show(artifact)
        except Exception as error:  # noqa: BLE001 (the work that they show is done, and must not count as failed)
            terminal.warn(f"Prefect's page lacks part of this run: {type(error).__name__}: {error}")

    def close(self) -> None:
        """Send what is pending, but wait no longer than `CLOSE_TIMEOUT` for a server that is slow or gone."""
        if self._thread is None:
            return
        self._closing.set()
        self._thread.join(CLOSE_TIMEOUT)
        with self._lock:
            left = [counted(len(self._lines), "log line")] * bool(self._lines)
            left += [counted(len(self._artifacts), "artifact")] * bool(self._artifacts)
        self._thread = None
        if left:
            terminal.say(f"The Prefect server did not take {' and '.join(left)} of this run.")

    def _work(self) -> None:
        from prefect.client.orchestration import get_client
        from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings

        last = False
        while not last:
            last = self._closing.wait(EVERY)
            due = bool(self._artifacts) and (last or time.monotonic() - self._shown >= SHOW_EVERY)
            if not self._lines and not due:
                continue
            try:
                with (
                    temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}),
                    get_client(httpx_settings={"timeout": _REQUEST_TIMEOUT}, sync_client=True) as client,
                ):
                    self._send_lines(client)
                    if due:
                        self._send_artifacts(client)
            except Exception:  # noqa: BLE001, S110 (unsent items wait; no run may suffer from it)
                pass

    def _send_lines(self, client: "SyncPrefectClient") -> None:
        while True:
            with self._lock:
                batch = [self._lines[i] for i in range(min(_BATCH, len(self._lines)))]
            if not batch:
                return
            client.create_logs(batch)
            with self._lock:
                for line in batch:
                    if self._lines and self._lines[0] is line:
                        self._lines.popleft()

    def _send_artifacts(self, client: "SyncPrefectClient") -> None:
        from prefect.client.schemas.actions import ArtifactCreate, ArtifactUpdate

        self._shown = time.monotonic()
        with self._lock:
            waiting = list(self._artifacts.values())
        for artifact in waiting:
            content: dict[str, Any] = {"data": artifact.data, "description": artifact.description}
            if artifact.kind == "table":
                content["data"] = json.dumps(list(content["data"]), ensure_ascii=False)
            if artifact.key in self._known:
                client.update_artifact(self._known[artifact.key], ArtifactUpdate(**content))
            else:
                new = ArtifactCreate(key=artifact.key, type=artifact.kind, flow_run_id=self._flow_run, **content)
                self._known[artifact.key] = client.create_artifact(new).id
            with self._lock:
                if self._artifacts.get(artifact.key) is artifact:
                    del self._artifacts[artifact.key]


@contextmanager
def telling_the_server() -> Iterator[Outbox]:
    """Send the server of this flow run what the terminal shows, and its error if it fails."""
    from prefect.runtime import flow_run

    outbox = Outbox(UUID(flow_run.id) if somebody_listens() and flow_run.id else None)
    try:
        with terminal.heard_by(outbox.log):
            yield outbox
    except Exception as error:
        from prefect.settings import get_current_settings

        if not get_current_settings().logging.to_api.enabled:  # else Prefect itself logs the error
            outbox.log(logging.ERROR, described(error))
        raise
    finally:
        outbox.close()


def resource_id(store: Store) -> str:
    """Return the id by which events and deployments name a store."""
    return f"facetflow.store.{store.id}"


def emit_release(project: str, store: Store, release: Release) -> None:
    """Tell the configured server of a new release of a named project; without one nobody would listen."""
    if not somebody_listens():
        return
    from prefect.events import emit_event

    resource = {
        "prefect.resource.id": resource_id(store),
        "prefect.resource.name": project,
        "facetflow.store": store.location,
    }
    contents = {"versions": dict(release.versions), "rows": dict(release.rows)}
    emit_event(COMMITTED, resource, payload={"project": project, "release": release.number} | contents)
