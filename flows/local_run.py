"""Run a flow in this process, with a Prefect API that is there when it is needed and gone afterwards."""

import gc
import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from features.errors import FacetflowError
from flows.server import OwnServer, prefect_api
from flows.wall_time import count_from_process_start


def run_flow(flow_name: str, check: Callable[[], object], /, **parameters: Any) -> Any:
    """Run the flow `flows.<flow_name>.<flow_name>` and return its result.

    Args:
        flow_name: of the flow and its module.
        check: called while the server starts; what it raises ends the run before the flow has begun.
        parameters: of the flow.

    Raises:
        Exception: what the flow raised, as it was raised.
    """
    count_from_process_start()
    with prefect_api() as server:
        with _not_collecting():
            check()
            flow = getattr(importlib.import_module(f"flows.{flow_name}"), flow_name)
        with _at(server):
            try:
                state = flow(**parameters, return_state=True)
            except Exception as error:
                raise _of_ours(error) from error
            result = state.result(raise_on_failure=False)
            _send_events()
    if isinstance(result, BaseException):
        raise result
    return result


@contextmanager
def _not_collecting() -> Iterator[None]:
    """Look for no garbage while modules are imported: they leave none, and it takes a tenth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def _at(server: OwnServer | None) -> Iterator[None]:
    """Await the server and use it, also where Prefect was imported, and read its settings, before there was one."""
    from prefect.settings import PREFECT_API_URL, temporary_settings

    if server is None:
        yield
        return
    server.wait_until_ready()
    with temporary_settings({PREFECT_API_URL: server.url}):
        yield


def _of_ours(error: BaseException) -> BaseException:
    """Return what ended a flow, from what Prefect raised when it could not tell its server of it.

    A server that is gone does not hide why the flow failed; where it did not fail, that is what there is to tell.
    """
    from httpx import TransportError
    from prefect.settings import PREFECT_API_URL

    from flows.api_watch import is_gone

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, FacetflowError):
            return cause
        cause = cause.__cause__ or cause.__context__
    said: BaseException | None = error
    while said is not None and not isinstance(said, TransportError):
        said = said.__cause__  # before a flow begins, Prefect says what it could not reach in an error of its own
    return error if said is None else is_gone(str(PREFECT_API_URL.value()))


def _send_events() -> None:
    """Wait until what the run announced has reached the server, which may be about to stop."""
    from prefect.events.worker import EventsWorker

    EventsWorker.drain_all(timeout=10)
