"""Errors in a project file, in the words of a user: every key once, with what is expected there.

    pydantic                                            a user
    ('corpora', 0, 'columns', 'sentence_1', '[key]')    the key `corpora[1].columns.sentence_1` is unknown: did you …
    ('corpora', 0, 'files', 'train', 'str')         ┐
    ('corpora', 0, 'files', 'train', 'tuple[…]')    ┘   `corpora[1].files.train` = 3 is wrong: give text … or a list …

The words for what is expected come from the annotation of the key, found by following the location.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MinLen
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from features.core.errors import SettingsError
from features.core.faults import MissingKey, NoProjectFile, NotToml, SeveralFaults, UnknownKey, WrongValue
from features.core.wording import clipped

_ADVICE: dict[str | tuple[str, ...], str] = {
    "Invalid value": "write text in double quotes, and true or false in small letters",
    ("Invalid statement", "Expected '=' after a key"): "a line is `key = value`, a `[section]`, or a comment after #",
    "Expected newline": "write one `key = value` on a line, and text in double quotes",
    "Illegal character": "close the text with a double quote on the same line",
    ("Unescaped '\\'", "Invalid hex value"): "write a path with / or in single quotes, which keep a \\ as it is",
    "Cannot overwrite": "the key or section exists already, remove one of the two",
    "Cannot declare": "the section exists already, merge the two",
    "Duplicate inline table key": "remove one of the two",
    "Unclosed": "close every bracket, and write a table in { … } on one line",
    "Expected ']": "close the brackets of the section",
    "Invalid initial character": "a key is letters, digits, _ and -; { … } is on one line, with no comma at its end",
    "Unterminated string": "close the text with the quotes that opened it",
}
"""Beginning of what `tomllib` says, or several → what to do."""

_EXPECTED = {
    "name": "letters, digits, `_`, `.` and `-` only",
    "device": '"auto", "cpu", "cuda" or "cuda:N"',
    "memory_limit": 'a size in double quotes, such as "4GiB"',
}
"""What a key with a pattern expects, in words instead of the pattern."""

_TO_ADD = {
    "name": 'add name = "…" at the top of the file',
    "dataset": 'add dataset = "pairs" for your own table, or the name of a known dataset',
}


def not_found(path: Path) -> SettingsError:
    """Return the error for a missing project file; it names one in a folder above, if there is one."""
    above = [folder / path.name for folder in path.absolute().parent.parents if (folder / path.name).is_file()]
    advice = ": make one with `facetflow new FOLDER`, or name one with --project"
    if path.is_absolute():  # as a server has it
        advice = ": correct the path; if it is a server's project that was moved, run `facetflow up` in its new folder"
    if above:
        advice = f"; the nearest is {str(above[0])!r}: go to that folder, or name it with --project"
    return NoProjectFile(f"There is no project file {str(path)!r}{advice}.")


def not_text(path: Path, error: UnicodeDecodeError) -> SettingsError:
    """Return the error for a project file in another encoding."""
    line = error.object[: error.start].count(b"\n") + 1
    return NotToml(
        f"The project file {str(path)!r} cannot be read: its line {line} is not UTF-8 (byte "
        f"{error.object[error.start]:#04x}); save it as UTF-8."
    )


def not_toml(path: Path, content: str, error: tomllib.TOMLDecodeError) -> SettingsError:
    """Return the error for a project file that is not TOML, with the line where reading stopped."""
    what, _, position = str(error).partition(" (at ")
    match = re.match(r"line (\d+), column (\d+)", position)
    lines = content.rstrip().split("\n")
    number = min(int(match[1]), len(lines)) if match else len(lines)
    column = f", column {match[2]}" if match and int(match[1]) == number else ""
    advice = next((advice for start, advice in _ADVICE.items() if what.startswith(start)), "correct the line")
    if what == "Invalid value" and not match:
        advice = "the file ends within a value, close every bracket and quote"
    # A section is a tuple of names there.
    what = re.sub(r"\('(.*?)',?\)", lambda names: "[" + names[1].replace("', '", ".") + "]", what)
    return NotToml(
        f"The project file {str(path)!r} cannot be read: {what[:1].lower()}{what[1:]} in line {number}{column}, "
        f"`{clipped(lines[number - 1].strip())}`; {advice}."
    )


def wrong_settings(path: Path, model: type[BaseModel], error: ValidationError) -> SettingsError:
    """Return the error for a project file that is TOML but not what its model expects: a line for each problem."""
    problems = error.errors()
    around = {problem["loc"][:length] for problem in problems for length in range(len(problem["loc"]))}
    # A list that lost its wrong items is also reported as too short: only the innermost problem counts.
    problems = [problem for problem in problems if problem["loc"] not in around]
    faults: dict[str, tuple[type[SettingsError], str]] = {}
    for problem in problems:
        location = _follow(model, problem["loc"])
        faults.setdefault(location.key, _judge(location, model, problem))
    if len(faults) == 1:
        ((fault, sentence),) = faults.values()
        return fault(f"In {str(path)!r} {sentence}")
    lines = "".join(f"\n  {sentence}" for _, sentence in faults.values())
    return SeveralFaults(f"In {str(path)!r} {len(faults)} things are wrong:{lines}")


class _Location(NamedTuple):
    """The names and positions, from 0, of a place in the file, and the annotation of what belongs there.

    Where the key itself is wrong, the annotation is None, and `keys` are those of the table.
    """

    parts: tuple[str | int, ...]
    annotation: Any
    keys: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The place as a user would write it, such as `corpora[1].files.train`; list items count from 1."""
        text = ""
        for part in self.parts:
            text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
        return text


