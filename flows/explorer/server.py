"""The addresses of the explorer, and a server for them at 127.0.0.1."""

import secrets
import socket
from collections.abc import Callable
from importlib.resources import files

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from features.core.faults import PortTaken
from features.core.pages import render
from flows.console.failures import fault_of
from flows.explorer.addresses import OPENAPI, AddressesView, describe
from flows.explorer.data import DataView
from flows.explorer.guard import HOST, Guard
from flows.explorer.map import MapView
from flows.explorer.pair import PairView
from flows.explorer.runs import REPORT, RunsView, report
from flows.explorer.searching import SearchView
from flows.explorer.sentence import SentenceView
from flows.explorer.session import Session
from flows.explorer.views import View, respond

VIEWS: tuple[type[View], ...] = (PairView, SearchView, MapView, DataView, RunsView, SentenceView, AddressesView)
"""The views, in the order of the links at the top of a page."""


class Explorer:
    """A server of a session, which has its port and its token before it runs.

    Args:
        session: what is explored.
        port: where to listen; 0 for any free port.

    Raises:
        RunError: when another program listens there.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self.token = secrets.token_urlsafe()
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
            self._socket.listen()  # a browser that is quicker than the server waits for it
        except OSError as error:
            self._socket.close()
            raise PortTaken(f"Nothing can listen at port {port} ({error.strerror}): name another --port.") from error
        self.port: int = self._socket.getsockname()[1]
        app = Guard(application(session), self.token, self.port)
        # A page that is still being made when the server is stopped is not waited for.
        settings = uvicorn.Config(
            app, log_level="error", access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
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
    session.description = describe(VIEWS)
    routes = [Route("/", lambda _: RedirectResponse(f"/{VIEWS[0].name}"))]
    routes += [Route(f"/{view.name}", _endpoint(view(session))) for view in VIEWS]
    style = str(render("features.core.pages/style.css")) + str(render("flows.explorer/explorer.css"))
    scripts = [f"{name}.js" for name in ("explorer", "map")]
    routes += [Route(f"/{name}", _script(name)) for name in scripts]
    routes += [
        Route(REPORT, lambda request: report(session, request)),
        Route(OPENAPI, lambda _: JSONResponse(session.description)),
        Route("/style.css", lambda _: Response(style, media_type="text/css")),
    ]
    return Starlette(routes=routes)


def _script(name: str) -> Callable[[Request], Response]:
    text = (files("flows.explorer") / "templates" / name).read_text(encoding="utf-8")
    return lambda _: Response(text, media_type="text/javascript")


def _endpoint(view: View) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        try:
            return respond(view, request)
        except Exception as error:  # noqa: BLE001  # of a form or a template; the server would close the connection
            problem = fault_of(error).with_code()
            page = render("flows.explorer/refused.html", title="Unexpected", problem=problem)
            return Response(page, 500, media_type="text/html")

    return endpoint
