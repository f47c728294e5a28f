"""A store in an object storage: S3 and what speaks its protocol, Google Cloud, Azure.

    s3://bucket/prefix?region=eu-central-1&endpoint=https://minio.example      one string, which every worker is given

Credentials are those of the environment (`AWS_ACCESS_KEY_ID`, …) or of the machine's role, and never in the URL. The
client, obstore, is the library that delta-rs and polars read with: it repeats what was throttled or got no answer.

    put_if_absent    PUT with If-None-Match; refused, it was our own if the object has our content
    lease            an object that its holder writes again every few seconds, with If-Match: one that takes it over
                     changes it, and the holder notices. Whoever finds it unchanged for `EXPIRY` takes it over; no clock
                     but the waiting process's own is read, so clocks may differ

Two processes that both believe to hold a lease, after a network was cut, do twice the work, and each commit and release
is a conditional PUT of its own. Only if both read corpora may the later one replace rows of the other, until the next
build reads them again.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import obstore
from obstore import exceptions
from obstore.store import ObjectStore, from_url

from features.core import durable, leftovers
from features.core.faults import AnotherProcess, LockImpossible, StorePathWrong, StoreUnreachable
from features.core.file_errors import clear_errors, explain, first_line
from features.store.storage import HEARTBEAT, Entry, Lease, Storage, beating, relist

EXPIRY = 4 * HEARTBEAT
"""Seconds after which a lease that nobody renews is taken over."""
COPY_KEPT = 30 * 86400
"""Seconds for which a copy of an object stays in the user's cache after it was last asked for."""
_FEW = 32
"""Objects of a folder that are asked for one by one: a listing names a thousand, wanted or not, and is one request."""
_CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_ROLE = ("169.254.169.254", 80)
"""Where a machine in a cloud asks for the credentials of its role."""
_OPTIONS = {"region": "aws_region", "endpoint": "aws_endpoint_url"}


