"""What a project file may contain, from the models that check it: its JSON schema, and the meaning of every key.

docstrings of the models (Args) ─┐
fields: types, bounds, defaults ─┴──> facetflow.schema.json, for editors (Taplo, VS Code)
                                 └──> docs/reference/project_file.md, for readers
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel

from flows.project import Project
from flows.project_errors import is_repeated, sections_in, words
from training.kinds import KINDS

SCHEMA_FILE = "facetflow.schema.json"
"""File next to a project file, whose first line names it."""
_ENTRY = re.compile(r"^    (\w+): (.*)$")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a section: its valid values in words, its meaning, and its default as TOML.

    The default is empty if there is none, None if the key is required.
    """

    name: str
    kind: str
    default: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Section:
    """One section, with its keys except the sections below it.

    The title is as in the file: `[amr]`, `[[corpora]]`, or the key of a table within a section; empty for the top.
    """

    title: str
    about: str
    keys: tuple[Key, ...]


def sections() -> list[Section]:
    """Return all sections of the project file with all keys, in the order of the models."""
    return list(_sections("", Project, Project.model_construct(name="", corpora=()), "", once=True))


def _sections(title: str, model: type[BaseModel], usual: BaseModel, path: str, *, once: bool) -> Iterator[Section]:
    meaning_of = meanings(model)
    keys, inner = [], []
    for name, field in model.model_fields.items():
        kind, repeated = words(field.annotation, field.metadata), is_repeated(field.annotation)
        if tables := sections_in(field.annotation):
            inner.append((name, tables, repeated))
            kind = "a list of tables, each as below" if repeated else "a table, as below"
            if once:
                continue
        needed = field.is_required() or name == "kind"  # each model has a default, but a file has to choose
        keys.append(Key(name, kind, None if needed else toml(getattr(usual, name)), meaning_of[name]))
    yield Section(title, _about(model), tuple(keys))
    for name, tables, repeated in inner:
        below = f"{path}.{name}" if path else name
        for kind, of_kind in tables.items():
            shown = f"[[{below}]]" if repeated else f"[{below}]"
            if kind:
                shown = f'{shown} with kind = "{kind}"'
            elif not once:
                above, of_above, its_kind = title.partition(" with ")
                shown = f"{above}, table `{name}`{of_above}{its_kind}"
            # An optional table has its own defaults.
            defaults = usual_of(of_kind) if kind or repeated else getattr(usual, name) or usual_of(of_kind)
            yield from _sections(shown, of_kind, defaults, below, once=False)


def usual_of(model: type[BaseModel]) -> BaseModel:
    """Return a model with its default values; required values are missing."""
    if "kind" in model.model_fields:
        kind = get_args(model.model_fields["kind"].annotation)[0]
        return model.model_validate({"name": kind, "kind": kind})
    return model.model_construct()


def meanings(model: type[BaseModel]) -> dict[str, str]:
    """Return key → its description in the docstring, in one line; base models are included."""
    meaning_of: dict[str, str] = {}
    for one in reversed(model.__mro__):
        name = None
        for line in inspect.cleandoc(one.__dict__.get("__doc__") or "").splitlines():
            if entry := _ENTRY.match(line):
                name, meaning_of[entry[1]] = entry[1], entry[2]
            elif name and line.startswith("        "):
                meaning_of[name] += f" {line.strip()}"
            elif line.strip():
                name = None
    if "kind" in model.model_fields:
        meaning_of["kind"] = "the kind of encoder, which determines the other keys."
    return {key: _in_toml(text) for key, text in meaning_of.items()}


def _in_toml(text: str) -> str:
    """Return the text of a docstring in the terms of a project file, which has no None."""
    text = re.sub(r"\bNone(?= (?:leaves|makes|means|measures)\b)", "a missing key", text)
    return text.replace("True", "`true`").replace("False", "`false`")


def toml(value: Any) -> str:
    """Return a value in TOML notation, empty for None."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {toml(item)}' for key, item in value.items())} }}" if value else "{ }"
    return "" if value in (None, "") or isinstance(value, BaseModel) else f'"{value}"'


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of the project file, with which editors complete and check keys while typing."""
    schema = Project.model_json_schema()
    models = {model.__name__: model for model in _models(Project)}
    for name, definition in (("Project", schema), *schema["$defs"].items()):
        model = models[name]
        definition["description"] = _about(model)
        for key, meaning in meanings(model).items():
            if key in definition["properties"]:
                definition["properties"][key]["description"] = meaning
    for kind in KINDS.values():
        _complete(schema, kind.settings)
    schema["title"] = "facetflow.toml"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema


def schema_text() -> str:
    """Return the JSON schema as a file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _complete(schema: dict[str, Any], settings: type[BaseModel]) -> None:
    """Give a kind of encoder its actual defaults, in its loop too, and make its `kind` required."""
    usual = usual_of(settings)
    definition = schema["$defs"][settings.__name__]
    own = f"{settings.__name__}Loop"
    loop = schema["$defs"][own] = {**schema["$defs"]["LoopSettings"]}
    loop["properties"] = {name: {**value} for name, value in loop["properties"].items()}
    definition["properties"]["loop"] = {**definition["properties"]["loop"], "$ref": f"#/$defs/{own}"}
    for of_table, values in (
        (definition, usual.model_dump(mode="json")),
        (loop, usual.model_dump(mode="json")["loop"]),
    ):
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


def _about(model: type[BaseModel]) -> str:
    return (inspect.getdoc(model) or "").partition("\n")[0]
