"""How the metrics' inner loops are compiled.

numba compiles a function at its first call and keeps the machine code on disk: beside the source, or in the user's
cache folder when the package is installed read-only, or in `NUMBA_CACHE_DIR` when that is set. Worker processes that
start together may each compile once; the cache is written atomically, so that is only a matter of time.

Pitfall for developers: numba notices a change in the file of a function, not in the files of the functions it calls.
After editing a kernel that other files call, delete the `__pycache__` folders (the tests do so for themselves).
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def kernel(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile a function to machine code that runs without the interpreter lock, and cache it on disk.

    Where no cache folder can be written, the function is compiled anew in every process.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba: "cannot cache function: no locator available"
        compiled = numba.njit(nogil=True)(function)
    return cast("Callable[_Parameters, _Result]", compiled)
