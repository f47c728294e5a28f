"""How the metrics' inner loops are compiled.

numba compiles a function at its first call and caches the machine code on disk: next to the source, or in the user's
cache folder if the package is installed read-only, or in `NUMBA_CACHE_DIR` if that is set. Worker processes that start
together may each compile once; the cache is written atomically, so that only costs time.

Two things make a kernel fast: taking arrays out of a named tuple before a loop, because each access inside counts
references; and reusing workspaces between calls.

numba notices a change in the file of a function, not in the files whose functions, constants and named tuples it uses,
and its cache outlives an upgrade of the package: here a kernel is compiled anew where any file of the metrics changed.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, cast

import numba
from numba.core import event

from features.core.interruption import held_back

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class _FirstUse(event.Listener):
    """Warns that the first use takes long, and holds signals back: an exception is lost in a callback of LLVM.

    What is loaded from the cache is not compiled.
    """

    warned = False

    def __init__(self) -> None:
        self._held: list[AbstractContextManager[object]] = []  # one kernel compiles another

    def on_start(self, _: event.Event) -> None:
        if not self.warned:
            logging.getLogger("features").warning("compiling, once if a cache folder is writable: up to a minute")
        self.warned = True
        self._held.append(held_back())
        self._held[-1].__enter__()

    def on_end(self, _: event.Event) -> None:
        self._held.pop().__exit__(None, None, None)


event.register("numba:compile", _FirstUse())  # type: ignore[no-untyped-call]


def kernel(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function to machine code that runs without the interpreter lock, and cache it on disk.

    If no cache folder is writable, the function is compiled anew in every process.
    """
    return _compile(function, "never")


def inlined(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function into the kernels that call it.

    For functions called in the innermost loop with several arrays: passing these costs as much as the work.
    """
    return _compile(function, "always")


def summing(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function like `kernel`, but let it add numbers in any order: several at a time."""
    return _compile(function, "never", frozenset({"reassoc", "contract"}))


def _compile(
    function: Callable[_Parameters, _Result],
    inline: Literal["never", "always"],
    fastmath: frozenset[str] = frozenset(),
) -> Callable[_Parameters, _Result]:
    # error_model: no check for a division by zero before each division; the kernels do not divide by zero.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "inline": inline, "fastmath": set(fastmath)}
    try:
        compiled = numba.njit(function, cache=True, **options)
    except RuntimeError:  # numba: "cannot cache function: no locator available"
        compiled = numba.njit(function, **options)
    if file := getattr(getattr(compiled, "_cache", None), "_cache_file", None):
        file._source_stamp = file._source_stamp, _sources()
    return cast("Callable[_Parameters, _Result]", compiled)


@cache
def _sources() -> str:
    folder = Path(__file__).parent
    files = sorted([*folder.glob("*.py"), *folder.glob("alignment/*.py")])
    return blake2b(b"".join(file.read_bytes() for file in files)).hexdigest()
