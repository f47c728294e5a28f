"""`facetflow plan`: what a refresh would do, and why."""

from pathlib import Path

import click

from flows.console.options import DEEP, JSON


@click.command()
@click.option("--explain", is_flag=True, help="Show for each stage why its shards have to be made.")
@DEEP
@JSON
@click.pass_obj
def plan(project: Path, *, explain: bool, deep: bool, as_json: bool) -> None:
    """Show what a refresh would do: shards of each stage, the release, trainings and evaluations; nothing is written.

    The exit code is 0 also when it says that nothing would be published.
    """
    from flows.building.ingest_corpora import in_words, warnings
    from flows.building.planning import look_ahead
    from flows.project import load
    from flows.terminal import warn, write_json

    settings = load(project)
    outlook = look_ahead(settings, deep=deep)
    for sentence in (*warnings(outlook.ingest, drops=settings.leakage.mode == "drop"), *outlook.pointless):
        warn(sentence)
    if as_json:
        write_json(outlook.as_json())
        return
    for sentence in in_words(settings, outlook.ingest, outlook.labels):
        click.echo(sentence)
    for damage in outlook.damaged:
        click.echo(f"damaged: {damage}")
    if not outlook.plan.stages:
        click.echo("There is nothing to parse or measure: no encoder reads a stage, and none has `enabled = true`.")
    for line in outlook.plan.explain():
        click.echo(line if explain else line.partition(" to do:")[0] + (" to do" if " to do:" in line else ""))
    for sentence in (*outlook.obstacles, *outlook.following()):
        click.echo(sentence)
