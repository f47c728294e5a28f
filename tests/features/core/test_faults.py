"""Every error has a code that is its own, and a cause and a remedy in docs/reference/errors.md."""

import ast
import json
import pickle
import re
from collections import Counter
from pathlib import Path

import pytest
from errors_page import FAMILIES, cause_and_remedy, every_fault

from features.core.errors import FacetflowError, PartlyDoneError, RowError, SettingsError
from features.core.faults import FileMissing
from features.core.types import RejectCode
from flows.command_line import run

PACKAGES = ("facetflow", "features", "flows", "tasks", "training")


@pytest.fixture(scope="module")
def names_called(root: Path) -> Counter[str]:
    """Return how often each name is called or passed on in the packages, without the catalogue itself."""
    files = [file for package in PACKAGES for file in (root / package).rglob("*.py") if file.name != "faults.py"]
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    used: list[ast.AST | None] = []
    for node in nodes:
        if isinstance(node, ast.Call):
            used.append(node.func)
        elif isinstance(node, ast.Return):
            used += node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    return Counter(node.id for node in used if isinstance(node, ast.Name))


def test_codes_are_unique_and_belong_to_the_family() -> None:
    faults = list(every_fault())
    assert [code for code, count in Counter(fault.code for fault in faults).items() if count > 1] == []
    assert [f for f in faults if not re.fullmatch(r"FF\d{3}", f.code) or f.code[2] != f.__mro__[1].code[2]] == []


def test_only_faults_are_raised_and_each_somewhere(names_called: Counter[str]) -> None:
    assert [family.__name__ for family in FAMILIES if names_called[family.__name__]] == []
    assert [fault.__name__ for fault in every_fault() if not names_called[fault.__name__]] == []


def test_every_fault_has_a_cause_and_a_remedy() -> None:
    for fault in every_fault():
        assert re.fullmatch(r"[A-Zp`].{5,}: .{5,}\.", cause_and_remedy(fault)), fault


def test_a_message_ends_with_the_code() -> None:
    assert FileMissing("x is gone.").with_code() == "x is gone (FF101)."
    assert FileMissing("x is gone").with_code() == "x is gone (FF101)"
    assert issubclass(SettingsError, ValueError)  # validators of pydantic may raise it
    assert PartlyDoneError("one failed", [1]).done == [1]
    assert FacetflowError.code not in {fault.code for fault in every_fault()}


def test_the_command_line_shows_the_code_and_writes_it_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none.tsv"
    assert run(["predict", "--encoder", str(tmp_path), "--pairs", str(missing), "--json"]) == 1
    told = capsys.readouterr()
    fault = json.loads(told.out)["error"]
    assert fault["code"] in {each.code for each in every_fault()}
    assert told.err.rstrip().endswith((f"({fault['code']}).", f"({fault['code']})"))
    assert fault["code"] not in fault["message"]
    assert run(["build", "--no-such-option", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "FF001"


def test_an_error_about_a_row_reaches_the_process_that_asked() -> None:
    told = pickle.loads(pickle.dumps(RowError(RejectCode.NO_GRAPH, "there is none")))  # as a pool of processes does
    assert (told.code, str(told)) == (RejectCode.NO_GRAPH, "there is none")
