"""Files with a project's own metrics: read once by the flow, sent by content, loaded in every measuring process.

Workers need not see the file, and an edit during a build has no effect on it. What a file imports has to be installed
where it is loaded; another file next to it would neither be sent nor be part of the recipe.
"""

import hashlib
import sys
import traceback
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel, ConfigDict

from features.core.errors import FacetflowError
from features.core.faults import FileEmpty, FileUnreadable, MetricFileWrong, NameTaken
from features.metrics.own import OwnMetric


class MetricFile(BaseModel):
    """The content of a file with metrics.

    Args:
        path: its path, for messages.
        source: its Python code.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    source: str

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with any character of the file."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]


class OwnMetrics(BaseModel):
    """A project's own metrics: settings of the measure stage.

    Args:
        files: the files, in the order of the project file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: tuple[MetricFile, ...] = ()

    def load(self) -> tuple[OwnMetric, ...]:
        """Return the metrics of all files; see `load_files`."""
        return load_files(self.files)


def read_metric_file(path: Path) -> MetricFile:
    """Read a file with metrics, without running it.

    Raises:
        InputError: when it cannot be read.
    """
    try:
        return MetricFile(path=str(path), source=path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FileUnreadable(
            f"The metric file {str(path)!r} cannot be read ({reason}); check its path, `own` under [metrics] or "
            "--metric-file."
        ) from error


def load_files(files: Iterable[MetricFile]) -> tuple[OwnMetric, ...]:
    """Run files and return their metrics, in order.

    Raises:
        InputError: when a file cannot be run or has no metric.
        SettingsError: when two metrics have the same name.
    """
    metrics: dict[str, OwnMetric] = {}
    for metric in (metric for file in files for metric in _load(file)):
        if metric.name in metrics:
            raise NameTaken(
                f"metric {metric.name!r} is in {metrics[metric.name].file!r} and in {metric.file!r}; rename one of them"
            )
        metrics[metric.name] = metric
    return tuple(metrics.values())


@cache
def _load(file: MetricFile) -> tuple[OwnMetric, ...]:
    # In sys.modules, because dataclasses and typing look up the module of a class.
    module = ModuleType(f"facetflow_own_{file.digest}")
    module.__file__ = file.path
    module.__dict__["__facetflow_digest__"] = file.digest
    sys.modules[module.__name__] = module
    try:
        exec(compile(file.source, file.path, "exec"), module.__dict__)  # noqa: S102  # the user's own code is asked for
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise MetricFileWrong(_cannot_run(file, error)) from error
    found = tuple(value for value in module.__dict__.values() if isinstance(value, OwnMetric))
    if not found:
        raise FileEmpty(f"the metric file {file.path!r} has no metric; put @own_metric(reads=...) above a function")
    return found


def _cannot_run(file: MetricFile, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"the metric file {file.path!r} cannot be read as Python: {error.msg} in line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file.path]
    where = f" in line {lines[-1]}" if lines else ""
    what = str(error) if isinstance(error, FacetflowError) else f"{type(error).__name__}: {error}"
    hint = "; it may import what is installed, not files beside it" if isinstance(error, ImportError) else ""
    return f"the metric file {file.path!r} cannot be run{where}: {what}{hint}"
