"""What Prefect's log shows of flows on a terminal; the traceback of an error is on Prefect's page of the run, too.

A schedule repeats a build that cannot succeed, and with it the hundred lines of its traceback: `facetflow up` shows a
line for each error.
"""

import copy
import logging

from prefect.logging.handlers import PrefectConsoleHandler

from flows.terminal import visible


class VisibleHandler(PrefectConsoleHandler):
    """Writes log records with the control characters of data escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        return visible(super().format(record))


class OneLineHandler(VisibleHandler):
    """Writes log records without tracebacks."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; other handlers still have its traceback."""
        plain = copy.copy(record)
        plain.exc_info = plain.exc_text = None
        super().emit(plain)