def _section(parts: Sequence[str | int]) -> str:
    """Return the name of a section in TOML, where it belongs to the item of a list that is above it."""
    return ".".join(part for part in parts if isinstance(part, str))


def _follow(model: type[BaseModel], location: Sequence[int | str]) -> _Location:
    """Follow a location through models, mappings and lists, to the first choice between types or the wrong key."""
    annotation: Any = model
    keys: tuple[str, ...] = ()
    parts: list[str | int] = []
    for part in location:
        annotation = bare(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if part == "[key]":
            return _Location(tuple(parts), None, keys)
        if origin in {Union, UnionType}:
            if (chosen := kinds_of(annotation).get(str(part))) is None:
                break  # the part only says which type was tried
            annotation = chosen
            continue
        keys = ()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel) and isinstance(part, str):
            keys = tuple(annotation.model_fields)
            field = annotation.model_fields.get(part)
            annotation = Annotated[field.annotation, field] if field else None
        elif origin is tuple and isinstance(part, int):
            if Ellipsis not in arguments:
                break  # such as a pair: the whole is expected
            annotation = arguments[0]
        elif isinstance(origin, type) and issubclass(origin, Mapping):
            keys = get_args(bare(arguments[0]))
            annotation = arguments[1]
        else:
            break
        parts.append(part)
    return _Location(tuple(parts), annotation, keys)


def kinds_of(annotation: Any) -> dict[str, type[BaseModel]]:
    """Return kind → settings of a section whose `kind` determines its other keys; empty for any other annotation."""
    annotation = bare(annotation)
    models = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
    kinds: dict[str, type[BaseModel]] = {}
    for model in models:
        of_kind = model.model_fields.get("kind") if isinstance(model, type) and issubclass(model, BaseModel) else None
        if of_kind is None:
            return {}
        kinds |= {str(kind): model for kind in get_args(of_kind.annotation)}
    return kinds


def bare(annotation: Any) -> Any:
    """Return an annotation without its constraints, and without the None of an optional key."""
    origin = get_origin(annotation)
    others = [argument for argument in get_args(annotation) if argument is not NoneType]
    if origin is Annotated or (origin in {Union, UnionType} and len(others) == 1):
        return bare(others[0])
    return annotation


