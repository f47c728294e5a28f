"""`facetflow verify`: check that the files of the store are intact."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flows.console.options import DEEP, JSON

if TYPE_CHECKING:  # commands import what they need when they run
    from features.store.damage import Damage, Verification


@click.command()
@DEEP
@JSON
@click.pass_obj
def verify(project: Path, *, deep: bool, as_json: bool) -> None:
    """Check the files that the newest tables and all releases need; nothing is written.

    Compares sizes, and reads the files whose modification time is later than their commit. The exit code is 1 when
    something is damaged.
    """
    from features.core.faults import DamageFound
    from features.store.store import Store
    from flows.project import load
    from flows.terminal import write_json

    verification = Store.open(load(project).store).verify(deep=deep)
    if as_json:
        write_json(
            {
                "files": verification.files,
                "bytes": verification.bytes,
                "deep": deep,
                "damaged": [asdict(damage) | {"file": damage.file} for damage in verification.damaged],
                "broken": list(verification.broken),
                "releases_hurt": list(verification.hurt),
            }
        )
    else:
        for damage in verification.damaged:
            click.echo(f"damaged: {damage}{_needed(damage)}")
        for sentence in verification.broken:
            click.echo(sentence)
    checked = f"{verification.files:,} files, {verification.bytes / 1e6:.1f} MB"
    if verification.damaged or verification.broken:
        raise DamageFound(_what_to_do(verification, checked, deep=deep))
    if not as_json:
        how = "every byte is as it was written" if deep else "sizes and times are right; --deep reads every byte"
        click.echo(f"Checked {checked}: {how}.")


def _needed(damage: "Damage") -> str:
    """Return which releases need a damaged file, and whether a build can restore it."""
    releases = ", ".join(map(str, damage.releases))
    if not damage.current:
        return f"; only release {releases} needs it, and no build can make it again: restore it from a copy"
    return f"; release {releases} needs it" if releases else ""


def _what_to_do(verification: "Verification", checked: str, *, deep: bool) -> str:
    parts = []
    if verification.damaged:
        count = "1 file is" if len(verification.damaged) == 1 else f"{len(verification.damaged)} files are"
        parts.append(f"{count} damaged, of {checked}")
    if any(damage.current for damage in verification.damaged):
        parts.append(f"`facetflow build{' --deep' if deep else ''}` rebuilds what can be rebuilt")
    if verification.broken:
        logs = "1 log does" if len(verification.broken) == 1 else f"{len(verification.broken)} logs do"
        parts.append(f"{logs} not hold what was written")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
