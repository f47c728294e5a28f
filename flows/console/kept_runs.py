"""Runs that a command reads are kept until it ends, whatever a build deletes meanwhile."""

from pathlib import Path

import click

from training.run_use import in_use


def keep(folder: Path) -> Path:
    """Keep a run from being deleted until the command ends, and return its folder as given.

    Args:
        folder: folder of the run, or of the encoder in it.

    Raises:
        ModelError: it has just been deleted.
    """
    click.get_current_context().with_resource(in_use(folder))
    return folder
