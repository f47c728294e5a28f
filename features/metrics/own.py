"""A project's own metric: a function of two items that returns a number, in a Python file named by the project file.

    from features.metrics.own import own_metric

    @own_metric(reads="sentences")
    def same_length(left, right):
        "How alike two sentences are in their number of words."
        a, b = len(left.split()), len(right.split())
        return min(a, b) / max(a, b)

It becomes the column `same_length` of the table `metrics`, and a facet of every encoder trained on it.
`features.metrics.items` describes the arguments of the function.
"""

import hashlib
import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Self, get_args

import numpy as np

from features.core.closed import Closed
from features.core.errors import FacetflowError, RowError
from features.core.faults import FileEmpty, MetricWrong, NameNotAllowed, NameTaken, WrongValue
from features.core.files import open_text
from features.core.types import RejectCode
from features.metrics.arrays import Numbers, Statistics
from features.metrics.items import Reads
from features.metrics.registry import METRIC_COLUMNS
from features.schemas import PAIRS

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = frozenset({
    *METRIC_COLUMNS, *PAIRS, *("shard", "fingerprint", "stage"),
    # Columns that training and `facetflow measure` add to the metrics, and names of an encoder's other parts.
    *("text_a", "text_b", "first", "second", "pair", "id_a", "id_b", "residual", "similarity"),
    *("id", "text", "sentence", "start"),  # the last is `start_similarity`, beside the metric's own
})  # fmt: skip
_ROUNDING = 1e-9  # a sum of shares may be 1.0000000000000002


@dataclass(frozen=True, eq=False)
class OwnMetric:
    """A user-defined metric, made by `own_metric`, which explains `reads` to `vacuous`. Calls are the function's."""

    name: str  # its column; the name of the function
    summary: str  # what it compares, in one line; the first line of the function's docstring
    reads: Reads
    function: Callable[[Any, Any], Any]
    number: Callable[[Statistics], Numbers] | None = None
    range: tuple[float, float] = (0.0, 1.0)
    symmetric: bool = True
    vacuous: float | None = 1.0
    file: str = ""  # the file that defines it
    digest: str = ""  # of that file's content

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name in _RESERVED or self.name.endswith("_optimal"):
            raise NameNotAllowed(
                f"a metric cannot be called {self.name!r}; use another name of lower-case letters, digits and '_'"
            )
        if self.reads not in get_args(Reads):
            raise WrongValue(
                f"metric {self.name!r} cannot read {self.reads!r}; choose from {', '.join(get_args(Reads))}"
            )
        try:
            inspect.signature(self.function).bind(None, None)
        except TypeError as error:
            raise WrongValue(f"metric {self.name!r} takes no two items ({error}); give it two parameters") from error
        low, high = self.range
        if not -1 <= low < high <= 1:
            raise WrongValue(
                f"the range {self.range!r} of metric {self.name!r} does not lie within [-1, 1], as that of a facet "
                "does; scale its values"
            )
        if self.vacuous is not None and not low <= self.vacuous <= high:
            raise WrongValue(f"the vacuous value {self.vacuous!r} of metric {self.name!r} is not in its range")

    def __call__(self, left: Any, right: Any) -> Any:
        """Return what the function returns."""
        return self.function(left, right)

    def signature(self, version: str) -> str:
        """Return what the number depends on, as one string; `version` is that of the engine."""
        return f"{self.name}|own:{self.digest}|reads:{self.reads}|version:{version}"

    def counts(self, left: Any, right: Any) -> Statistics:
        """Return the counts of a pair, (n_counts,), of a metric with a `number`; a RowError if the function fails."""
        result = self._call(left, right)
        with suppress(TypeError, ValueError):
            counts = np.asarray(result, np.float64)
            if counts.ndim == 1 and counts.size and np.isfinite(counts).all():
                return counts
        raise self._failed(f"returned {result!r} instead of counts")

    def score(self, left: Any, right: Any) -> float:
        """Return the score of a pair, in `range`; a RowError if the function fails or returns something else."""
        result: Any
        if self.number is not None:
            counts = self.counts(left, right)
            try:
                result = float(self.number(counts[None])[0])
            except Exception as error:
                raise self._failed(f"has a number() that raised {_in_words(error)}") from error
        else:
            result = self._call(left, right)
            result = self.vacuous if result is None else result
        low, high = self.range
        if not isinstance(result, int | float | np.number | np.bool_) or not (
            low - _ROUNDING <= result <= high + _ROUNDING
        ):
            raise self._failed(f"returned {result!r}, which is not a number in [{low:g}, {high:g}]")
        return min(max(float(result), low), high)

    def _call(self, left: Any, right: Any) -> Any:
        try:
            return self.function(left, right)
        except (Exception, SystemExit) as error:
            raise self._failed(f"raised {_in_words(error)}{_line_in(self.file, error)}") from error

    def _failed(self, what: str) -> RowError:
        return RowError(RejectCode.METRIC_FAILED, f"metric {self.name!r} of {self.file!r} {what}")


