"""Run a flow in this process, with a Prefect API that is there when it is needed and gone afterwards."""

import importlib
from collections.abc import Callable
from typing import Any

from flows.server import prefect_api


def run_flow(flow_name: str, check: Callable[[], object], /, **parameters: Any) -> Any:
    """Run the flow `flows.<flow_name>.<flow_name>` and return its result.

    Args:
        flow_name: of the flow and its module.
        check: called while the server starts; what it raises ends the run before the flow has begun.
        parameters: of the flow.

    Raises:
        Exception: what the flow raised, as it was raised.
    """
    with prefect_api() as server:
        check()
        flow = getattr(importlib.import_module(f"flows.{flow_name}"), flow_name)
        if server is not None:
            server.wait_until_ready()
        state = flow(**parameters, return_state=True)
        result = state.result(raise_on_failure=False)
        _send_events()
    if isinstance(result, BaseException):
        raise result
    return result


def _send_events() -> None:
    """Wait until what the run announced has reached the server, which may be about to stop."""
    from prefect.events.worker import EventsWorker

    EventsWorker.drain_all(timeout=10)
