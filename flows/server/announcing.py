"""Announcements: events delivered to a Prefect server exactly once.

    intend ──> the release is written ──> announce: sent, seen on the server ──> "announced"
      │                                       └── the server is away or we are killed: still "pending", the next
      └── a small record next to the release      build announces it

The id of an event is derived from its content, so that the server can be asked for it before it is sent: after a kill
between the two it is not sent twice. Flows that a server should have started for an event and did not are found by
`flows.server.unanswered_events`.
"""

import fcntl
import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from features.core.durable import write_whole
from features.core.file_errors import clear_errors
from flows.server.prefect_address import server_does

State = Literal["pending", "announced", "unheard"]
"""`unheard`: it happened while no server was configured that could have started anything."""
CONFIRM_TIMEOUT = 30.0
"""Seconds within which a server must show an event; one with Prefect's default settings writes them every 5 s."""
_POLL = 0.2


@dataclass(frozen=True, slots=True)
class Announcement:
    """One thing to announce.

    Args:
        record: the file that says whether it has been announced; `intend` makes it.
        event: name of the event.
        key: what happened; unique among events of this name about this resource.
        resource: labels of what the event is about; `prefect.resource.id` is what triggers match.
        payload: what triggers pass on.
    """

    record: Path
    event: str
    key: str
    resource: Mapping[str, str]
    payload: Mapping[str, Any]

    @property
    def id(self) -> uuid.UUID:
        """The id of the event, the same whenever and wherever it is announced."""
        return uuid.uuid5(uuid.NAMESPACE_OID, "\n".join((self.event, self.resource["prefect.resource.id"], self.key)))


def intend(record: Path) -> None:
    """Record that something is about to happen that has to be announced.

    A record in another state belongs to something that is gone: a release or an encoder that was deleted and is being
    made again under its name.
    """
    if not is_pending(record):
        _write(record, "pending")


def withdraw(record: Path) -> None:
    """Remove the record of `intend`: it did not happen."""
    with clear_errors(f"Removing {str(record)!r}"):
        record.unlink(missing_ok=True)


def state_of(record: Path) -> State | None:
    """Return the state in a record; None if there is no record."""
    try:
        state = json.loads(record.read_text(encoding="utf-8"))["state"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        return "pending"  # a damaged record: the server knows whether it has the event
    return state if state in get_args(State) else "pending"


def is_pending(record: Path) -> bool:
    """Return whether an announcement is due; what was never intended is not announced."""
    return state_of(record) == "pending"


def announce(announcement: Announcement, *, heard: bool) -> bool:
    """Make sure that the server has the event, and record it; do nothing if that is already recorded.

    Args:
        announcement: what to announce.
        heard: whether there is a server that outlives this process; without one it is recorded as `unheard`.

    Returns:
        Whether the event was sent now.

    Raises:
        RunError: the server did not confirm the event; it stays pending.
        StoreError: the record cannot be written.
    """
    if not is_pending(announcement.record):
        return False
    with _alone(announcement.record):
        if not is_pending(announcement.record):
            return False
        if not heard:
            _write(announcement.record, "unheard")
            return False
        sent = _send(announcement)
        _write(announcement.record, "announced", event=str(announcement.id))
        return sent


def _send(announcement: Announcement) -> bool:
    """Send the event unless the server has it; return when the server shows it."""
    from prefect.client.orchestration import get_client
    from prefect.events import Event, Resource

    event = Event(
        id=announcement.id,
        event=announcement.event,
        resource=Resource(dict(announcement.resource)),
        payload=dict(announcement.payload),
    )
    with server_does(f"confirm the event {event.event!r}"), get_client(sync_client=True) as client:
        if _shown_by(client, announcement.id):
            return False
        client.request("POST", "/events", json=[event.model_dump(mode="json")]).raise_for_status()
        deadline = time.monotonic() + CONFIRM_TIMEOUT
        while not _shown_by(client, announcement.id):
            if time.monotonic() > deadline:
                raise TimeoutError(f"it was not shown within {CONFIRM_TIMEOUT:.0f} s")
            time.sleep(_POLL)
        return True


def _shown_by(client: Any, identity: uuid.UUID) -> bool:
    from prefect.events.filters import EventFilter, EventIDFilter

    return bool(client.read_events(EventFilter(id=EventIDFilter(id=[identity])), limit=1).events)


@contextmanager
def _alone(record: Path) -> Iterator[None]:
    """Let one process at a time announce the records of a folder."""
    path = record.parent / ".announcing.lock"
    with clear_errors(f"Locking {str(path)!r}"):
        lock = path.open("a")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(record: Path, state: State, **more: str) -> None:
    content = {"state": state, "at": datetime.now(UTC).isoformat(timespec="seconds"), **more}
    with clear_errors(f"Writing {str(record)!r}"):
        record.parent.mkdir(parents=True, exist_ok=True)
        write_whole(record.parent, record.name, (json.dumps(content) + "\n").encode())