def own_metric(
    *,
    reads: Reads,
    number: Callable[[Statistics], Numbers] | None = None,
    range: tuple[float, float] = (0.0, 1.0),  # noqa: A002  # the word of `Metric`
    symmetric: bool = True,
    vacuous: float | None = 1.0,
) -> Callable[[Callable[[Any, Any], Any]], OwnMetric]:
    """Turn a function of two items into a metric.

    Args:
        reads: which item of each sentence the function receives: "graphs", "sentences", "dependencies" or "srl".
        number: for a function that returns counts: turns them into a score. With `features.metrics.metric.f1` and
            counts (matched, left, right) the metric also has precision and recall, and adds up over a corpus.
        range: lowest and highest value, within [-1, 1].
        symmetric: whether both orders of a pair have the same value; this is checked on some pairs.
        vacuous: value if the function returns None, because neither side has what it compares.

    Raises:
        SettingsError: there is nothing of that kind to read, or name, range or vacuous value make no sense.
    """

    def wrap(function: Callable[[Any, Any], Any]) -> OwnMetric:
        return OwnMetric(
            name=function.__name__,
            summary=(function.__doc__ or "").strip().partition("\n")[0],
            reads=reads,
            function=function,
            number=number,
            range=range,
            symmetric=symmetric,
            vacuous=vacuous,
            file=inspect.unwrap(function).__code__.co_filename,  # one that is cached has no code of its own
        )

    return wrap


def _in_words(error: BaseException) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _line_in(file: str, error: BaseException) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" in line {lines[-1]}" if lines else ""


class MetricFile(Closed):
    """A file with metrics: its path, for messages, and its Python code."""

    path: str
    source: str

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with any character of the file."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


class OwnMetrics(Closed):
    """Files with a project's own metrics, in the order of the project file: settings of the measure stage.

    They are read once by the flow, sent by content, and loaded in every measuring process. Workers need not see the
    files, and an edit during a build has no effect on it. What a file imports has to be installed where it is loaded;
    another file next to it would neither be sent nor be part of the recipe.
    """

    files: tuple[MetricFile, ...] = ()

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Self:
        """Read files with metrics, without running them; an InputError if one cannot be read."""
        files = []
        for path in paths:
            with open_text(path) as text:
                files.append(MetricFile(path=str(path), source=text.read()))
        return cls(files=tuple(files))

    def load(self) -> tuple[OwnMetric, ...]:
        """Run the files and return their metrics, in order."""
        metrics: dict[str, OwnMetric] = {}
        for metric in (metric for file in self.files for metric in _load(file)):
            if metric.name in metrics:
                other = metrics[metric.name].file
                raise NameTaken(f"metric {metric.name!r} is in {other!r} and in {metric.file!r}; rename one of them")
            metrics[metric.name] = metric
        return tuple(metrics.values())


@cache
def _load(file: MetricFile) -> tuple[OwnMetric, ...]:
    # In sys.modules, because dataclasses and typing look up the module of a class.
    module = ModuleType(f"facetflow_own_{file.digest}")
    module.__file__ = file.path
    sys.modules[module.__name__] = module
    try:
        exec(compile(file.source, file.path, "exec"), module.__dict__)  # noqa: S102  # the user's own code is asked for
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise MetricWrong(_cannot_run(file, error)) from error
    made = dict.fromkeys(value for value in module.__dict__.values() if isinstance(value, OwnMetric))
    metrics = tuple(replace(metric, digest=file.digest) for metric in made)
    if not metrics:
        raise FileEmpty(f"the metric file {file.path!r} has no metric; put @own_metric(reads=...) above a function")
    return metrics


def _cannot_run(file: MetricFile, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"the metric file {file.path!r} cannot be read as Python: {error.msg} in line {error.lineno}"
    what = str(error) if isinstance(error, FacetflowError) else _in_words(error)
    hint = "; it may import what is installed, not files beside it" if isinstance(error, ImportError) else ""
    return f"the metric file {file.path!r} cannot be run{_line_in(file.path, error)}: {what}{hint}"
