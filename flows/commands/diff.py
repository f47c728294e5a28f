"""`facetflow diff`: the differences between two releases of the store."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from features.core.faults import NoRelease
from flows.console.one_shot import check_page, say_written
from flows.console.options import JSON, page_option

if TYPE_CHECKING:  # commands import what they need when they run
    from features.store.differences import ReleaseDifference


@click.command()
@click.argument("old", type=click.IntRange(min=1), required=False)
@click.argument("new", type=click.IntRange(min=1), required=False)
@page_option(", with the distributions drawn")
@JSON
@click.pass_obj
def diff(project: Path, old: int | None, new: int | None, *, html: Path | None, as_json: bool) -> None:
    """Show how release NEW differs from release OLD; by default, the newest from the one before.

    Reports rows added, lost and changed; rejected rows by code; recipes, part by part; and how the distribution of each
    metric moved.
    """
    from features.core.outputs import write_text
    from features.store.differences import compare_releases
    from features.store.store import Store
    from flows.project import load
    from flows.terminal import write_json

    check_page(html, as_json=as_json)
    settings = load(project)
    store = Store.open(settings.store)
    numbers = _numbers([release.number for release in store.releases()], old, new)
    releases = [store.release(number) for number in numbers]
    difference = compare_releases(store, *releases)
    if html is not None:
        from flows.pages.difference import render_difference

        write_text(html, [render_difference(difference, settings.name, *(release.created for release in releases))])
        say_written(f"the comparison of releases {difference.old} and {difference.new}", html)
    if as_json:
        write_json(difference.as_json())
    elif html is not None:
        pass
    elif difference.none:
        click.echo(f"Releases {difference.old} and {difference.new} have the same rows, rejects and recipes.")
    else:
        _print(difference)


def _numbers(releases: list[int], old: int | None, new: int | None) -> tuple[int, int]:
    """Return the numbers of the releases to compare."""
    if old is not None and new is not None:
        return old, new
    last = releases[-1:] if old is not None else releases[-2:]
    if old is not None and last:
        return old, last[0]
    if len(last) == 2:
        return last[0], last[1]
    there = f"only release {releases[0]}" if releases else "no release yet"
    raise NoRelease(f"There is {there}, so nothing can be compared: build again after a change.")


def _print(difference: "ReleaseDifference") -> None:
    from flows.console.tables import print_tables
    from flows.pages.difference import difference_tables, drift_table

    click.echo(f"Release {difference.new} compared with release {difference.old}")
    for change in difference.recipes:
        click.echo(f"  recipe of {change}")
    print_tables([*difference_tables(difference), *([drift_table(difference.drift)] if difference.drift else [])])
