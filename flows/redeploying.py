"""What the server of `facetflow up` has lost with its database: without a word, schedules of all projects would end.

a server without any deployment    the recorded projects are registered again, with the schedules they were given
one that lacks some of them        somebody may have deleted them, so they are named
"""

from pathlib import Path

from features.core.errors import FacetflowError
from flows.deployments import REFRESH, deploy
from flows.server import up_record
from flows.server.prefect_address import server_does
from flows.terminal import say, warn


def deploy_lost() -> None:
    """Register the recorded projects again on a server that has none, or name those that it lacks."""
    recorded = up_record.projects()
    try:
        present = _project_files() if recorded else set()
    except FacetflowError as error:
        warn(f"{error} Whether it still has its projects is unknown.")
        return
    for project_file, cron in recorded.items():
        if project_file in present:
            continue
        if present:
            warn(f"The server lacks the project {project_file!r}: `facetflow up` in its folder registers it again.")
            continue
        try:
            made = deploy(Path(project_file), cron=cron)
            say(f"The server has lost its database; registered again: {', '.join(made.names)}.")
        except FacetflowError as error:
            warn(f"The server has lost the project {project_file!r}, and it cannot be registered again: {error}")


def _project_files() -> set[str]:
    """Return the project files of the refreshes that the server has."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowFilter, FlowFilterName

    with server_does("say which projects it has"), get_client(sync_client=True) as client:
        deployed = client.read_deployments(flow_filter=FlowFilter(name=FlowFilterName(any_=[REFRESH])))
    return {str(refresh.parameters.get("project_file")) for refresh in deployed}
