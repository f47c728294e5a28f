"""`facetflow status`, `rejects`, `diff`: what the store holds, which rows it lacks, and how its releases differ."""

from collections.abc import Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.errors import FacetflowError, StoreError
from features.core.faults import NoRelease
from features.core.outputs import check_output, write_text
from features.core.types import Shard
from features.core.wording import clipped, counted
from flows.console.one_shot import check_page, say_written
from flows.console.options import JSON, export_option, page_option, write_export
from flows.console.tables import print_tables
from flows.terminal import write_json

if TYPE_CHECKING:  # commands import what they need when they run
    from features.store.runs import RunRecord
    from features.store.store import Store
    from flows.project import Project
    from training.evaluation.promotion import GoneRun


@click.command()
@click.option("--runs", default=5, type=click.IntRange(min=0), help="How many runs to show.")
@JSON
@click.pass_obj
def status(project: Path, runs: int, *, as_json: bool) -> None:
    """Show tables, rejects, releases and runs of the project's store, its current encoder, and what runs by itself."""
    from features.store.store import Store
    from flows.pages.build_facts import newest_page
    from flows.project import load
    from flows.server.up_record import describe, running
    from flows.stages import wanted_shards
    from flows.trainings.finished_runs import shortfalls
    from training.evaluation.promotion import current_runs, gone_runs
    from training.runs import run_id

    settings = load(project)
    current, service, page = current_runs(settings.runs), running(), newest_page(settings)
    gone, lacking = gone_runs(settings.runs), shortfalls(settings)
    store = Store.open(settings.store)
    try:
        wanted = wanted_shards(settings, store) if settings.corpora else None
    except FacetflowError:  # a damaged file of the store or of the project: a build says what is wrong
        wanted = None
    contents = _store_contents(store, wanted, runs) | {
        "current_encoders": {name: str(run) for name, run in current.items()},
        "gone_encoders": {name: run.run for name, run in gone.items()},
        "shortfalls": [asdict(lack) for lack in lacking],
        "page": str(page) if page is not None else None,
        "service": asdict(service) if service is not None else None,
    }
    if as_json:
        write_json(contents)
        return
    _show_store(contents, runs)
    if page is not None:
        click.echo(f"Page of the newest build: {page}")
    names = {encoder.name for encoder in settings.encoders}
    for name, run in current.items():
        unknown = "" if name in names else " (not in the project file)"
        click.echo(f"Current encoder {name}: {run_id(settings.runs.resolve(), run)}{unknown}")
    for name, lost in gone.items():
        click.echo(f"Current encoder {name}: {lost.run} is gone; {_instead(settings, name, lost)}")
    for lack in lacking:
        click.echo(str(lack))
    click.echo(describe(service, project))


def _show_store(contents: Mapping[str, Any], runs: int) -> None:
    from features.store.unproven import tell_unproven

    owner = f" of project {contents['project']!r}" if contents["project"] else ""
    click.echo(f"Store {contents['store']}{owner}")
    for table in contents["tables"]:
        if not table["shards"] and not table["wanted"]:
            continue  # of other kinds of encoders
        size = table["bytes"] / 1e6
        wanted = "" if table["wanted"] is None else f", {table['wanted']} wanted"
        wanted += f", {table['missing']} to make" if table["missing"] else ""
        shards, rows = counted(table["shards"], "shard"), counted(table["rows"], "row")
        click.echo(f"  {table['table']:<14}{shards:>13} {rows:>17} {size:>10.1f} MB{wanted}")
        for corpus, number in table["corpora"].items():
            click.echo(f"    {corpus:<25} {counted(number, 'row'):>17}")
    for rejects in contents["rejects"]:
        click.echo(f"  {rejects['rows']:,} rejected by {rejects['stage']}: {rejects['code']}")
    if contents["rejects"]:
        click.echo("  (see them with `facetflow rejects`)")
    if contents["unproven"]:
        click.echo(f"  {tell_unproven(contents['unproven'])}")
    click.echo(f"Releases ({len(contents['releases'])} in all)" if contents["releases"] else "No release yet.")
    for release in contents["releases"][-3:]:
        click.echo(f"  {release['number']} of {release['created']}, by run {release['run_id']}")
    if runs:
        click.echo("Runs" if contents["runs"] else "No run yet.")
    for run in contents["runs"]:
        click.echo(f"  {run['run_id']} {run['state']}: {run['message']}")
    for shard in contents["runs"][0]["failed"] if contents["runs"] else ():
        click.echo(f"  failed: {shard['stage']} {shard['shard']}: {shard['error'].partition(chr(10))[0]}")


def _instead(settings: "Project", name: str, gone: "GoneRun") -> str:
    from training.runs import finished_encoders

    if name in finished_encoders(settings.runs):
        return f"restore its folder, or promote another run: `facetflow evaluate {name} --promote`"
    if any(encoder.name == name for encoder in settings.encoders):
        return f"restore its folder, or train the encoder again: `facetflow train {name}`"
    return f"the project file no longer has this encoder, so delete the link {str(gone.link)!r}"