def _judge(location: _Location, model: type[BaseModel], problem: Any) -> tuple[type[SettingsError], str]:
    """Return what kind of fault a problem at a place is, and the sentence for it."""
    key, last = location.key, location.parts[-1] if location.parts else ""
    if location.keys and location.annotation is None:
        return UnknownKey, f"the key `{key}` is unknown: {_hint(str(last), location, model)}"
    if problem["type"] == "missing" and problem["loc"][-1] == last:
        return MissingKey, f"the key `{key}` is missing: {_TO_ADD.get(str(last), 'add it')}."
    if problem["type"] == "union_tag_not_found":
        kinds = " or ".join(f'kind = "{kind}"' for kind in kinds_of(location.annotation))
        return MissingKey, f"the key `{key}.kind` is missing: add {kinds}."
    if problem["type"] in {"value_error", "assertion_error"}:
        raised = problem.get("ctx", {}).get("error")
        message = problem["msg"].partition(", ")[2].rstrip(".")
        sentence = f"{f'`{key}`: ' if key else ''}{message}{'' if message.endswith('?') else '.'}"
        return type(raised) if isinstance(raised, SettingsError) else WrongValue, sentence
    given = problem["input"]
    if problem["type"] == "union_tag_invalid":
        of_kind: Any = Literal.__getitem__(tuple(kinds_of(location.annotation)))
        location, given = _Location((*location.parts, "kind"), of_kind), problem["ctx"]["tag"]
        key = location.key
    several = is_repeated(location.annotation)
    if isinstance(given, Mapping) and several:
        wrong = f"`[{key}]` is wrong: write its name in double brackets, `[[{key}]]`, since there may be several."
    elif isinstance(given, list) and isinstance(last, str) and sections_in(location.annotation) and not several:
        name = _section(location.parts)
        wrong = f"`[[{name}]]` is wrong: write its name in single brackets, `[{name}]`, since there is only one."
    else:
        expected, shown = _expected(location, given), "" if problem["type"] == "missing" else _shown(given)
        wrong = f"`{key}`{shown} is wrong: give {expected}{'' if expected.endswith('?') else '.'}"
    return MissingKey if problem["type"] == "missing" else WrongValue, wrong


def _hint(name: str, location: _Location, model: type[BaseModel]) -> str:
    close = difflib.get_close_matches(name, location.keys, n=2)
    if close:
        return f"did you mean {' or '.join(f'`{key}`' for key in close)}?"
    fields = {section: field.annotation for section, field in model.model_fields.items()}
    if len(location.parts) > 1 and name in fields:
        if sections_in(fields[name]):
            return f"it is its own section, `{_title(name, fields[name])}`."
        return "it belongs at the top of the file, before the first section."
    around = _section(location.parts[:-1])
    kinds = [f'"{kind}"' for kind, inner in sections_in(fields.get(around)).items() if name in inner.model_fields]
    if kinds:
        return f"it is a key of kind {' or '.join(kinds)}; leave it out."
    homes = {home: annotation for home, annotation in _homes(name, fields).items() if home.startswith(around)}
    if homes:
        return f"it belongs {' or '.join(_there(*home, fields) for home in homes.items())}."
    return f"known keys are {', '.join(f'`{key}`' for key in location.keys)}."


