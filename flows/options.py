"""Arguments that several commands take."""

from pathlib import Path

import click

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

FIRST = click.argument("first", type=FILE)
SECOND = click.argument("second", type=FILE)
TAGGER = click.option(
    "--model", default="embedded", show_default=True, help="Name, folder or .tar.gz of an srl_bert tagger."
)
DEVICE = click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or cuda:N.")
THREADS = click.option("--threads", type=click.IntRange(min=1), help="CPU threads.")