class ObjectStorage(Storage):
    """The objects of a store below a prefix of a bucket."""

    readers = 16  # which mostly wait
    flaws = FileNotFoundError

    def __init__(self, location: str) -> None:
        self.location = location
        parts = urlsplit(location)
        given = dict(parse_qsl(parts.query))
        if unknown := sorted(given.keys() - _OPTIONS.keys()):
            raise StorePathWrong(
                f"The store {location!r} has {unknown[0]!r} after the question mark; it may have "
                f"{' and '.join(_OPTIONS)}. Credentials are read from the environment."
            )
        if "@" in parts.netloc:  # messages would show them
            raise StorePathWrong(
                f"The address of the store in {parts.netloc.rpartition('@')[2]!r} has credentials: leave them out; "
                "they are read from the environment."
            )
        prefix = parts.path.strip("/ ")
        if not parts.netloc or {"", ".", ".."} & {*prefix.split("/")}:  # the clients differ about what these mean
            raise StorePathWrong(f"The store {location!r} needs a bucket and a prefix, without parts '', '.' and '..'.")
        self._root = f"{parts.scheme}://{parts.netloc}/{prefix}"
        endpoint = given.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL", "")
        if endpoint and not re.match("https?://[^/]", endpoint):  # the client would panic
            raise StorePathWrong(
                f"The endpoint {endpoint!r} of the store {location!r} must begin with https:// or http://."
            )
        # One of this machine or of a private network may have no certificate, and is named on purpose.
        unsecured = {"aws_allow_http": "true"} if endpoint.startswith("http://") else {}
        self.options: Mapping[str, str] = {_OPTIONS[name]: value for name, value in given.items()} | unsecured

    @property
    def _client(self) -> ObjectStore:
        return _client(self._root, tuple(sorted(self.options.items())))

    def names(self, folder: str = "") -> list[str]:
        listed = self._listed(folder)
        paths = [*listed["common_prefixes"], *(entry["path"] for entry in listed["objects"])]
        return sorted(path.rpartition("/")[2] for path in paths)

    def stat(self, name: str) -> Entry:
        with _as_files(name):
            return _entry(name, obstore.head(self._client, name))

    def stats(self, folder: str, names: Sequence[str]) -> list[Entry | OSError]:
        if len(names) <= _FEW:
            return super().stats(folder, names)
        with _as_files(folder):
            pages = relist(lambda: list(obstore.list(self._client, folder)))
        listed = {meta["path"]: meta for page in pages for meta in page}
        return [_entry(name, listed[name]) if name in listed else FileNotFoundError() for name in names]

    def last(self, folder: str, matches: Callable[[str], object]) -> Entry | None:
        listed = {meta["path"].rpartition("/")[2]: meta for meta in self._listed(folder)["objects"]}
        name = max(filter(matches, listed), default=None)
        return None if name is None else _entry(f"{folder}/{name}", listed[name])

    def read(self, name: str) -> bytes:
        return self._get(name)[0]

    def put(self, name: str, content: bytes | Path) -> None:
        self._put(name, content)

    def put_if_absent(self, name: str, content: bytes) -> None:
        try:
            self._put(name, content, "create")
        except OSError:
            with suppress(OSError):
                if self.read(name) == content:  # only the answer got lost, and the client may have repeated the PUT
                    return
            raise

    def delete(self, *names: str) -> None:
        def delete_one(name: str) -> None:
            with suppress(FileNotFoundError), _as_files(name):
                obstore.delete(self._client, name)

        self.map(delete_one, names)

    @contextmanager
    def lease(
        self, name: str, holder: str, refusal: str, on_wait: Callable[[str], object] = lambda _: None
    ) -> Iterator[None]:
        lease = _HeldLease(self, name, {"holder": holder, "token": secrets.token_hex(8)})
        try:
            lease.take(refusal, on_wait)
        except OSError as error:
            raise LockImpossible(f"The lease {self.url(name)!r} cannot be taken: {explain(error)}.") from error
        try:
            with beating(lease.renew):
                yield
        finally:
            lease.end()
        lease.check()

    def lease_of(self, name: str) -> Lease | None:
        try:
            text, meta = self._get(name)
        except FileNotFoundError:
            return None
        content, age = _content(text), time.time() - meta["last_modified"].timestamp()
        return Lease(str(content.get("holder", "")), max(age, 0.0), bool(content.get("ended")))

    def local(self, name: str) -> Path:
        """Return a copy in the user's cache, fetched again when the object changes; one that is long unused goes."""
        entry = self.stat(name)
        key = hashlib.sha256(f"{self.url(name)} {entry.tag} {entry.bytes}".encode()).hexdigest()
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "facetflow" / "objects"
        path = folder / key / Path(name).name
        with clear_errors(f"Keeping a copy of {self.url(name)!r} in {str(folder)!r}"):
            if not path.is_file():
                _forget_unused(folder)
                durable.write_whole(folder, f"{key}/{path.name}", self.read(name))
            os.utime(path.parent)
        return path

    def url(self, name: str = "") -> str:
        return f"{self._root}/{name}" if name else self._root

    def _listed(self, folder: str) -> Any:
        with _as_files(folder):
            return relist(lambda: obstore.list_with_delimiter(self._client, folder or None))

    def _get(self, name: str) -> tuple[bytes, Any]:
        with _as_files(name):
            got = obstore.get(self._client, name)
            return bytes(got.bytes()), got.meta

    def _put(self, name: str, content: bytes | Path, mode: Any = None) -> Any:
        with _as_files(name):
            return obstore.put(self._client, name, content, mode=mode)


