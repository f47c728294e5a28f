"""`facetflow new`: a folder with a project file to start from."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from features.errors import SettingsError

PROJECT_FILE = "facetflow.toml"


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--example", is_flag=True, help="Fill it with the built-in example instead of placeholders.")
@click.option("--if-missing", is_flag=True, help="Say nothing and change nothing when the project is already there.")
def new(folder: Path, *, example: bool, if_missing: bool) -> None:
    """Write a commented project file (facetflow.toml) into FOLDER."""
    target = folder / PROJECT_FILE
    if target.exists():
        if if_missing:
            return
        raise SettingsError(f"{str(target)!r} already exists: choose another folder, or edit that file.")
    contents = _example() if example else {PROJECT_FILE: files("flows") / "templates" / "project.toml"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The project file comes last: where it is, the rest is complete.
        for name in sorted(contents, key=lambda name: name == PROJECT_FILE):
            (folder / name).write_bytes(contents[name].read_bytes())
    except OSError as error:
        raise SettingsError(
            f"Cannot write the project to {str(folder)!r} ({error.strerror}): choose a folder that you may write to."
        ) from error
    click.echo(f"Wrote {target}. Next: cd {folder} && facetflow build")


def _example() -> dict[str, Traversable]:
    templates = files("flows") / "templates"
    return {PROJECT_FILE: templates / "example.toml", "pairs-to-explain.tsv": templates / "pairs-to-explain.tsv"}
