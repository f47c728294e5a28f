"""`facetflow rejects`: the rejected rows, with what is needed to fix them."""

from pathlib import Path

import click

from flows.console.options import JSON, export_option, write_export


@click.command()
@click.option("--stage", help="Rejects of one stage: ingest, amr, metrics, …")
@click.option("--code", help="Rejects with one code, as listed by `facetflow status`.")
@export_option("Write all of them to a table: .tsv, .jsonl or .parquet; .csv for spreadsheets, with ' before formulas.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(min=0), help="How many to show.")
@JSON
@click.pass_obj
def rejects(
    project: Path, *, stage: str | None, code: str | None, export: Path | None, limit: int, as_json: bool
) -> None:
    """Show the rows that ingest and the stages could not process: file, line, code, text and what was wrong."""
    from features.ingest.rejected_rows import rejected_rows
    from features.store.store import Store
    from flows.project import load
    from flows.terminal import write_json

    settings = load(project)
    rows = rejected_rows(Store.open(settings.store), settings.corpora, settings.base, stage=stage, code=code)
    if export is not None:
        write_export(rows, export, "rejected rows")
    if as_json:
        write_json(rows.to_dicts())
        return
    if export is not None:
        return
    for row in rows.head(limit).iter_rows(named=True):
        where = f"{row['file']}:{row['line']}" if row["file"] else row["entity_id"]
        click.echo(f"{row['stage']} {row['code']} {where}: {row['message']}")
        if row["text"] is not None:
            click.echo("    " + " || ".join(text for text in (row["text"], row["other_text"]) if text is not None))
    if not rows.height:
        click.echo("No row was rejected.")
    elif rows.height > limit:
        click.echo(f"{rows.height - limit:,} more of {rows.height:,}: --export FILE writes all of them.")