class _HeldLease:
    """A lease while it is held."""

    def __init__(self, storage: ObjectStorage, name: str, content: Mapping[str, Any]) -> None:
        self._storage, self._name, self._content = storage, name, content
        self._beat = 0
        self._seen: Mapping[str, Any] = {}
        self._lost = False

    def take(self, refusal: str, on_wait: Callable[[str], object]) -> None:
        """Take the lease, or raise AnotherProcess as soon as its holder is seen to live."""
        storage, name = self._storage, self._name
        with suppress(FileExistsError):
            self._seen = storage._put(name, self._text(), "create")
            return
        faster = AnotherProcess(f"{refusal}: another process was faster; wait for it, or end it.")
        try:
            text, seen = storage._get(name)
        except FileNotFoundError as error:  # S3 refuses (409) while another writes it
            raise faster from error
        content = _content(text)
        # It is our own if the answer to the PUT got lost.
        if not content.get("ended") and content.get("token") != self._content["token"]:
            on_wait(
                f"Waiting up to {EXPIRY:.0f} s to see whether the process {content.get('holder', 'unknown')} still "
                f"renews {storage.url(name)!r}; if it was killed, this one takes over."
            )
            for _ in range(int(4 * EXPIRY / HEARTBEAT)):  # looks, not seconds: the holder's requests are as slow
                time.sleep(HEARTBEAT / 4)
                if storage.stat(name).tag != seen["e_tag"]:
                    holder = content.get("holder", "unknown")
                    raise AnotherProcess(f"{refusal} (process {holder}): wait for it, or end it.")
        self._seen = seen
        self.renew()
        if self._lost:
            raise faster

    def end(self) -> None:
        """Give the lease back."""
        with suppress(OSError):
            self.renew(ended=True)

    def check(self) -> None:
        """Raise AnotherProcess if the lease was lost; called after the work, whose own errors come first."""
        if self._lost:
            raise AnotherProcess(
                f"The lease {self._storage.url(self._name)!r} was taken over while this process could not renew it; "
                "nothing is lost or doubled: run again."
            )

    def renew(self, *, ended: bool = False) -> None:
        """Write the object again, unless another process has."""
        if self._lost:
            return
        try:
            seen = {key: self._seen[key] for key in ("e_tag", "version") if self._seen.get(key)}
            self._seen = self._storage._put(self._name, self._text(ended=ended), seen)  # in place of that version alone
        except FileExistsError:
            text, self._seen = self._storage._get(self._name)
            # Our own, if the answer to the last one got lost.
            self._lost = _content(text).get("token") != self._content["token"]

    def _text(self, *, ended: bool = False) -> bytes:
        self._beat += 1  # so that each is another object, with another tag
        return json.dumps({**self._content, "beat": self._beat, "ended": ended}).encode()


def _forget_unused(folder: Path) -> None:
    """Remove copies of objects that nobody has asked for in a while, and what killed processes left half fetched."""
    leftovers.remove_dead(folder.glob(f"{durable.TEMPORARY}*"))
    for copy in folder.glob("*/"):
        with suppress(FileNotFoundError):
            if copy.stat().st_mtime < time.time() - COPY_KEPT:
                shutil.rmtree(copy, ignore_errors=True)


def _entry(name: str, meta: Mapping[str, Any]) -> Entry:
    """Describe an object by its metadata, to the second: a listing may have milliseconds, a HEAD has none."""
    return Entry(name, meta["size"], int(meta["last_modified"].timestamp()) * 1000, meta["e_tag"] or "")


def _content(text: bytes) -> dict[str, Any]:
    """Return what a lease says; one that was copied with the store of a folder says only who held it there."""
    try:
        content = json.loads(text)
    except ValueError:
        return {"holder": text.decode(errors="replace"), "ended": text.endswith(b" ended")}
    return content if isinstance(content, dict) else {}


@cache
def _client(root: str, options: tuple[tuple[str, str], ...]) -> ObjectStore:
    if root.startswith("s3://") and not any(name in os.environ for name in _CREDENTIALS):
        try:  # the client would ask for minutes
            socket.create_connection(_ROLE, timeout=2).close()
        except OSError as error:
            raise StoreUnreachable(
                f"There are no credentials for {root!r}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this "
                "machine a role."
            ) from error
    config: Any = {name: value for name, value in options if name != "aws_allow_http"}
    return from_url(root, config=config, client_options={"allow_http": ("aws_allow_http", "true") in options})


@contextmanager
def _as_files(name: str) -> Iterator[None]:
    """Raise errors of the client as files do."""
    try:
        yield
    except (exceptions.AlreadyExistsError, exceptions.PreconditionError) as error:
        raise FileExistsError(f"{name!r} exists") from error
    except exceptions.BaseError as error:
        raise OSError(first_line(error)) from error
