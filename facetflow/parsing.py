"""Parse sentences: AMR graphs, semantic roles, dependency trees.

    one sentence        its parse; a `RowError` with a code if it has none
    several             a list of the same length; a sentence without a parse has a `Reject` that says why

The first call loads the parser; it stays loaded.
"""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, overload

from facetflow.arguments import Texts, read_texts
from features.core.errors import RowError
from features.core.types import RejectCode
from features.parsers.amr import is_embedded
from features.parsers.dependencies import DependencyTree
from features.parsers.devices import resolve_device
from features.parsers.settings import AmrSettings, DependencySettings, SrlSettings
from features.parsers.srl.frames import SPAN_COLUMNS, SrlParse, frames_of
from features.parsers.texts import Parse, number_sentences, parse_lines
from features.schemas import Reject

__all__ = ["DependencyTree", "SrlParse", "parse_amr", "parse_dependencies", "parse_srl"]

_Parse = TypeVar("_Parse")
_AT_ONCE = 512  # sentences


# The overload for a string comes first and wins, although a string is an iterable of strings too.
@overload
def parse_amr(texts: str, *, model: str | Path = "embedded", device: str = "auto") -> str: ...  # type: ignore[overload-overlap]
@overload
def parse_amr(texts: Texts, *, model: str | Path = "embedded", device: str = "auto") -> list[str | Reject]: ...
def parse_amr(texts: str | Texts, *, model: str | Path = "embedded", device: str = "auto") -> str | list[str | Reject]:
    """Parse sentences into AMR.

    Args:
        texts: a sentence, or several.
        model: `embedded` for the parser that comes with facetflow, the folder of a parser trained like it, or an amrlib
            parser by name or folder.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.

    Returns:
        The graph in PENMAN; for several sentences a list, with a `Reject` for each that has none.

    Raises:
        InputError: a sentence is not a string.
        ModelError: the parser is not on this machine.
        RowError: a single sentence has no parse; `error.code` says why.
        SettingsError: there is no such device.
    """
    from features.parsers.amr import load
    from features.stages.amr import parse_amr as stage

    backend, extra = ("embedded", "encoders") if is_embedded(str(model)) else ("amrlib", "parsers")
    device = resolve_device(device, extra)
    settings = AmrSettings.model_validate({"backend": backend, "model": str(model), "device": device})
    return _parse(texts, lambda rows: stage(rows, load(settings)), lambda row: str(row["penman"]))


@overload
def parse_srl(texts: str, *, model: str | Path = "embedded", device: str = "auto") -> SrlParse: ...  # type: ignore[overload-overlap]
@overload
def parse_srl(texts: Texts, *, model: str | Path = "embedded", device: str = "auto") -> list[SrlParse | Reject]: ...
def parse_srl(
    texts: str | Texts, *, model: str | Path = "embedded", device: str = "auto"
) -> SrlParse | list[SrlParse | Reject]:
    """Parse sentences into semantic roles.

    Args:
        texts: a sentence, or several.
        model: `embedded` for the tagger that comes with facetflow, or another that finds predicates itself, by name or
            path.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.

    Returns:
        `words` and `frames`; each frame has its `predicate` (position of a word) and its `spans` (`label`, `start`,
        `end`). For several sentences a list, with a `Reject` for each that has none.

    Raises:
        FacetflowError: as `parse_amr`.
    """
    from features.parsers.srl.parser import load
    from features.stages.srl import parse_srl as stage

    settings = SrlSettings(model=str(model), device=resolve_device(device, "parsers"))
    return _parse(texts, lambda rows: stage(rows, load(settings)), _frames)


@overload
def parse_dependencies(texts: str, *, model: str | Path = "en_core_web_md") -> DependencyTree: ...  # type: ignore[overload-overlap]
@overload
def parse_dependencies(texts: Texts, *, model: str | Path = "en_core_web_md") -> list[DependencyTree | Reject]: ...
def parse_dependencies(
    texts: str | Texts, *, model: str | Path = "en_core_web_md"
) -> DependencyTree | list[DependencyTree | Reject]:
    """Parse sentences into dependency trees.

    Args:
        texts: a sentence, or several.
        model: name or folder of a spaCy pipeline.

    Returns:
        The tree; for several sentences a list, with a `Reject` for each that has none.

    Raises:
        FacetflowError: as `parse_amr`.
    """
    from features.parsers.dependencies import load
    from features.stages.dependencies import parse_dependencies as stage

    settings = DependencySettings(model=str(model))
    return _parse(texts, lambda rows: stage(rows, load(settings)), _tree)


def _parse(
    texts: str | Texts, stage: Parse, read: Callable[[dict[str, Any]], _Parse]
) -> "_Parse | list[_Parse | Reject]":
    sentences, single = read_texts(texts, "sentence")
    lines = number_sentences(("", text) for text in sentences)
    rows = parse_lines(lines, stage, at_once=_AT_ONCE).iter_rows(named=True)
    parses: list[_Parse | Reject] = [
        read(row) if row["code"] is None else Reject(identity, RejectCode(row["code"]), row["message"])
        for identity, row in zip(lines["sentence_id"], rows, strict=True)
    ]
    if not single:
        return parses
    if isinstance(parses[0], Reject):
        raise RowError(
            parses[0].code, f"{sentences[0][:60]!r} cannot be parsed ({parses[0].code}): {parses[0].message}"
        )
    return parses[0]


def _frames(row: dict[str, Any]) -> SrlParse:
    spans = (row[name] for name in SPAN_COLUMNS)
    return SrlParse(tuple(row["words"]), tuple(frames_of(row["predicates"], *spans)))


def _tree(row: dict[str, Any]) -> DependencyTree:
    return DependencyTree(*(tuple(row[field.name]) for field in fields(DependencyTree)))
