"""`facetflow gc`: delete files that no release of the store needs, and the pages and logs of old builds."""

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
            self.fail(f"{value!r} is no age: write a number and m, h, d or w, such as 7d", param, ctx)
        return timedelta(**{_UNITS[found[2]]: int(found[1])})


@click.command()
@click.option("--older-than", default="7d", show_default=True, type=Age(), help="Spare what is younger (12h, 7d).")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@JSON
@click.pass_obj
def gc(project: Path, older_than: timedelta, *, dry_run: bool, as_json: bool) -> None:
    """Delete files that no release needs, and pages and logs of old builds.

    Of the store go files that neither its newest versions nor any release needs; of runs/builds the folders of builds
    that published no release, but never that of the newest build or of one that runs.
    """
    from features.store.store import Store
    from flows.build_lock import only_writer
    from flows.clean_up import clean_up
    from flows.old_builds import find_old_builds, remove_builds
    from flows.project import load
    from flows.terminal import write_json

    settings = load(project)
    store = Store.open(settings.store)
    store.check_owner(settings.name)
    if dry_run:
        garbage = store.collect_garbage(older_than, dry_run=True)
        builds = find_old_builds(settings, store, older_than)
    else:
        with only_writer(store):
            clean_up(settings, store)
            garbage = store.collect_garbage(older_than)
            builds = find_old_builds(settings, store, older_than)
            remove_builds(builds)
    size = garbage.bytes + sum(build.bytes for build in builds)
    if as_json:
        folders = [str(build.path) for build in builds]
        write_json({"files": list(garbage.files), "builds": folders, "bytes": size, "deleted": not dry_run})
        return
    for path in (*garbage.files, *(build.path for build in builds)) if dry_run else ():
        click.echo(path)
    done = "Would delete" if dry_run else "Deleted"
    files = f"{len(garbage.files)} file{'s' * (len(garbage.files) != 1)} of the store"
    of_builds = "the page and logs of 1 build" if len(builds) == 1 else f"the pages and logs of {len(builds)} builds"
    click.echo(f"{done} {files} and {of_builds}, {size / 1e6:.1f} MB.")
