"""`facetflow gc` and `verify`: delete what a project no longer needs, and check that the rest is intact."""

import re
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from features.core.faults import DamageFound
from features.core.wording import counted
from flows.console.options import DEEP, JSON
from flows.terminal import write_json

if TYPE_CHECKING:  # commands import what they need when they run
    from features.store.damage import Damage, Verification

_MOST = timedelta(days=36500)
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def age(given: str) -> timedelta:
    """Return an age such as 12h or 7d as a time span."""
    match = re.fullmatch(r"(\d+)([mhdw])", given)
    if match is None:
        raise click.BadParameter(f"{given!r} is not an age: write a number and m, h, d or w, such as 7d")
    count, unit = int(match[1]), _UNITS[match[2]]
    if count > _MOST / unit:
        raise click.BadParameter(f"{given!r} is more than {_MOST.days:,} days, longer than anything has been kept")
    return count * unit


@click.command()
@click.option("--older-than", default="7d", type=age, help="Keep what is younger (12h, 7d).")
@click.option("--runs", is_flag=True, help="Also delete trainings that newer ones have replaced, with their reports.")
@click.option("--releases", is_flag=True, help="Also delete releases that no training reads.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@JSON
@click.pass_obj
def gc(project: Path, older_than: timedelta, *, runs: bool, releases: bool, dry_run: bool, as_json: bool) -> None:
    """Delete files that no release needs, and pages, logs and records of old builds.

    Keeps the newest versions, the newest build, a running one, and those of the releases that are kept. --runs keeps an
    encoder's newest training, that of its current run, a running one, and those that the project file names. --releases
    keeps the newest, and those that the project's trainings read; do not use it if other projects train on the store.
    """
    from flows.building.store_access import only_writer, own_store
    from flows.project import load
    from flows.retention import Extent, clean_up, delete_obsolete, find_obsolete, in_words

    settings = load(project)
    store = own_store(settings)
    extent = Extent(older_than, trainings=runs, releases=releases)
    if dry_run:
        obsolete = find_obsolete(settings, store, extent)
    else:
        with only_writer(store):
            clean_up(settings, store)
            obsolete = delete_obsolete(settings, store, extent)
    if as_json:
        write_json(
            {
                "files": list(obsolete.garbage.files),
                "releases": list(obsolete.releases),
                "records": list(obsolete.records),
                "builds": [str(folder) for folder in obsolete.builds],
                "runs": [str(folder) for folder in obsolete.trainings],
                "bytes": obsolete.bytes,
                "deleted": not dry_run,
            }
        )
        return
    for path in obsolete.paths() if dry_run else ():
        click.echo(path)
    click.echo(f"{'Would delete' if dry_run else 'Deleted'} {in_words(obsolete, extent)}.")


@click.command()
@DEEP
@JSON
@click.pass_obj
def verify(project: Path, *, deep: bool, as_json: bool) -> None:
    """Check the files that the newest tables and all releases need; nothing is written.

    Compares sizes, and reads the files that were modified after their commit. The exit code is 1 when something is
    damaged.
    """
    from features.store.store import Store
    from flows.project import load

    verification = Store.open(load(project).store).verify(deep=deep)
    if as_json:
        damaged = [asdict(damage) | {"file": damage.file} for damage in verification.damaged]
        write_json(asdict(verification) | {"deep": deep, "damaged": damaged, "releases_hurt": verification.hurt})
    else:
        for damage in verification.damaged:
            click.echo(f"damaged: {damage}{_needed(damage)}")
        for sentence in verification.broken:
            click.echo(sentence)
    checked = f"{verification.files:,} files, {verification.bytes / 1e6:.1f} MB"
    if verification.damaged or verification.broken:
        raise DamageFound(_what_to_do(verification, checked, deep=deep))
    if not as_json:
        how = "every byte is as it was written" if deep else "no damage by size and time; --deep reads every byte"
        click.echo(f"Checked {checked}: {how}.")


def _needed(damage: "Damage") -> str:
    """Return which releases need a damaged file, and whether a build can restore it."""
    several, releases = len(damage.releases) > 1, ", ".join(map(str, damage.releases))
    needed = f"release{'s' * several} {releases} need{'s' * (not several)} it"
    if not damage.current:
        return f"; only {needed}, and no build can make it again: restore it from a copy"
    return f"; {needed}" if releases else ""


def _what_to_do(verification: "Verification", checked: str, *, deep: bool) -> str:
    parts = []
    if verification.damaged:
        files = len(verification.damaged)
        parts.append(f"{counted(files, 'file')} {'is' if files == 1 else 'are'} damaged, of {checked}")
    if any(damage.current for damage in verification.damaged):
        parts.append(f"`facetflow build{' --deep' if deep else ''}` rebuilds what can be rebuilt")
    if verification.broken:
        logs = len(verification.broken)
        parts.append(f"{counted(logs, 'log')} {'does' if logs == 1 else 'do'} not hold what was written")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
