"""`facetflow explore`: pairs, texts, runs and tables in a browser."""

import webbrowser
from pathlib import Path
from threading import Thread

import click


@click.command()
@click.option(
    "--encoder",
    metavar="NAME|FOLDER",
    help="An encoder with facets: of the project, one of its runs, or a folder; by default as for `explain`.",
)
@click.option("--texts", metavar="FILE|FOLDER|CORPUS", default="", help="Texts to search where the page names none.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the server.  [default: any free one]")
@click.option("--no-browser", is_flag=True, help="Only print the address, and open nothing.")
@click.pass_obj
def explore(project: Path, /, *, encoder: str | None, texts: str, port: int | None, no_browser: bool) -> None:
    """Open pages that explain pairs and search texts, and show the project's tables and trainings.

    The pages are served by this machine to the browser that opens the printed address, and to nobody else. Without a
    project they work with the encoder that comes with facetflow. Ctrl-C ends it.
    """
    from flows.console.explaining import Explainer
    from flows.console.here import Here
    from flows.explorer.server import Explorer
    from flows.explorer.session import Session
    from flows.terminal import say

    here = Here.read(project)
    session = Session(here, Explainer(here, encoder), texts)
    explorer = Explorer(session, port or 0)
    click.echo(explorer.address)
    say("Open this address in a browser of this machine; Ctrl-C ends the explorer.")
    session.load()
    if not no_browser:
        # A browser in a terminal ends before `open` returns, and would wait for the server meanwhile.
        Thread(target=webbrowser.open, args=(explorer.address,), daemon=True).start()
    try:
        explorer.run()
    except KeyboardInterrupt:
        say("The explorer has ended.")
