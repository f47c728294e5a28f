"""`facetflow new`: a folder with a project file to start from."""

import re
import shlex
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from features.errors import SettingsError
from flows.console.options import PROJECT_FILE
from flows.terminal import say


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--example", is_flag=True, help="Write the built-in example, which is ready to build.")
@click.option("--if-missing", is_flag=True, help="Do nothing, silently, if the project already exists.")
def new(folder: Path, *, example: bool, if_missing: bool) -> None:
    """Write a commented project file (facetflow.toml) into FOLDER, which is created if missing.

    Its JSON schema, with which editors complete and check keys, is written next to it. Nothing else in FOLDER is
    replaced. The project is named after the folder, the example `example`.
    """
    from flows.project_schema import SCHEMA_FILE

    contents = _contents("example" if example else _name(folder), example=example)
    there = [folder / name for name in contents if (folder / name).exists() and name != SCHEMA_FILE]
    if if_missing and folder / PROJECT_FILE in there:
        return
    if there:
        raise SettingsError(f"{str(there[0])!r} already exists: choose another folder, or edit that file.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The project file comes last: if it exists, the rest is complete.
        for name in sorted(contents, key=lambda name: name == PROJECT_FILE.name):
            (folder / name).write_text(contents[name], encoding="utf-8")
    except OSError as error:
        raise SettingsError(
            f"Cannot write the project to {str(folder)!r} ({error.strerror}): choose a folder that you may write to."
        ) from error
    click.echo(f"Wrote {folder / PROJECT_FILE}")
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))} && "
    if example:
        say(f"Next: {enter}facetflow build")
    else:
        say("Next: put your pairs next to it, and name their files and columns under [[corpora]] in it.")
        say(f"Then: {enter}facetflow plan")


def _contents(name: str, *, example: bool) -> dict[str, str]:
    """Return the files of a new project, name → text."""
    from flows.project_schema import SCHEMA_FILE, schema_text

    templates = files("flows") / "templates"
    schema = {SCHEMA_FILE: schema_text()}
    if example:
        return schema | {
            PROJECT_FILE.name: _read(templates / "example.toml"),
            "pairs-to-explain.tsv": _read(templates / "pairs-to-explain.tsv"),
        }
    project = _read(templates / "project.toml")
    return schema | {PROJECT_FILE.name: project.replace('name = "my-project"', f'name = "{name}"', 1)}


def _read(file: Traversable) -> str:
    return file.read_text(encoding="utf-8")


def _name(folder: Path) -> str:
    """Turn the name of a folder into that of a project, which has letters, digits, `_`, `.` and `-`."""
    return re.sub(r"[^\w.-]+", "-", folder.expanduser().resolve().name).strip("-") or "my-project"
