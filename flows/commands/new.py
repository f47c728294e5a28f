"""`facetflow new`: a folder with a project file to start from."""

from importlib.resources import files
from pathlib import Path

import click

from features.errors import SettingsError

PROJECT_FILE = "facetflow.toml"
EXAMPLE_PAIRS = "pairs-to-explain.tsv"


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
        message = f"{str(target)!r} already exists: choose another folder, or edit that file."
        raise SettingsError(message)
    templates = files("flows") / "templates"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target.write_text((templates / ("example.toml" if example else "project.toml")).read_text(), encoding="utf-8")
        if example:
            (folder / EXAMPLE_PAIRS).write_text((templates / EXAMPLE_PAIRS).read_text(), encoding="utf-8")
    except OSError as error:
        message = f"Cannot write the project to {str(folder)!r} ({error.strerror}): choose a folder that you may write to."
        raise SettingsError(message) from error
    click.echo(f"Wrote {target}. Next: cd {folder} && facetflow build")
