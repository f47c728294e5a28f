"""A bank of AMR graphs: the user's PENMAN files, indexed once by sentence.

    *.amr(.gz) ── build_bank ──> one Arrow file, sorted by sentence id
                                 │ sentence_id   10 bytes
                                 │ digest        16 bytes, of the graph
                                 │ penman        text, null if the block is not PENMAN
                                 │ code, message null, or why there is no graph (with file and line)

A worker maps the file into memory and finds its shard's sentences by bisection, so it only reads the pages of its own
graphs. If a sentence has several graphs, the first readable one in the order of the files is used.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from features.core.errors import RowError
from features.core.faults import FileMissing, GraphIndexWrong, NotAFile
from features.core.outputs import whole_file
from features.core.types import OnRows, RejectCode, ignore_rows
from features.graphs.penman_files import read_blocks
from features.ids import ID, from_hexadecimal, positions_in
from features.sentences import ID_BYTES, sentence_id

_FORMAT = "facetflow bank 1"
_DIGEST_BYTES = 16
_ROWS_A_BATCH = 65536
_COLUMNS: tuple[tuple[str, pa.DataType], ...] = (
    ("sentence_id", pa.binary(ID_BYTES)),
    ("digest", pa.binary(_DIGEST_BYTES)),
    ("penman", pa.large_string()),
    ("code", pa.string()),
    ("message", pa.string()),
)
_Entry = tuple[bytes, str | None, str | None, str | None]  # digest, penman, code, message


def build_bank(paths: Sequence[Path], bank_path: Path) -> None:
    """Index PENMAN files (`.gz` too) by sentence.

    All graphs are held in memory while they are sorted: about 1 GB for a million.

    Raises:
        InputError: there is no file, or one cannot be read; or the index cannot be written.
    """
    if not paths:
        raise GraphIndexWrong(
            "There are no graph files in which to look up sentences; name some under [amr], graphs = [...]."
        )
    for path in paths:
        if not path.is_file():
            other, none = (NotAFile, "is a folder, a pipe or a device"), (FileMissing, "does not exist")
            fault, what = other if path.exists() else none
            raise fault(f"The graph file {str(path)!r} {what}; check `graphs` under [amr].")
    graphs: dict[bytes, _Entry] = {}
    broken: dict[bytes, _Entry] = {}
    for path in paths:
        for block in read_blocks(path):
            if not (snt := block.metadata.get("snt")):
                continue
            key = bytes.fromhex(sentence_id(snt))
            if block.error is not None:
                reason = block.error.message
                broken.setdefault(key, (_digest(block.text or reason), None, str(block.error.code), reason))
            elif key not in graphs:
                graphs[key] = (_digest(block.text), block.text, None, None)
    _write(bank_path, broken | graphs)


class BankParser:
    """A user's graphs, from an index made by `build_bank`, as an `AmrParser`."""

    name = "penman"

    def __init__(self, path: Path, *, max_words: int) -> None:
        if not path.is_file():
            raise GraphIndexWrong(f"There is no graph index {str(path)!r}; build it from the graph files again.")
        self.max_words = max_words
        self._table = _mapped(path)  # now, so that a bank that later replaces this one does not mix with it
        self._ids = np.array(self._table.column("sentence_id").to_pylist(), ID)  # sorted, (n,)

    def parse(self, texts: Sequence[str], on_rows: OnRows = ignore_rows) -> list[str | RowError]:
        """Return for each sentence its graph, or why it has none: `no_graph`, or what is wrong with its block."""
        rows = self._rows([sentence_id(text) for text in texts])
        on_rows(0, len(texts))
        entries = iter(self._table.select(["penman", "code", "message"]).take(rows[rows >= 0]).to_pylist())
        results: list[str | RowError] = []
        for text, row in zip(texts, rows, strict=True):
            entry = next(entries) if row >= 0 else None
            if entry is None:
                results.append(RowError(RejectCode.NO_GRAPH, f"no graph file has a graph with ::snt {text!r}"))
            elif entry["penman"] is None:
                results.append(RowError(RejectCode(entry["code"]), entry["message"]))
            else:
                results.append(entry["penman"])
            on_rows(len(results), len(texts))
        return results

    def shard_digest(self, sentence_ids: Sequence[str]) -> str:
        """Return a hash of the graphs of these sentences, 24 hexadecimal digits: it changes with one of them only."""
        rows = self._rows(sentence_ids)
        total = hashlib.blake2b(digest_size=12)
        total.update(np.packbits(rows >= 0).tobytes())
        total.update(b"".join(filter(None, self._table.column("digest").take(rows[rows >= 0]).to_pylist())))
        return total.hexdigest()

    def _rows(self, sentence_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each sentence, (n,) int64; -1 if there is no graph."""
        return positions_in(from_hexadecimal(pl.Series(sentence_ids, dtype=pl.String)), self._ids)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def _write(path: Path, entries: Mapping[bytes, _Entry]) -> None:
    schema = pa.schema(_COLUMNS).with_metadata({"facetflow": json.dumps({"format": _FORMAT})})
    ordered = sorted(entries)
    with whole_file(path) as file, pa.ipc.new_file(file, schema) as writer:  # type: ignore[arg-type]
        for start in range(0, len(ordered), _ROWS_A_BATCH):
            keys = ordered[start : start + _ROWS_A_BATCH]
            columns = [keys, *zip(*(entries[key] for key in keys), strict=True)]
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _mapped(path: Path) -> pa.Table:
    with suppress(pa.ArrowInvalid, KeyError, ValueError, TypeError):
        file = pa.ipc.open_file(pa.memory_map(str(path)))
        if json.loads((file.schema.metadata or {})[b"facetflow"])["format"] == _FORMAT:
            return file.read_all()
    raise GraphIndexWrong(
        f"The file {str(path)!r} is not a graph index that this version can read; delete it and build it again."
    )
