"""What the flows announce, and the small records that say whether a server has received it.

    facetflow.features.committed    a release was published      releases/00003.announcement.json in the store
    facetflow.encoder.trained       an encoder is finished       runs/<id of the run>/announcement.json

Both carry the id of the store, by which the deployments of a project recognise their own events.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from features.core.errors import FacetflowError
from features.store.releases import Release
from features.store.store import Store
from flows.project import Project
from flows.server.announcing import Announcement, announce, is_pending, state_of
from flows.server.prefect_address import somebody_listens
from training.kinds import read_encoder_job
from training.runs import (
    ENCODER,
    TRAINING_FILE,
    TRAINING_JOB,
    all_runs,
    encoder_name,
    group_of,
    is_finished,
    newest,
    run_id,
)

COMMITTED = "facetflow.features.committed"
TRAINED = "facetflow.encoder.trained"


def resource_id(store: Store) -> str:
    """Return the id by which events name a store."""
    return f"facetflow.store.{store.id}"


def release_record(store: Store, number: int) -> Path:
    """Return the file that says whether a release was announced."""
    return store.storage.local(f"releases/{number:05d}.announcement.json")


def encoder_record(run: Path) -> Path:
    """Return the file that says whether the encoder of a run was announced."""
    return run / "announcement.json"


def announce_pending(project: Project, store: Store) -> str:
    """Announce every release and every finished encoder that no server has received yet.

    Args:
        project: the project.
        store: its store.

    Returns:
        Sentences for the user if an event could not be announced, and so stays pending; otherwise empty.
    """
    unreadable: list[str] = []
    try:
        for announcement in _pending(project, store, unreadable):
            announce(announcement, heard=somebody_listens())
    except FacetflowError as error:
        # The release or encoder exists: it must not count as failed because the server could not be reached.
        unreadable.append(f"{str(error).rstrip('.')}. The next build announces what no server has received.")
    return " ".join(unreadable)


def announced(project: Project, store: Store) -> Iterator[Announcement]:
    """Yield the sent announcements of the newest release and of the training of each encoder that was finished last."""
    last = max(store.releases(), key=lambda release: release.number, default=None)
    if last is None:
        return
    if state_of(release_record(store, last.number)) == "announced":
        yield _release(project, store, last)
    by_encoder: defaultdict[str, list[Path]] = defaultdict(list)
    for run in all_runs(project.runs):
        if is_finished(run):
            by_encoder[encoder_name(run)].append(run)
    for runs in by_encoder.values():
        # Of whichever release: a newer one that changes nothing for the encoder does not train it again.
        group = group_of(newest(runs))
        for run in runs:
            if group_of(run) == group and state_of(encoder_record(run)) == "announced":
                with suppress(FacetflowError):  # the job of another version
                    yield _encoder(project, store, run)


def _pending(project: Project, store: Store, unreadable: list[str]) -> Iterator[Announcement]:
    """Yield the releases and finished encoders that are not announced yet.

    Args:
        project: the project.
        store: its store.
        unreadable: gets a sentence for each encoder whose job cannot be read; the others are announced nevertheless.
    """
    for release in store.releases():
        if is_pending(release_record(store, release.number)):
            yield _release(project, store, release)
    for run in all_runs(project.runs):
        if is_finished(run) and is_pending(encoder_record(run)):
            try:
                announcement = _encoder(project, store, run)
            except FacetflowError as error:
                unreadable.append(
                    f"{str(error).rstrip('.')}. So the encoder in {str(run)!r} is not announced: train it again, or "
                    "delete the folder."
                )
            else:
                yield announcement


def _release(project: Project, store: Store, release: Release) -> Announcement:
    payload = {
        "project": project.name,
        "release": release.number,
        "versions": dict(release.versions),
        "rows": dict(release.rows),
    }
    record = release_record(store, release.number)
    # A release that was withdrawn and published again keeps its number, but not its run.
    return Announcement(record, COMMITTED, f"{release.number} of {release.run_id}", _resource(project, store), payload)


def _encoder(project: Project, store: Store, run: Path) -> Announcement:
    release = read_encoder_job(run / TRAINING_JOB).source.release
    name = run_id(project.runs, run)
    payload = {"project": project.name, "name": encoder_name(run), "run": name, "release": release}
    finished = (run / ENCODER / TRAINING_FILE).stat().st_mtime_ns  # a repeated training has another
    return Announcement(encoder_record(run), TRAINED, f"{name} at {finished}", _resource(project, store), payload)


def _resource(project: Project, store: Store) -> dict[str, str]:
    return {
        "prefect.resource.id": resource_id(store),
        "prefect.resource.name": project.name,
        "facetflow.store": store.location,
    }