def _homes(name: str, fields: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return the sections in which a key is known, those within sections too; `encoders.loop` is one in a list."""
    homes: dict[str, Any] = {}
    for section, annotation in fields.items():
        for inner_model in sections_in(annotation).values():
            inner = {key: field.annotation for key, field in inner_model.model_fields.items()}
            if name in inner:
                homes[above + section] = annotation
            homes |= _homes(name, inner, f"{above}{section}.")
    return homes


def _there(home: str, annotation: Any, fields: Mapping[str, Any]) -> str:
    section, _, inner = home.partition(".")
    if inner and is_repeated(fields[section]):
        return f"in `{inner} = {{ … }}` of [[{section}]]"
    return f"below {_title(home, annotation)}"


def _title(section: str, annotation: Any) -> str:
    return f"[[{section}]]" if is_repeated(annotation) else f"[{section}]"


def _shown(given: Any) -> str:
    """Return the wrong value in TOML notation; empty for a whole table."""
    if isinstance(given, bool):
        return f" = {str(given).lower()}"
    if given is None or isinstance(given, Mapping) or len(repr(given)) > 80:
        return ""
    return f" = {given!r}"


def _expected(location: _Location, given: Any) -> str:
    last = str(location.parts[-1]) if location.parts else ""
    if last in _EXPECTED and isinstance(given, str):
        return _EXPECTED[last]
    if is_repeated(location.annotation):
        return f"a section `[[{location.key}]]` for each"
    if sections_in(location.annotation):
        name = _section(location.parts)
        return f"a section `[[{name}]]`" if location.key.endswith("]") else f"a section `[{name}]`"
    expected = words(location.annotation)
    if isinstance(given, float) and not isfinite(given):
        expected = expected.replace("a number", "a finite number")
    choices = [choice for choice in get_args(bare(location.annotation)) if isinstance(choice, str)]
    close = difflib.get_close_matches(given, choices, n=1) if isinstance(given, str) else []
    return f'{expected}; did you mean "{close[0]}"?' if close else expected


def words(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Return what an annotation expects, in words."""
    if get_origin(annotation) is Annotated:
        return words(get_args(annotation)[0], get_args(annotation)[1:])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in {Union, UnionType}:
        unsaid = {NoneType, int} if float in arguments else {NoneType}  # a whole number is a number
        return " or ".join(words(argument, metadata) for argument in arguments if argument not in unsaid)
    if origin is Literal:
        *others, last = [f'"{choice}"' for choice in arguments]
        return f"{', '.join(others)} or {last}" if others else last
    if origin is tuple:
        count = "" if Ellipsis in arguments else f" of {len(arguments)}"
        return f"a list{count} in square brackets, each item {words(arguments[0])}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a table {_entries(*arguments)}"
    simple = {int: "a whole number", float: "a number", bool: "true or false", Path: "a path in double quotes"}
    return f"{simple.get(annotation, 'text in double quotes')}{_bounds(metadata)}"


def _entries(key: Any, value: Any) -> str:
    if keys := get_args(bare(key)):
        return f"with some of the keys {', '.join(map(str, keys))}, such as {{ {keys[0]} = … }}"
    return "of texts" if value is str else f"with, for each key, {words(value)}"


def _bounds(metadata: Iterable[Any]) -> str:
    words: list[str] = []
    for bound in metadata:
        match bound:
            case FieldInfo():
                words += filter(None, [_bounds(bound.metadata).strip()])
            case MinLen():
                words.append("that is not empty")
            case Ge(ge=least):
                words.append(f"of at least {least}")
            case Gt(gt=least):
                words.append(f"above {least}")
            case Le(le=most):
                words.append(f"at most {most}")
            case Lt(lt=most):
                words.append(f"below {most}")
    return f" {' and '.join(words)}" if words else ""


def sections_in(annotation: Any) -> dict[str, type[BaseModel]]:
    """Return kind → model of the section, or of each of several, that a key holds; kind "" if it has none.

    Of any other key, nothing.
    """
    annotation = bare(annotation)
    item = bare(get_args(annotation)[0]) if get_origin(annotation) is tuple else annotation
    if kinds := kinds_of(item):
        return kinds
    return {"": item} if isinstance(item, type) and issubclass(item, BaseModel) else {}


def is_repeated(annotation: Any) -> bool:
    """Return whether a key holds any number of sections, as [[corpora]] does."""
    return get_origin(bare(annotation)) is tuple and bool(sections_in(annotation))
