"""`facetflow status`: what the store holds, and how the last builds ended."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # commands import what they need when they run
    from features.store.store import Store


@click.command()
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=0), help="How many runs to show.")
@click.pass_obj
def status(project: Path, runs: int) -> None:
    """Show tables, rejects, releases and runs of the project's store."""
    from features.store.schemas import TABLES
    from features.store.store import Store
    from flows.project import load

    store = Store.open(load(project).store)
    click.echo(f"Store {store.path}")
    for table in TABLES:
        if table == "rejects":
            continue
        shards = store.committed(table).values()
        size = sum(shard.bytes for shard in shards) / 1e6
        click.echo(
            f"  {table:<14}{len(shards):>6} shards {sum(shard.rows for shard in shards):>12,} rows {size:>10.1f} MB"
        )
    _show_rejects(store)
    releases = store.releases()
    click.echo("No release yet." if not releases else "Releases")
    for release in releases[-3:]:
        click.echo(f"  {release.number} of {release.created}, by run {release.run_id}")
    records = store.runs()[:runs]
    click.echo("Runs" if records else "No run yet.")
    for record in records:
        click.echo(f"  {record.run_id} {record.state}: {record.message or 'still running, or killed'}")
    for shard in records[0].failed if records else ():
        click.echo(f"  failed: {shard.stage} {shard.shard}: {shard.error.partition(chr(10))[0]}")


def _show_rejects(store: "Store") -> None:
    counts = store.read("rejects", columns=["stage", "code"]).group_by("stage", "code").len().sort("stage", "code")
    for stage, code, count in counts.iter_rows():
        click.echo(f"  {count:,} rejected by {stage}: {code}")
