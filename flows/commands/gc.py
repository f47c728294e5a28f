"""`facetflow gc`: delete files that no release of the store needs, pages and logs of old builds, and old trainings."""

import re
from datetime import timedelta
from pathlib import Path

import click

from flows.options import JSON

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class Age(click.ParamType[timedelta]):
    """An age such as 12h or 7d."""

    name = "age"

    def convert(self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the age as a time span."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"(\d+)([mhdw])", value)
        if found is None:
            self.fail(f"{value!r} is not an age: write a number and m, h, d or w, such as 7d", param, ctx)
        return timedelta(**{_UNITS[found[2]]: int(found[1])})


@click.command()
@click.option("--older-than", default="7d", show_default=True, type=Age(), help="Keep what is younger (12h, 7d).")
@click.option(
    "--runs", "of_runs", is_flag=True, help="Also delete trainings that newer ones have replaced, with their reports."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@JSON
@click.pass_obj
def gc(project: Path, older_than: timedelta, *, of_runs: bool, dry_run: bool, as_json: bool) -> None:
    """Delete files that no release needs, and pages and logs of old builds.

    Deletes files of the store that neither its newest versions nor any release needs, and folders in runs/builds of
    builds that published no release, but never that of the newest build or of a running one. With --runs, deletes whole
    trainings (weights, scores, reports), but never the newest of an encoder, the one of its current run, a running one,
    or one that the project file names.
    """
    from features.store.store import Store
    from flows.build_lock import only_writer
    from flows.clean_up import clean_up
    from flows.old_builds import find_old_builds
    from flows.old_folders import OldFolder, remove
    from flows.old_runs import find_old_runs
    from flows.project import load
    from flows.terminal import write_json

    settings = load(project)
    store = Store.open(settings.store)
    store.check_owner(settings.name)

    def find() -> tuple[list[OldFolder], list[OldFolder]]:
        return find_old_builds(settings, store, older_than), find_old_runs(settings, older_than) if of_runs else []

    if dry_run:
        garbage = store.collect_garbage(older_than, dry_run=True)
        builds, runs = find()
    else:
        with only_writer(store):
            clean_up(settings, store)
            garbage = store.collect_garbage(older_than)
            builds, runs = find()
            remove(builds, "the page and the logs of a build")
            remove(runs, "an old training")
    size = garbage.bytes + sum(old.bytes for old in (*builds, *runs))
    if as_json:
        folders = {name: [str(old.path) for old in found] for name, found in (("builds", builds), ("runs", runs))}
        write_json({"files": list(garbage.files), **folders, "bytes": size, "deleted": not dry_run})
        return
    for path in (*garbage.files, *(old.path for old in (*builds, *runs))) if dry_run else ():
        click.echo(path)
    done = "Would delete" if dry_run else "Deleted"
    parts = [
        f"{len(garbage.files)} file{'s' * (len(garbage.files) != 1)} of the store",
        "the page and logs of 1 build" if len(builds) == 1 else f"the pages and logs of {len(builds)} builds",
        *([f"{len(runs)} training{'s' * (len(runs) != 1)}"] if of_runs else []),
    ]
    click.echo(f"{done} {', '.join(parts[:-1])} and {parts[-1]}, {size / 1e6:.1f} MB.")
