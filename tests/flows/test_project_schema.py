"""Keys of a project file: the page and the schema have every key of every model, with its meaning."""

import copy
import json
import subprocess
import sys
import tomllib
from typing import get_args

import jsonschema
import pytest
from project_page import sections
from pydantic import BaseModel, ValidationError

from flows.project import Project
from flows.project_schema import schema_text
from training.encoders.s3bert.settings import S3bertSettings
from training.kinds import KINDS
from training.loop.settings import LoopSettings

CORPUS = {"dataset": "pairs", "name": "mine", "files": {"train": "a.tsv"}}
ENCODER = {"name": "syntax", "kind": "s3bert"}


def keys_of_all_models() -> set[tuple[str, str]]:
    """Return (model, key) of everything below the project file, by walking the annotations."""
    found: set[tuple[str, str]] = set()
    left: list[object] = [Project]
    while left:
        one = left.pop()
        if isinstance(one, type) and issubclass(one, BaseModel):
            found |= {(one.__name__, name) for name in one.model_fields}
            left += [field.annotation for field in one.model_fields.values()]
        else:
            left += get_args(one)
    return found


def test_the_page_is_current(root):
    done = subprocess.run(
        [sys.executable, root / "tools" / "project_page.py", "--print"], capture_output=True, text=True, check=True
    )
    assert (root / "docs/reference/project_file.md").read_text() == done.stdout, "run python tools/project_page.py"


def test_the_page_tells_each_key_once(root):
    told = (root / "docs/reference/project_file.md").read_text().partition("## Presets")[0]
    rows = [line for line in told.splitlines() if line.startswith("| `")]
    assert len(set(rows)) == len(rows)


def test_the_schema_names_no_page_of_the_repository():
    assert "docs/" not in schema_text()


def test_the_page_has_every_key_of_every_section_with_its_meaning():
    told = sections()
    assert all(key.meaning and key.kind for section in told for key in section.keys)
    shown = {section.title: {key.name for key in section.keys} for section in told}
    inner = {"CorpusSettings", "EvaluationSet", "LoopSettings", *(kind.settings.__name__ for kind in KINDS.values())}
    top = {name for model, name in keys_of_all_models() if model == "Project"}
    assert {title.strip("[]").partition("]")[0] for title in shown} | shown[""] >= top
    everything = {(model, name) for model, name in keys_of_all_models() if model != "Project"}
    titles = {
        "CorpusSettings": "[[corpora]]",
        "EvaluationSet": "[[evaluation]]",
        "S3bertSettings": '[[encoders]] with kind = "s3bert"',
        "AspectSettings": '[[encoders]] with kind = "aspect"',
        "RgcnSettings": '[[encoders]] with kind = "rgcn"',
        "PasSettings": '[[encoders]] with kind = "pas"',
        "LoopSettings": '[[encoders]], table `loop` with kind = "s3bert"',
    }
    for model in inner:
        assert {name for known, name in everything if known == model} == shown[titles[model]]
    for name, field in Project.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            assert set(model.model_fields) == shown[f"[{name}]"]


def test_defaults_are_those_that_hold():
    told = {section.title: {key.name: key.default for key in section.keys} for section in sections()}
    of_loop = told['[[encoders]], table `loop` with kind = "s3bert"']
    usual = S3bertSettings().loop
    assert of_loop["epochs"] == str(usual.epochs) != str(LoopSettings().epochs)
    assert told["[leakage]"]["mode"] == '"drop"'
    assert told[""]["name"] is None
    assert told['[[encoders]] with kind = "s3bert"']["kind"] is None
    for section in told.values():
        for default in filter(None, section.values()):
            tomllib.loads(f"x = {default}")


@pytest.fixture(scope="module")
def schema():
    return json.loads(schema_text())


def test_the_schema_describes_every_key(schema):
    models = {"Project": schema, **schema["$defs"]}
    for model, name in keys_of_all_models():
        described = models[model]["properties"][name]
        assert described["description"], (model, name)
    loop = schema["$defs"]["S3bertSettingsLoop"]["properties"]
    assert loop["epochs"]["default"] == S3bertSettings().loop.epochs


@pytest.mark.parametrize(
    "change",
    [
        {"zzz": 1},
        {"amr": {"batchsize": 3}},
        {"limits": {"rejected_rows": 2}},
        {"encoders": [{"name": "syntax"}]},
        {"encoders": [ENCODER | {"loop": {"epoch": 3}}]},
        {"encoders": [ENCODER | {"kind": "s4bert"}]},
        {"training": {}},
        {"leakage": {"mode": "of"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_schema_refuses_what_the_file_refuses(schema, change):
    project = {"name": "p", "corpora": [CORPUS], "encoders": [ENCODER]}
    jsonschema.validate(project, schema)
    Project.model_validate(project)
    wrong = copy.deepcopy(project) | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema)
    with pytest.raises(ValidationError):
        Project.model_validate(wrong)
