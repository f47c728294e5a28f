"""What a project file may contain, from the models that check it: its JSON schema, and the meaning of every key.

docstrings of the models (Args) ─┐
fields: types, bounds, defaults ─┴──> facetflow.schema.json, for editors (Taplo, VS Code)
                                 └──> docs/reference/project_file.md, for readers
"""

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from flows.project import Project
from flows.project_errors import sections_in
from training.kinds import KINDS

SCHEMA_FILE = "facetflow.schema.json"
"""File next to a project file, whose first line names it."""
_ENTRY = re.compile(r"^    (\w+): (.*)$")


def usual_of(model: type[BaseModel]) -> BaseModel:
    """Return a model with its default values; required values are missing."""
    if "kind" in model.model_fields:
        kind = get_args(model.model_fields["kind"].annotation)[0]
        return model.model_validate({"name": kind, "kind": kind})
    return model.model_construct()


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return key → its description in the docstring, in one line; base models are included."""
    meaning_of: dict[str, str] = {}
    for base in reversed(model.__mro__):
        name = None
        for line in inspect.cleandoc(base.__dict__.get("__doc__") or "").splitlines():
            if entry := _ENTRY.match(line):
                name, meaning_of[entry[1]] = entry[1], entry[2]
            elif name and line.startswith("        "):
                meaning_of[name] += f" {line.strip()}"
            elif line.strip():
                name = None
    if "kind" in model.model_fields:
        meaning_of["kind"] = "the kind of encoder, which determines the other keys."
    # As a project file writes them.
    return {key: text.replace("True", "`true`").replace("False", "`false`") for key, text in meaning_of.items()}


def schema_text() -> str:
    """Return the JSON schema of the project file, with which editors complete and check keys while typing."""
    schema = Project.model_json_schema()
    models = {model.__name__: model for model in _models(Project)}
    for name, definition in (("Project", schema), *schema["$defs"].items()):
        model = models[name]
        definition["description"] = about(model)
        for key, meaning in meanings(model).items():
            if key in definition["properties"]:
                definition["properties"][key]["description"] = meaning
    for kind in KINDS.values():
        _complete(schema, kind.settings)
    schema["title"] = "facetflow.toml"
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _complete(schema: dict[str, Any], settings: type[BaseModel]) -> None:
    """Give a kind of encoder its actual defaults, in its loop too, and make its `kind` required."""
    usual = usual_of(settings).model_dump(mode="json")
    definition = schema["$defs"][settings.__name__]
    own = f"{settings.__name__}Loop"
    loop = schema["$defs"][own] = {**schema["$defs"]["LoopSettings"]}
    loop["properties"] = {name: {**value} for name, value in loop["properties"].items()}
    definition["properties"]["loop"] = {**definition["properties"]["loop"], "$ref": f"#/$defs/{own}"}
    for of_table, values in ((definition, usual), (loop, usual["loop"])):
        for name, value in of_table["properties"].items():
            if "default" in value and name in values:  # values that are omitted when empty are the same for all kinds
                value["default"] = values[name]
    definition["properties"]["kind"].pop("default", None)
    definition["required"] = sorted({*definition.get("required", ()), "kind"})
    definition["properties"]["loop"].pop("default", None)


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        for inner in sections_in(field.annotation).values():
            yield from _models(inner)


def about(model: type[BaseModel]) -> str:
    """Return the first line of a model's docstring."""
    return (inspect.getdoc(model) or "").partition("\n")[0]
