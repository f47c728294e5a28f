"""Who is let in: the browser that opened the printed address, and nobody else on this machine or on the web.

another user of the machine     has no token; where `ps` shows it   refused
                                to him, the kernel knows who asks
a page of another site          sends its Origin, or none and no    refused
                                cookie (SameSite=Strict)
a name that leads to 127.0.0.1  is not the Host that is expected    refused
the printed address             has the token: it becomes a cookie, and the address is clean from then on
"""

import os
import secrets
import socket
import sys
from contextlib import suppress
from pathlib import Path

from starlette.datastructures import Address, MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from features.core.faults import ForeignRequest
from features.core.pages import render

HOST = "127.0.0.1"
_HOSTS = frozenset({HOST, "localhost"})
_OWN = frozenset({"", "none", "same-origin"})
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every answer that does not set them itself. Drawings and bars have sizes in style attributes."""


class Guard:
    """Lets requests through to an application if they have the token.

    Browsers send cookies to all ports of a host, so each port has one of its own.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token, self._port, self._cookie = app, token, port, f"facetflow-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._admit(Request(scope))(scope, receive, send_with_headers)

    def _admit(self, request: Request) -> ASGIApp:
        headers = request.headers
        host = headers.get("host", "")
        if host.partition(":")[0] not in _HOSTS:
            return _refuse(f"the host {host!r} is not this machine")
        if headers.get("origin", f"http://{host}") != f"http://{host}" or headers.get("sec-fetch-site", "") not in _OWN:
            return _refuse("another page sent this request")
        if request.client and _is_of_another_user(request.client, Address(HOST, self._port)):
            return _refuse("another user of this machine sent this request")
        if self._is_token(request.query_params.get("token", "")):
            address = request.url.remove_query_params("token")
            path = str(request.scope["path"]).lstrip("/\\")  # two slashes would begin the name of a host
            answer = RedirectResponse(f"/{path}?{address.query}".rstrip("?"), 303)
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            return answer
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(request.cookies.get(self._cookie, "")) or self._is_token(bearer):
            return self._app
        return _refuse("the token is missing or of another run")

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _is_of_another_user(client: Address, server: Address) -> bool:
    """Return whether a connection between two addresses is of neither this user nor root; False where none can tell."""
    ours, theirs = map(_in_table, (server, client))
    with suppress(OSError):  # no Linux
        for table in ("tcp", "tcp6"):
            for line in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
                _, local, remote, _, _, _, _, user, *_ = line.split()
                if local.endswith(theirs) and remote.endswith(ours):
                    return int(user) not in {0, os.getuid()}
    return False


def _in_table(address: Address) -> str:
    """Return an address of IPv4 as the kernel writes it, alone or at the end of the one of IPv6 that stands for it."""
    return f"{int.from_bytes(socket.inet_aton(address.host), sys.byteorder):08X}:{address.port:04X}"


def _refuse(why: str) -> Response:
    fault = ForeignRequest(f"Not for you: {why}. Open the address that `facetflow explore` has printed.")
    return Response(
        render("flows.explorer/refused.html", title="Refused", problem=fault.with_code()), 403, media_type="text/html"
    )
