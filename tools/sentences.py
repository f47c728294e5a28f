"""`with refused(FileMissing):` asks for a fault, and for the sentence that `tests/sentences.json` has for the test.

A change of a sentence shows there: `pytest --update-sentences` writes it anew, for the tests that are run. What varies
from run to run (folders, processes, ports, digests, versions) is a word in angle brackets.
"""

import fcntl
import json
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import currently_in_test_context
from pydantic import ValidationError

from features.core.errors import FacetflowError
from features.core.faults import MissingKey, SeveralFaults, UnknownKey, WrongValue

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "sentences.json"
_VARIES = [
    (re.escape(sys.prefix), "<venv>"),
    (re.escape(str(ROOT)), "<root>"),
    (r"[^\s'\"(]*/pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[^/'\s]+", "<tmp>"),
    (rf"(?<![\w>]){re.escape(tempfile.gettempdir())}/[\w.-]+", "<tmp>"),
    (re.escape(str(Path.home())), "<home>"),
    (rf"\b{re.escape(socket.gethostname())}\b", "<host>"),
    (r"<host>:\d+(-[0-9a-f]+)?", "<host>:<n>"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\.(pull|facetflow-\w+)-\w+", r".\1-<n>"),
    (r"\b(0x)?[0-9a-f]{12,}\b", "<digest>"),
    (r"\bprocess \d+", "process <n>"),
    (r"\b\d+\.\d+\.\d+(\.\d+)*\b", "<version>"),
    (r"(?<!\d)\d{4,}(?!\d)|\b\d+\.\d{3,}\b", "<n>"),
    (r"\b[\d.]+ GiB", "<n> GiB"),
]
_expected: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
_updated: dict[tuple[str, str], list[str]] | None = None


def update() -> None:
    """Take the sentences of this test run as those that are expected."""
    global _updated  # noqa: PLW0603 (pytest's option is read once)
    _updated = {}


@contextmanager
def refused(fault: type[FacetflowError]) -> Iterator["pytest.ExceptionInfo[Any]"]:
    """Expect a fault, or pydantic's error where settings are checked, and its sentence, which is on one line.

    Args:
        fault: the class, exactly.
    """
    with pytest.raises((FacetflowError, ValidationError)) as caught:
        yield caught
    error = caught.value
    faults = [_fault(problem) for problem in error.errors()] if isinstance(error, ValidationError) else [error]
    if fault not in map(type, faults):
        raise AssertionError(f"expected {fault.__name__}") from error
    sentence = next(each for each in faults if type(each) is fault).with_code()
    if "\n" in sentence and fault is not SeveralFaults:
        raise AssertionError(f"more than one line: {sentence}")
    check(sentence)


def told(output: str, fault: type[FacetflowError]) -> bool:
    """Return whether a command ended with a fault, with its sentence.

    Args:
        output: what the command wrote to standard error.
        fault: the class.
    """
    ended = re.search(rf"^facetflow: ((?:(?!^facetflow: ).)*?\({fault.code}\).?)$", output, re.DOTALL | re.MULTILINE)
    if ended:
        check(ended[1])
    return ended is not None


def _fault(problem: Any) -> FacetflowError:
    """Return the fault for a problem of pydantic, as `flows.project_errors` does for that of a project file."""
    if isinstance(error := problem.get("ctx", {}).get("error"), FacetflowError):
        return error
    fault = {"extra_forbidden": UnknownKey, "missing": MissingKey}.get(problem["type"], WrongValue)
    return fault(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}")


def check(sentence: str) -> None:
    """Compare a sentence with those of the running test.

    Args:
        sentence: what a user reads, with the code. Those of property tests are about drawn values, and not compared.
    """
    if currently_in_test_context():
        return
    for pattern, word in _VARIES:
        sentence = re.sub(pattern, word, sentence)
    file, _, test = os.environ["PYTEST_CURRENT_TEST"].removeprefix("tests/").rpartition(" ")[0].partition("::")
    if _updated is not None:
        sentences = _updated.setdefault((file, test), [])
        if sentence not in sentences:
            sentences.append(sentence)
    elif sentence not in (expected := _expected.get(file, {}).get(test, [])):
        raise AssertionError(f"new sentence (see --update-sentences): {sentence}\nexpected: {' | '.join(expected)}")


def write() -> None:
    """Write what was updated; every process of a test run does so at its end."""
    if not _updated:
        return
    with FILE.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        content: dict[str, dict[str, list[str]]] = json.loads(file.read() or "{}")
        for (name, test), sentences in _updated.items():
            content.setdefault(name, {})[test] = sentences
        file.truncate(0)
        ordered = {name: dict(sorted(tests.items())) for name, tests in sorted(content.items())}
        file.write(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")
