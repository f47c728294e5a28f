"""Standard output for tables and styled text."""

from rich.console import Console


class StandardOutput(Console):
    """A console whose reader may go, as in `facetflow runs | head`: rich would exit with 1, the command line with 0."""

    def on_broken_pipe(self) -> None:
        """Leave the error to the command line."""
        raise BrokenPipeError
