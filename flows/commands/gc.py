"""`facetflow gc`: delete files that no release of the store needs."""

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
    """Delete files of the store that neither its newest versions nor any release needs."""
    from features.store.store import Store
    from flows.build_lock import only_writer
    from flows.clean_up import clean_up
    from flows.project import load
    from flows.terminal import write_json

    settings = load(project)
    store = Store.open(settings.store)
    store.check_owner(settings.name)
    if dry_run:
        garbage = store.collect_garbage(older_than, dry_run=True)
    else:
        with only_writer(store):
            clean_up(settings, store)
            garbage = store.collect_garbage(older_than)
    if as_json:
        write_json({"files": list(garbage.files), "bytes": garbage.bytes, "deleted": not dry_run})
        return
    for file in garbage.files if dry_run else ():
        click.echo(file)
    done = "Would delete" if dry_run else "Deleted"
    click.echo(f"{done} {len(garbage.files)} files, {garbage.bytes / 1e6:.1f} MB.")
