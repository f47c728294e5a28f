"""Write docs/project_file.md, every key of the project file, from the models: python tools/project_page.py."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.project_schema import SCHEMA_FILE, Key, sections, toml
from training.encoders.aspect import settings as aspect
from training.encoders.aspect.settings import AspectSettings
from training.encoders.s3bert import settings as s3bert
from training.encoders.s3bert.settings import S3bertSettings
from training.markdown import table
from training.runs import flattened

TARGET = Path(__file__).parents[1] / "docs" / "project_file.md"
HEAD = f"""\
# The project file

Every section and key of `facetflow.toml`; this page is made by `python tools/project_page.py` from what checks the
file. `facetflow new` writes a file with comments, and beside it `{SCHEMA_FILE}`, which the first line names:
editors that know [Taplo](https://taplo.tamasfe.dev) complete and check keys by it. `facetflow schema` writes it again,
after an upgrade.

Paths are relative to the file. A key whose default is empty has none; one that is **required** has to be given.
"""
ENCODERS = """\
`kind` chooses the other keys, and with the tables that it reads the stages that a build has: a stage runs for the
corpora of the encoders that read its table, and where its section says `enabled = true`, for all. A file without any
`[[encoders]]` trains one S3BERT, called `s3bert`; `encoders = []` at the top of the file trains none, for a store that
others read. Defaults are those of the preset that holds where none is named.
"""
GUARD = """\
Sentences of the sets under `[[evaluation]]` are guarded without being named here again: training pairs with one of them
are kept out at ingest, and the build says how many. What a store has had before stays in it, because shards never
change: a build says how many such pairs there are, encoders go on to learn from them, and a new store is free of them.
Set `mode = "off"` where evaluation and training share sentences on purpose.
"""


def page() -> str:
    """Return the page."""
    parts = [HEAD]
    for section in sections():
        title = section.title or "At the top"
        parts.append(f"## {'`' + title + '`' if section.title and ',' not in title and ' ' not in title else title}\n")
        parts.append(f"{section.about}\n" if section.title else "")
        if section.title == "[leakage]":
            parts.append(GUARD)
        if section.title.startswith("[[encoders]]") and "table" not in section.title:
            parts.append(ENCODERS)
        rows = [(f"`{key.name}`", key.kind, _default(key), key.meaning) for key in section.keys]
        parts.append(table(("key", "what to give", "default", "meaning"), rows) + "\n")
    parts.append(_presets("S3BERT", S3bertSettings, s3bert.PRESETS))
    parts.append(_presets("encoders of aspects", AspectSettings, aspect.PRESETS))
    return "\n".join(part for part in parts if part)


def _default(key: Key) -> str:
    if key.default is None:
        return "**required**"
    return f"`{key.default}`" if key.default else ""


def _presets(title: str, settings: Any, presets: Mapping[Any, Mapping[str, Any]]) -> str:
    known = {preset: flattened(settings(preset=preset).model_dump(mode="json")) for preset in presets}
    names = list(dict.fromkeys(name for values in presets.values() for name in flattened(values)))
    rows = [(f"`{name}`", *(toml(values[name]) for values in known.values())) for name in names]
    return (
        f"## Presets of {title}\n\nAn empty cell is what holds where the key is missing.\n\n"
        + table(("key", *(f"`{name}`" for name in known)), rows)
        + "\n"
    )


if __name__ == "__main__":
    if "--print" in sys.argv:
        print(page(), end="")
    else:
        TARGET.write_text(page(), encoding="utf-8")
