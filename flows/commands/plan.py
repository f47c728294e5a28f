"""`facetflow plan`: what a build would do, and why."""

from pathlib import Path

import click


@click.command()
@click.option("--explain", is_flag=True, help="Say for each stage why its shards have to be made.")
@click.pass_obj
def plan(project: Path, *, explain: bool) -> None:
    """Show how many shards of each stage a build would make; nothing is parsed, measured or committed."""
    from features.store.plan import plan as make_plan
    from features.store.runs import failed_shards
    from features.store.store import Store
    from flows.ingest_corpora import read_corpora, told
    from flows.project import load
    from flows.stages import chain

    settings = load(project)
    # A store that does not exist is planned as an empty one, and made on the way: it holds nothing yet.
    store = Store.open(settings.store, create=True)
    ingested = read_corpora(settings, store)
    click.echo(told(ingested.report))
    stages = chain(settings, store)
    planned = make_plan(store, stages.stages, failed=failed_shards(store.runs()))
    new = {"sentences": len(ingested.sentences), "pairs": len(ingested.pairs)}
    for stage, line in zip(stages.stages, planned.explain(), strict=True):
        text = line if explain else line.partition(" to do:")[0] + (" to do" if " to do:" in line else "")
        more = f"; {new[stage.over]} more for the new rows" if new[stage.over] else ""
        click.echo(f"{text}{more}")
