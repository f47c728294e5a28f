"""Which Prefect server a command talks to, and how its address is shown.

PREFECT_API_URL in the environment     an empty value means no server, on purpose
Prefect's own settings                 a profile, prefect.toml, pyproject.toml or .env
the server that `facetflow up` runs    on this machine, for this user, with its password
none                                   a private server that lives as long as the command

An address may have name and password in it, until `talking_to` hands both to Prefect.
"""

import base64
import gc
import http.client
import os
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from features.core.exported import exported
from features.core.faults import FileMissing, ServerRefused
from flows.server import up_record
from flows.server.passwords import shown, without_credentials, without_passwords

if TYPE_CHECKING:
    from prefect.client.orchestration import SyncPrefectClient

Standing = Literal["answers", "silent", "gone"]
START_TIMEOUT = 120.0
"""Seconds that a Prefect server may take to start: usually 4 s, 12 s if its database is created first."""
_POLL = 0.05
_OBJECTS_A_COLLECTION = 5_000
PRIVATE = "FACETFLOW_PRIVATE_SERVER"
"""Set in every process whose Prefect server is private, so that nothing listens to the events of a build."""


def configured_api() -> str | None:
    """Return the address of the configured Prefect API, perhaps with name and password; None if there is none."""
    certificates = os.environ.get("SSL_CERT_FILE")
    if certificates and not Path(certificates).exists():  # Prefect could not be imported
        raise FileMissing(f"SSL_CERT_FILE names {certificates!r}, but there is no such file: correct it, or unset it.")
    if (url := os.environ.get("PREFECT_API_URL")) is not None:
        service = up_record.running() if url else None
        return service.address if service is not None and service.url == url else (url or None)
    if url := _in_settings():
        return url
    deadline = time.monotonic() + START_TIMEOUT
    # A server of `facetflow up` that is starting, also again, is waited for: it is to do what is due.
    while (service := up_record.running()) is not None and time.monotonic() < deadline:
        if service.address is not None and standing(service.address) != "gone":
            break
        time.sleep(_POLL)
    return service.address if service is not None else None


def somebody_listens() -> bool:
    """Return whether this process talks to a server that outlives it, so that its events may start other flows."""
    return PRIVATE not in os.environ


def standing(url: str, timeout: float = 1.0) -> Standing:
    """Return whether a Prefect API answers at an address within some seconds, or else takes connections there."""
    address, credentials = without_credentials(url)
    credentials = credentials or os.environ.get("PREFECT_API_AUTH_STRING")
    headers = {}
    if credentials:
        headers["Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
    try:
        request = urllib.request.Request(f"{address.rstrip('/')}/health", headers=headers)  # noqa: S310 (an API address, http by design)
        with urllib.request.urlopen(request, timeout=timeout):  # noqa: S310
            return "answers"
    except urllib.error.HTTPError as error:
        # Whom it lets in, as by a key, is between it and Prefect's client.
        return "answers" if error.code in {401, 403} else "silent"
    except TimeoutError:  # no connection in time is an URLError
        return "silent"
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        # Its certificate is for Prefect's client to judge, by settings of its own.
        refused = isinstance(getattr(error, "reason", None), ssl.SSLCertVerificationError)
        return "answers" if refused else "gone"


def answers(url: str, timeout: float = 1.0) -> bool:
    """Return whether a Prefect API answers at an address within some seconds."""
    return standing(url, timeout) == "answers"


def is_on_this_machine(url: str) -> bool:
    """Return whether an address is one that only this machine can use.

    >>> is_on_this_machine("http://127.0.0.1:4200/api"), is_on_this_machine("http://server:4200/api")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextmanager
def talking_to(address: str) -> Iterator[None]:
    """Make this process, and those that it starts, talk to the API at an address, perhaps with name and password.

    The password goes into a setting of its own, because Prefect logs the address. Clients are collected soon: each ends
    as a cycle of a hundred objects, with almost a megabyte outside of Python, and `up` makes two a minute.
    """
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    url, credentials = without_credentials(address)
    variables = {"PREFECT_API_URL": url}
    if credentials is not None:
        variables["PREFECT_API_AUTH_STRING"] = credentials
    with exported(variables):
        context: Any = sys.modules.get("prefect.context")
        if context is None:
            yield  # Prefect will read the environment when it is imported
            return
        before = context.GLOBAL_SETTINGS_CONTEXT
        context.refresh_global_settings_context()
        try:
            yield
        finally:
            context.GLOBAL_SETTINGS_CONTEXT = before


@contextmanager
def server_does(what: str) -> "Iterator[SyncPrefectClient]":
    """Yield a client of the configured server, whose errors become a sentence; `what` it is to do, as "confirm it"."""
    import httpx
    from prefect.client.orchestration import get_client
    from prefect.exceptions import PrefectException
    from prefect.settings import get_current_settings

    try:
        with get_client(sync_client=True) as client:
            yield client
    except (httpx.HTTPError, PrefectException, OSError, RuntimeError, ValueError) as error:
        # PrefectException: what it is about was deleted meanwhile, which has no text of its own.
        # ValueError: not an answer of a Prefect server, such as the error page of a proxy.
        where = shown(get_current_settings().api.url or "the configured address")
        message = str(getattr(error, "http_exc", error)).partition("\n")[0]
        reason = without_passwords(message.rstrip(".")) or type(error).__name__
        raise ServerRefused(f"The Prefect server at {where} did not {what} ({reason}).") from error


def _in_settings() -> str | None:
    """Ask Prefect, but only if a settings file exists: importing it takes a second."""
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    profiles = os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml"
    if not any(Path(file).is_file() for file in (profiles, "prefect.toml", "pyproject.toml", ".env")):
        return None
    from prefect.settings import get_current_settings

    return get_current_settings().api.url
