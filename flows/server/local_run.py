"""Run a flow in this process, with a Prefect API for as long as it is needed."""

import errno
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from features.core.code import check_code
from features.core.errors import FacetflowError
from features.core.faults import ServerRefused
from features.core.file_errors import system_number
from flows.project import Project, load
from flows.server.api_watch import is_gone
from flows.server.own_server import prefect_api
from flows.server.passwords import shown
from flows.wall_time import count_from_process_start


def run_flow(flow_name: str, project_file: Path, check: Callable[[Project], object], /, **parameters: Any) -> Any:
    """Run the flow `flows.<flow_name>.<flow_name>` and return its result.

    What it raised is raised, and what `check` raises, while the server starts, ends the run before the flow begins.
    """
    count_from_process_start()
    with prefect_api() as server:
        check(load(project_file))
        flow = getattr(importlib.import_module(f"flows.{flow_name}"), flow_name)
        if server is not None:
            server.wait_until_ready()
            check_code()  # that may have taken a while
        try:
            state = flow(project_file=project_file, **parameters, return_state=True)
        except Exception as error:
            raise _cause_of(error) from error
        result = state.result(raise_on_failure=False)
        from prefect.events.worker import EventsWorker

        EventsWorker.drain_all(timeout=10)  # the server may be about to stop
    if isinstance(result, BaseException):
        raise result
    return result


def _cause_of(error: BaseException) -> BaseException:
    """Return what ended a flow, from what Prefect raised when it could not report that to its server.

    A server that is gone must not hide why the flow failed; if the flow did not fail, the lost server is the error.
    """
    from httpx import TransportError
    from prefect.exceptions import PrefectHTTPStatusError
    from prefect.settings import PREFECT_API_URL

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FacetflowError) or system_number(cause) == errno.ENOSPC:
            return cause
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, PrefectHTTPStatusError) and (status := error.response.status_code) >= 500:
        return ServerRefused(
            f"The Prefect server at {shown(str(PREFECT_API_URL.value()))} answered with {status}, as with a full disk "
            "(that of a private server is TMPDIR): free some space and run the same command again."
        )
    origin: BaseException | None = error
    while origin is not None and not isinstance(origin, TransportError | PrefectHTTPStatusError):
        origin = origin.__cause__  # before a flow begins, Prefect wraps what it could not reach in its own error
    return is_gone(str(PREFECT_API_URL.value())) if isinstance(origin, TransportError) else origin or error
