"""Rejected rows, with what is needed to fix them: file, line, code and text.

rejects ──┬── of ingest: `file:line` is stored ────────────> the line itself, read again
          └── of a stage: the id of a sentence or pair ──┬──> its text, from the store
                                                         └──> its first file and line, found in the corpora
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import polars as pl

from features.core.errors import InputError
from features.core.faults import UnknownName
from features.core.files import open_bytes
from features.core.outputs import format_suffix
from features.core.types import RejectCode, SentenceId
from features.corpora.reading import PairRow, TextRow, read_outcomes
from features.corpora.settings import CorpusSettings
from features.corpora.sources import locate
from features.schemas import INGEST
from features.sentences import sentence_id
from features.stages.registry import STAGES
from features.store.store import Store

REJECTED: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("stage", "code", "file"), pl.String),
    "line": pl.Int64,
    **dict.fromkeys(("text", "other_text", "message", "entity_id"), pl.String),
}
"""Columns of rejected rows. `other_text` is the second sentence of a pair; `file` and `line` are those of a rejected
sentence where the pair itself, a negative, is in no file, and null where the corpora can no longer be read."""

_ORIGIN = re.compile(r"(?P<file>.+?):(?P<line>\d+): ")
_Origin = tuple[str, int]  # file and line
_Key = tuple[SentenceId, ...]  # a sentence, or the two of a pair


def rejected_rows(
    store: Store, corpora: Sequence[CorpusSettings], base: Path, *, stage: str | None = None, code: str | None = None
) -> pl.DataFrame:
    """Return rejected rows, with the columns `REJECTED`, by stage, code, file and line.

    Their lines are found in the corpora that they came from. A stage or a code selects its rejects only.
    """
    rejects = store.read("rejects", columns=["stage", "code", "entity_id", "message"])
    rejected = set(rejects["entity_id"])
    for column, wanted, names in (("stage", stage, [INGEST, *STAGES]), ("code", code, [*RejectCode])):
        values = rejects[column].unique().sort().to_list() or names
        if wanted is not None and wanted not in values:
            raise UnknownName(f"No row was rejected with the {column} {wanted!r}; there are {', '.join(values)}.")
        if wanted is not None:
            rejects = rejects.filter(pl.col(column) == wanted)
    keys, texts = _entities(store, rejects["entity_id"].to_list())
    origins = _origins(corpora, base, {*keys.values(), *((sentence,) for key in keys.values() for sentence in key)})
    rows = []
    for row in rejects.iter_rows(named=True):
        key = keys.get(row["entity_id"], ())
        kept = _ORIGIN.match(row["message"]) if row["stage"] == INGEST else None
        candidates = [key, *((sentence,) for sentence in sorted(key, key=lambda sentence: sentence not in rejected))]
        origin = next((origins[candidate] for candidate in candidates if candidate in origins), None)
        if kept:
            origin = (kept["file"], int(kept["line"]))
            row["message"] = row["message"][kept.end() :]
        file, line = origin or (None, None)
        text, other_text, *_ = *(texts.get(sentence) for sentence in key), None, None
        rows.append({**row, "file": file, "line": line, "text": text, "other_text": other_text})
    frame = pl.DataFrame(rows, schema=REJECTED)
    return _with_lines(frame, corpora, base).sort("stage", "code", "file", "line", "entity_id", maintain_order=True)


def _entities(store: Store, ids: Sequence[str]) -> tuple[dict[str, _Key], dict[SentenceId, str]]:
    """Return the sentences behind the ids of sentences and pairs in the store, and their texts."""
    wanted = pl.Series("id", ids, dtype=pl.String).unique().implode()
    pairs = store.read("pairs", columns=["pair_id", "sentence_a", "sentence_b"], where=pl.col("pair_id").is_in(wanted))
    keys: dict[str, _Key] = {pair: (a, b) for pair, a, b in pairs.iter_rows()}
    needed = pl.Series("id", [*ids, *chain.from_iterable(keys.values())], dtype=pl.String).unique().implode()
    sentences = store.read("sentences", columns=["sentence_id", "text"], where=pl.col("sentence_id").is_in(needed))
    texts = {SentenceId(sentence): text for sentence, text in sentences.iter_rows()}
    return keys | {sentence: (sentence,) for sentence in texts}, texts


def _origins(corpora: Sequence[CorpusSettings], base: Path, wanted: Collection[_Key]) -> dict[_Key, _Origin]:
    """Return the first line in which each sentence, or pair of sentences, occurs."""
    origins: dict[_Key, _Origin] = {}
    for row in _readable(corpora, base) if wanted else ():
        texts = (row.text,) if isinstance(row, TextRow) else (row.text_a, row.text_b)
        ids = tuple(map(sentence_id, texts))
        for key in (ids, *((identity,) for identity in ids)):
            if key in wanted and key not in origins:
                file, _, line = row.origin.rpartition(":")
                origins[key] = (file, int(line))
    return origins


def _readable(corpora: Sequence[CorpusSettings], base: Path) -> Iterator[PairRow | TextRow]:
    """Yield the pairs and texts of the corpora as far as they can be read: a file may be gone by now."""
    for corpus in corpora:
        with suppress(InputError):
            yield from (row for row in read_outcomes(corpus, base) if isinstance(row, PairRow | TextRow))


def corpus_files(corpora: Iterable[CorpusSettings], base: Path) -> dict[str, Path]:
    """Return the files of the corpora by their names in messages, as far as they are there."""
    paths: dict[str, Path] = {}
    for corpus in corpora:
        with suppress(InputError):
            paths |= {source.name: source.path for source in locate(corpus, corpus.files, base)}
    return paths


def _with_lines(rows: pl.DataFrame, corpora: Iterable[CorpusSettings], base: Path) -> pl.DataFrame:
    """Return the rows, with the text of lines that never became a sentence read from their file."""
    lines = rows.filter(pl.col("text").is_null() & pl.col("line").is_not_null()).select("file", "line").unique()
    paths = corpus_files(corpora, base)
    read = [
        {"file": str(file), "line": line, "of_file": text}
        for (file,), group in lines.group_by("file")
        if file in paths
        for line, text in _lines(paths[str(file)], set(group["line"]))
    ]
    texts = pl.DataFrame(read, schema={"file": pl.String, "line": pl.Int64, "of_file": pl.String})
    joined = rows.join(texts, on=["file", "line"], how="left", maintain_order="left")
    return joined.with_columns(pl.coalesce("text", "of_file").alias("text")).select(list(REJECTED))


def _lines(path: Path, wanted: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield the wanted lines of a text file, numbered from 1, with tabs replaced by ` | `."""
    if format_suffix(path)[0] in {".parquet", ".json"}:  # its rows are not lines
        return
    with suppress(InputError, OSError), open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if number in wanted:
                yield number, line.decode("utf-8", errors="replace").rstrip("\r\n").replace("\t", " | ")
