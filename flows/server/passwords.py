"""Addresses without the passwords that users may write into them, for messages, logs and records."""

import re
from urllib.parse import quote, unquote

_CREDENTIALS = re.compile(r"://[^\s'\"]*@")


def without_passwords(text: str) -> str:
    """Return a text without user name and password in any address in it.

    >>> without_passwords("401 from 'http://ada:secret@10.0.0.1/api'")
    "401 from 'http://10.0.0.1/api'"
    """
    return _CREDENTIALS.sub("://", text)


def shown(url: str) -> str:
    """Return an address fit for display and logs, without user name and password; other text is accepted too."""
    return without_credentials(url)[0]


def without_credentials(url: str) -> tuple[str, str | None]:
    """Return an address without user name and password, and these separately as Prefect takes them, `name:password`."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    before, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{host}", unquote(before) if at else None


def with_credentials(url: str, credentials: str) -> str:
    """Return an address with name and password, the inverse of `without_credentials`.

    >>> with_credentials("http://host/api", "ada:secret")
    'http://ada:secret@host/api'
    """
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{quote(credentials, safe=':')}@{rest}"
