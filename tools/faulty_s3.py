"""S3 as moto plays it, behind a proxy that loses answers, throttles and refuses: `python tools/faulty_s3.py [ADDRESS]`.

A process of its own: delta-rs keeps Python's lock while it waits for some answers. It prints its port, for `S3`.
"""

import http.client
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
_STATE: dict[str, list[Any]] = {"faults": [], "seen": []}
_WRITTEN: dict[str, float] = {}
"""Address of an object → when it was last written, in seconds since 1970."""
_UPSTREAM: list[tuple[str, int]] = []
_ALONE = threading.Lock()
"""For conditional requests: S3 decides them one by one, moto looks first and writes then."""


class S3:
    """A server that was started; its bucket is named `bucket`."""

    def __init__(self, port: int, address: str = "127.0.0.1") -> None:
        self._port = port
        self._address = address

    def url(self, prefix: str = "some/prefix") -> str:
        """Return the URL of a store in the bucket."""
        return f"s3://bucket/{prefix}?region=us-east-1&endpoint=http://{self._address}:{self._port}"

    def fail(self, *faults: tuple[str, str, int]) -> None:
        """Let requests fail whose line contains some words, in a way (`503`, `403`, `lost`, `cut`), so many times."""
        self._ask("PUT", "/-/faults", json.dumps(faults))

    def seen(self) -> list[str]:
        """Return the lines of all requests, each after how it was made to fail."""
        return list(json.loads(self._ask("GET", "/-/seen")))

    def written(self, pattern: str) -> float:
        """Return when an object whose address fits a pattern was last written, in seconds since 1970; 0 for none."""
        return float(self._ask("GET", f"/-/written/{pattern}"))

    def seconds(self) -> float:
        """Return the processor time that the server itself has taken, in seconds."""
        return float(self._ask("GET", "/-/seconds"))

    def clear(self) -> None:
        """Forget all objects, faults and requests."""
        self._ask("DELETE", "/-/")

    def _ask(self, method: str, path: str, body: str = "") -> bytes:
        with closing(http.client.HTTPConnection(self._address, self._port, timeout=30)) as connection:
            connection.request(method, path, body)
            return connection.getresponse().read()


@contextmanager
def faulty_s3(address: str = "127.0.0.1", *before: str) -> Iterator[S3]:
    """Run a server at an address until the block ends; `before` is what starts its command, such as `ip netns exec`."""
    command = [*before, sys.executable, __file__, address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield S3(int((process.stdout or sys.stdin).readline()), address)
        finally:
            process.kill()


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer in one packet: of two, the second waits 40 ms for the first to be acknowledged

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path.startswith("/-/"):
            self._send(200, {}, self._control(body))
            return
        line, kind = f"{self.command} {self.path}", ""
        for fault in _STATE["faults"]:
            if fault[0] in line and fault[2]:
                fault[2] -= 1
                kind = fault[1]
                break
        _STATE["seen"].append(f"{kind} {line}")
        if kind.isdigit():
            self._send(int(kind), {}, b"")
            return
        alone = _ALONE if {"if-none-match", "if-match"} & {name.lower() for name in self.headers} else nullcontext()
        with alone, closing(http.client.HTTPConnection(*_UPSTREAM[0], timeout=30)) as connection:
            connection.request(self.command, self.path, body, dict(self.headers))
            answer = connection.getresponse()
            content = answer.read()
        if self.command == "PUT" and answer.status == 200:
            _WRITTEN[self.path] = time.time()
        if kind != "lost":
            self._send(answer.status, dict(answer.getheaders()), content, len(content) // (2 if kind == "cut" else 1))
        if kind:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def _send(self, status: int, headers: dict[str, str], content: bytes, sent: int | None = None) -> None:
        self.send_response_only(status)
        given = {name.lower(): value for name, value in headers.items()}
        given["content-length"] = given.get("content-length", "0") if self.command == "HEAD" else str(len(content))
        for name, value in given.items():
            if name not in {"transfer-encoding", "connection"}:
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:sent])

    def _control(self, body: bytes) -> bytes:
        if self.command == "PUT":
            _STATE["faults"] = json.loads(body)
        if self.command == "DELETE":
            _STATE["faults"], _STATE["seen"] = [], []
            _WRITTEN.clear()
            _prepare()
        if self.path == "/-/seconds":
            return str(time.process_time()).encode()
        if self.path.startswith("/-/written/"):
            pattern = self.path.removeprefix("/-/written/")
            times = (at for name, at in _WRITTEN.copy().items() if fnmatch(name, pattern))
            return str(max(times, default=0.0)).encode()
        return json.dumps(_STATE["seen"]).encode()

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _answer  # noqa: N815 - the names that http.server asks for

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _prepare() -> None:
    for method, path in (("POST", "/moto-api/reset"), ("PUT", "/bucket")):
        with closing(http.client.HTTPConnection(*_UPSTREAM[0])) as connection:
            connection.request(method, path)
            connection.getresponse().read()


if __name__ == "__main__":
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    upstream = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    upstream.start()
    _UPSTREAM.append(upstream.get_host_and_port())
    _prepare()
    server = _Server((sys.argv[1] if sys.argv[1:] else "127.0.0.1", 0), _Proxy)
    print(server.server_address[1], flush=True)
    server.serve_forever()
