"""`facetflow down`: stop what `facetflow up` started."""

import click


@click.command()
def down() -> None:
    """Stop the server and the worker of `facetflow up`; running flows are ended, what they committed is kept."""
    from flows.server import services

    if services.stop():
        click.echo("Stopped. Schedules rest until `facetflow up` runs again.")
    else:
        click.echo("Nothing to stop: `facetflow up` is not running for this user.")
