"""The addresses of the explorer, their description by OpenAPI, and a server for them at 127.0.0.1."""

import os
import secrets
import socket
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from features.core.faults import PortTaken, Unexpected
from features.core.pages import render
from flows.console.failures import fault_of
from flows.explorer.data import DataView
from flows.explorer.guard import HOST, Guard
from flows.explorer.map import MapView
from flows.explorer.pair import PairView
from flows.explorer.runs import REPORT, RunsView, report
from flows.explorer.searching import SearchView
from flows.explorer.sentence import SentenceView
from flows.explorer.session import Session
from flows.explorer.views import Answer, Parameter, Query, View, respond

OPENAPI = "/openapi.json"
_FORMAT = Parameter("format", "`json` for JSON; so does the header `Accept: application/json`")


class AddressesView(View):
    """The addresses of the explorer."""

    name = "addresses"
    title = "Addresses"
    gives = "this description"
    listed = False

    def answer(self, query: Query) -> Answer:
        """Return the description."""
        description = describe()
        return Answer(description, description)


VIEWS: tuple[type[View], ...] = (PairView, SearchView, MapView, DataView, RunsView, SentenceView, AddressesView)
"""The views, in the order of the links at the top of a page."""


class Explorer:
    """A server of a session, which has its port and its token before it runs.

    Port 0 is any free one; a RunError tells that another program listens at the given one.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self.token = secrets.token_urlsafe()
        try:
            self._socket = socket.create_server((HOST, port))  # a browser that is quicker than the server waits for it
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise PortTaken(f"Nothing can listen at port {port} ({reason}): name another --port.") from error
        self.port: int = self._socket.getsockname()[1]
        app = Guard(application(session), self.token, self.port)
        # A page that is still being made when the server is stopped is not waited for.
        settings = uvicorn.Config(
            app,
            log_level="critical",  # a view catches what fails; the rest are pages that the end of the server cuts off
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,  # a header would hide who asks
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(settings)

    @property
    def address(self) -> str:
        """The address that lets a browser in."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def run(self) -> None:
        """Serve until the process is told to end, or `stop` is called."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Let `run` return."""
        self._server.should_exit = True


def application(session: Session) -> Starlette:
    """Return the application, without its guard."""
    session.views = tuple((view.name, view.title) for view in VIEWS if view.listed)
    routes = [Route("/", lambda _: RedirectResponse(f"/{VIEWS[0].name}"))]
    routes += [Route(f"/{view.name}", _endpoint(partial(respond, view(session)))) for view in VIEWS]
    style = str(render("features.core.pages/style.css")) + str(render("flows.explorer/explorer.css"))
    scripts = [f"{name}.js" for name in ("explorer", "map")]
    routes += [Route(f"/{name}", _script(name)) for name in scripts]
    routes += [
        Route(REPORT, _endpoint(partial(report, session))),
        Route(OPENAPI, lambda _: JSONResponse(describe())),
        Route("/style.css", lambda _: Response(style, media_type="text/css")),
    ]
    return Starlette(routes=routes)


def _script(name: str) -> Callable[[Request], Response]:
    text = (files("flows.explorer") / "templates" / name).read_text(encoding="utf-8")
    return lambda _: Response(text, media_type="text/javascript")


def _endpoint(answer: Callable[[Request], Response]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            return answer(request)
        except Exception as error:  # noqa: BLE001  # of a form or a template; the server would close the connection
            fault = fault_of(error)
            page = render("flows.explorer/refused.html", title="No answer", problem=fault.with_code())
            return Response(page, 500 if isinstance(fault, Unexpected) else 400, media_type="text/html")

    return endpoint


def describe() -> dict[str, Any]:
    """Return the addresses of all views, of reports, and of this description, by OpenAPI 3.1."""
    paths = {f"/{view.name}": _path(view.title, view.gives, (*view.parameters, _FORMAT)) for view in VIEWS}
    run = Parameter("run", "a training")
    paths[REPORT] = _path("Report", "the report of a training, as HTML", (run,), kind="text/html")
    paths[OPENAPI] = _path("OpenAPI", "this description", ())
    error = {"type": "object", "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "facetflow explore", "version": version("facetflow")},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": {"type": "object", "properties": {"error": error}}},
        },
    }


def _path(title: str, gives: str, parameters: Iterable[Parameter], kind: str = "application/json") -> dict[str, Any]:
    wrong = {"schema": {"$ref": "#/components/schemas/Error"}}
    return {
        "get": {
            "summary": title,
            "parameters": [
                {"name": name, "in": "query", "description": about, "schema": {"type": value_type}}
                for name, about, value_type in parameters
            ],
            "responses": {
                "200": {"description": gives[0].upper() + gives[1:], "content": {kind: {}}},
                "400": {"description": "What was asked wrongly", "content": {"application/json": wrong}},
                "403": {"description": "The token is missing or wrong"},
            },
        }
    }