def _store_contents(store: "Store", wanted: Mapping[str, Collection[Shard]] | None, runs: int) -> dict[str, Any]:
    from features.stages.registry import SOURCES, TABLES
    from features.store.unproven import unproven_pairs

    committed = {table: store.committed(table) for table in TABLES if table != "rejects"}
    stages = [table for table in committed if table not in SOURCES]
    asked = {} if wanted is None else {table: frozenset(wanted.get(table, ())) for table in stages}
    rejects = store.read("rejects", columns=["stage", "code"]).group_by("stage", "code").len("rows")
    return {
        "store": store.location,
        "project": store.project,
        "tables": [
            {
                "table": table,
                "shards": len(shards),
                "rows": sum(shard.rows for shard in shards.values()),
                "bytes": sum(shard.bytes for shard in shards.values()),
                "corpora": _by_corpus(store, table),
                "wanted": len(asked[table]) if table in asked else None,
                "missing": len(asked[table] - shards.keys()) if table in asked else None,
            }
            for table, shards in committed.items()
        ],
        "rejects": rejects.sort("stage", "code").to_dicts(),
        "unproven": unproven_pairs(store),
        "releases": [asdict(release) for release in store.releases()],
        "runs": [_run_entry(store, record) for record in store.runs()[:runs]],
    }


def _by_corpus(store: "Store", table: str) -> dict[str, int]:
    """Return corpus → its rows, for the tables of pairs and of labels; empty where a file is damaged."""
    if table not in {"pairs", "labels"}:
        return {}
    try:
        return dict(store.read(table, columns=["corpus"]).group_by("corpus").len().sort("corpus").iter_rows())
    except StoreError:
        return {}  # `verify` and the next build name the file


def _run_entry(store: "Store", record: "RunRecord") -> dict[str, Any]:
    from flows.building.store_access import fate

    if record.state != "running":
        return asdict(record)
    state = fate(store, record)
    where = f"process {record.process}" if record.process else "its process"
    message = {
        "running": f"since {record.started}, {where}",
        "silent": f"{where} has shown no sign of life for a minute; if it is gone, build again, else check on it",
        "ended": f"{where} could not record how it ended, as on a full disk; what was committed is kept, and "
        "the next build continues from there",
        "killed": f"{where} no longer builds; what was committed is kept, and the next build continues from there",
    }[state]
    return asdict(record) | {"state": state, "message": message}


@click.command()
@click.option("--stage", help="Rejects of one stage: ingest, amr, metrics, …")
@click.option("--code", help="Rejects with one code, as listed by `facetflow status`.")
@export_option("Write all to a table: .tsv, .jsonl or .parquet; .csv for spreadsheets, with ' before formulas.")
@click.option("--limit", default=20, type=click.IntRange(min=0), help="How many to show.")
@JSON
@click.pass_obj
def rejects(
    project: Path, *, stage: str | None, code: str | None, export: Path | None, limit: int, as_json: bool
) -> None:
    """Show the rows that could not be processed: file, line, code, text and what was wrong."""
    from features.ingest.rejected_rows import corpus_files, rejected_rows
    from features.store.store import Store
    from flows.project import load

    settings = load(project)
    if export is not None:
        check_output(export, *corpus_files(settings.corpora, settings.base).values())
    rows = rejected_rows(Store.open(settings.store), settings.corpora, settings.base, stage=stage, code=code)
    if export is not None:
        write_export(rows, export, "rejected row")
    if as_json:
        write_json(rows.to_dicts())
    if as_json or export is not None:
        return
    for row in rows.head(min(limit, rows.height)).iter_rows(named=True):
        where = f"{row['file']}:{row['line']}" if row["file"] else row["entity_id"]
        click.echo(f"{row['stage']} {row['code']} {where}: {clipped(row['message'])}")
        if row["text"] is not None:
            texts = (clipped(text) for text in (row["text"], row["other_text"]) if text is not None)
            click.echo("    " + " || ".join(texts))
    if not rows.height:
        click.echo("No row was rejected.")
    elif rows.height > limit:
        click.echo(f"{rows.height - limit:,} more of {rows.height:,}: --export FILE writes all of them.")


@click.command()
@click.argument("old", type=click.IntRange(min=1), required=False)
@click.argument("new", type=click.IntRange(min=1), required=False)
@page_option(", with the distributions drawn")
@JSON
@click.pass_obj
def diff(project: Path, old: int | None, new: int | None, *, html: Path | None, as_json: bool) -> None:
    """Show how release NEW differs from release OLD; by default, the newest from the one before.

    Reports rows added, lost and changed; rejects by code; recipes, part by part; and how the distribution of each
    metric moved.
    """
    from features.store.differences import compare_releases
    from features.store.store import Store
    from flows.pages.difference import difference_tables, drift_table, render_difference
    from flows.project import load

    check_page(html, as_json=as_json)
    settings = load(project)
    store = Store.open(settings.store)
    numbers = _compared_releases([release.number for release in store.releases()], old, new)
    releases = [store.release(number) for number in numbers]
    difference = compare_releases(store, *releases)
    if html is not None:
        write_text(html, [render_difference(difference, settings.name, *(release.created for release in releases))])
        say_written(f"the comparison of releases {difference.old} and {difference.new}", html)
    if as_json:
        write_json(difference.as_json())
    if as_json or html is not None:
        return
    if difference.none:
        click.echo(f"Releases {difference.old} and {difference.new} have the same rows, rejects and recipes.")
        return
    click.echo(f"Release {difference.new} compared with release {difference.old}")
    for change in difference.recipes:
        click.echo(f"  recipe of {change}")
    print_tables([*difference_tables(difference), *([drift_table(difference.drift)] if difference.drift else [])])


def _compared_releases(releases: list[int], old: int | None, new: int | None) -> tuple[int, int]:
    if old is None and len(releases) > 1:
        old = releases[-2]
    if new is None and releases:
        new = releases[-1]
    if old is not None and new is not None:
        return old, new
    there = f"only release {releases[0]}" if releases else "no release yet"
    raise NoRelease(f"There is {there}, so nothing can be compared: build again after a change.")
