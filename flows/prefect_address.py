"""Which Prefect server a command talks to, and how its address is shown.

PREFECT_API_URL in the environment     also when empty: no server, on purpose
Prefect's own settings                 a profile, prefect.toml, pyproject.toml or .env
the server that `facetflow up` runs    on this machine, for this user
none                                   a private server that lives as long as the command
"""

import json
import os
import urllib.error
import urllib.request
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

PRIVATE = "FACETFLOW_PRIVATE_SERVER"
"""Set in every process whose Prefect server is private: nothing listens there to the events of a build."""


def configured_api() -> str | None:
    """Return the address of the Prefect API that the user configured, None where there is none."""
    if "PREFECT_API_URL" in os.environ:
        return os.environ["PREFECT_API_URL"] or None
    return _in_settings() or running_server()


def somebody_listens() -> bool:
    """Return whether this process talks to a server that outlives it, so that its events may start other flows."""
    return PRIVATE not in os.environ


def answers(url: str, timeout: float = 1.0) -> bool:
    """Return whether a Prefect API answers at an address within some seconds."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=timeout) as response:  # noqa: S310 (an API address, http by design)
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError, ValueError):
        return False


def shown(url: str) -> str:
    """Return an address as it may be shown and logged: without user name and password."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


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


def state_folder() -> Path:
    """Return the folder where `facetflow up` keeps its database and says where it listens."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "facetflow"


def running_server() -> str | None:
    """Return the address of the server that `facetflow up` runs for this user, None where it does not run."""
    try:
        url = str(json.loads((state_folder() / "up.json").read_text(encoding="utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return url if answers(url) else None


def _in_settings() -> str | None:
    """Ask Prefect, but only where a file might say something: importing it takes a second."""
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    files = (
        Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml"),
        Path("prefect.toml"),
        Path("pyproject.toml"),
        Path(".env"),
    )
    if not any(file.is_file() for file in files):
        return None
    from prefect.settings import get_current_settings

    return get_current_settings().api.url
