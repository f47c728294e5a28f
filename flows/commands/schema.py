"""`facetflow schema`: the JSON schema of the project file."""

import click


@click.command()
def schema() -> None:
    """Write the JSON schema of the project file to standard output.

    Editors that know Taplo's convention complete and check keys if the first line of the project file names the schema,
    as in `#:schema ./facetflow.schema.json`. `facetflow new` writes both; write the schema again after an upgrade.
    """
    from flows.project_schema import schema_text

    click.echo(schema_text(), nl=False)
