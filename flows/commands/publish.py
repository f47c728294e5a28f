"""`facetflow publish`: an encoder as a folder for a model hub."""

from pathlib import Path

import click

from features.core.faults import Conflict
from flows.console.options import encoder_option


@click.command()
@encoder_option(" the encoder in use")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write; must be new or empty.",
)
@click.option("--name", metavar="OWNER/NAME", help="Name on the Hub, for the examples of the card and for --push.")
@click.option("--push", is_flag=True, help="Upload the folder to the Hub, as the account of `hf auth login`.")
@click.option("--public", is_flag=True, help="Make the uploaded repository public; a new one is private by default.")
@click.pass_obj
def publish(project: Path, /, *, encoder: str | None, output: Path, name: str | None, push: bool, public: bool) -> None:
    """Write an encoder as a folder for a model hub: weights, facets, a card with the terms of its training data.

    Folders of this machine are left out. Nothing is uploaded unless --push asks for it.
    """
    from features.models.records import is_hub_name
    from flows.console.here import Here
    from flows.terminal import say
    from training.publishing import CARD, upload, write_folder
    from training.search.choosing import choose_encoder

    if name is not None and not is_hub_name(name):
        raise Conflict(f"--name {name!r} is no name on the Hub: it has the form owner/name.")
    if (push and name is None) or (public and not push):
        raise Conflict("--push needs --name." if push else "--public needs --push: nothing is uploaded without it.")
    here = Here.read(project)
    chosen = choose_encoder(here.runs, encoder, None, among=here.encoders)
    here.use(chosen.folder, encoder)
    size = write_folder(chosen.folder, output, name)
    say(f"Wrote {chosen.name} to {output} ({size / 1e6:.1f} MB). Read {CARD} before you give it to others.")
    if "Not evaluated yet." in (output / CARD).read_text(encoding="utf-8"):
        say("Its card has no scores yet: `facetflow evaluate` writes them, then publish again.")
    if push and name is not None:
        say(f"Uploaded to {upload(output, name, public=public)}")
