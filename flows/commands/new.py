"""`facetflow new` and `schema`: a project file to start from, and the JSON schema of project files."""

import re
import shlex
import unicodedata
from importlib.resources import files
from pathlib import Path

import click

from features.core.faults import Conflict, PathTaken
from features.core.outputs import write_text
from features.core.pages import render
from flows.console.options import FOLDER, PROJECT_FILE
from flows.terminal import say
from training.kinds import KINDS


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--kind", default="s3bert", type=click.Choice([*KINDS]), help="Kind of encoder to train.")
@click.option("--example", is_flag=True, help="Write the built-in example, which is ready to build.")
@click.option("--if-missing", is_flag=True, help="Do nothing, silently, if the project already exists.")
def new(folder: Path, *, kind: str, example: bool, if_missing: bool) -> None:
    """Write a commented project file (facetflow.toml) into FOLDER, which is created if missing.

    It has the sections of one kind of encoder: s3bert learns from pairs of sentences, whose graphs are measured; aspect
    from texts with labels; rgcn and pas from pairs with labels. Its JSON schema is written next to it. Nothing else in
    FOLDER is replaced.
    """
    from flows.project_schema import SCHEMA_FILE, schema_text

    if example and "facets" not in KINDS[kind].suites:
        raise Conflict(f"The example is for an encoder with facets: leave out --example, or --kind {kind}.")
    project = _read("example.toml") if example else render("flows/project.txt", kind=kind, name=_name(folder))
    contents = {PROJECT_FILE.name: f"{project.rstrip()}\n"}
    contents |= {"pairs-to-explain.tsv": _read("pairs-to-explain.tsv")} if example else {}
    contents |= {SCHEMA_FILE: schema_text()}
    existing = [folder / name for name in contents if (folder / name).exists() and name != SCHEMA_FILE]
    if if_missing and folder / PROJECT_FILE in existing:
        return
    if existing:
        raise PathTaken(f"{str(existing[0])!r} already exists: choose another folder, or edit that file.")
    # The project file comes last: if it exists, it is complete, and so is the rest.
    for name in sorted(contents, key=lambda name: name == PROJECT_FILE.name):
        write_text(folder / name, [contents[name]])
    click.echo(f"Wrote {folder / PROJECT_FILE}")
    path = f"./{folder}" if str(folder).startswith("-") else str(folder)  # not an option of cd
    enter = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(path)} && "
    if example:
        say(f"Next: {enter}facetflow build")
    else:
        what = KINDS[kind].learns_from
        say(f"Next: put your {what} next to it, and name their files and columns under [[corpora]] in it.")
        say(f"Then: {enter}facetflow plan")


def _read(template: str) -> str:
    return (files("flows") / "templates" / template).read_text(encoding="utf-8")


def _name(folder: Path) -> str:
    """Turn the name of a folder into that of a project, which has letters, digits, `_`, `.` and `-`."""
    composed = unicodedata.normalize("NFKC", folder.expanduser().resolve().name)
    return re.sub(r"[^\w.-]+", "-", composed).strip("-") or "my-project"


@click.command()
def schema() -> None:
    """Write the JSON schema of the project file to standard output.

    Editors that know Taplo's convention complete and check keys by the first line of the project file, `#:schema
    ./facetflow.schema.json`. `facetflow new` writes both; write the schema again after an upgrade.
    """
    from flows.project_schema import schema_text

    click.echo(schema_text(), nl=False)
