"""What flows under `facetflow up` show of their errors: a line each; the traceback is on Prefect's page of the run.

A schedule repeats a build that cannot succeed, and with it the hundred lines of its traceback.
"""

import copy
import logging

from prefect.logging.handlers import PrefectConsoleHandler

from flows.terminal import visible


class OneLineHandler(PrefectConsoleHandler):
    """Writes log records without tracebacks, and what control characters of data in them do to a terminal."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; other handlers still have its traceback."""
        plain = copy.copy(record)
        plain.exc_info = plain.exc_text = None
        super().emit(plain)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return visible(super().format(record))
