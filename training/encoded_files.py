"""Embeddings of the texts of a file: any number of rows in bounded memory, and a killed run goes on where it was.

    vectors.parquet.parts/      made.json        what the parts are made from
                                00000.parquet    the first 4,096 rows, whole or absent; 00001.parquet …
                                ranges.npy       for int8: lowest and highest value of each dimension, (2, d)
    vectors.parquet             all parts, once the last is there; vectors.arrow can be mapped into memory

Each part is encoded on its own, so the file is the same to the byte however often the run was killed.
"""

import hashlib
import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from features import models
from features.core.durable import file_sha256, write_whole
from features.core.faults import NotAFile, UnknownName
from features.core.files import changed, source_name
from features.core.locks import only_one
from features.core.outputs import check_output, format_of, whole_file
from features.core.types import OnRows, ignore_rows
from features.parsers.devices import resolve_device
from features.parsers.texts import stream_texts
from training.encoders.input_length import count_cut
from training.encoders.s3bert.facets import FacetLayout
from training.nearest import require_finite
from training.runs import encoder_title
from training.search.blocks import ARROW, METADATA, VECTOR
from training.search.texts import no_text
from training.writing import writing

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Precision = Literal["float32", "float16", "int8", "binary"]
_PART = 4_096  # rows; a kill costs no more than encoding so many
_BATCH = 64
_RECORD = "made.json"


@dataclass(frozen=True)
class Encoded:
    """What a file of embeddings holds."""

    rows: int
    empty: int  # rows without a text
    wrong: tuple[str, ...]  # what is wrong with rows that could not be read
    cut: int  # texts that are longer than the encoder's input


def encode_file(
    model: "SentenceTransformer",
    encoder: Path,
    source: Path,
    output: Path,
    *,
    columns: Sequence[str] = (),
    task: str | None = None,
    layout: FacetLayout | None = None,
    precision: Precision = "float32",
    processes: int = 1,
    on_rows: OnRows = ignore_rows,
) -> Encoded:
    """Write the embeddings of the texts of a file as Parquet or Arrow, one row for each of its rows.

    Columns are `id` (that of the row, else its number from 1), `text` and `vector`; with a layout, `residual` and one
    column for each facet in place of `vector`. A row without a text, or one that cannot be read, has no vector. The
    file's metadata name the encoder, and the ranges of int8, which are those of the first part. Arguments and errors as
    for `facetflow.Encoder.encode_file`; `task` is a route, if the encoder has routes.
    """
    require_output(output, source)
    if precision not in get_args(Precision):
        raise UnknownName(f"There is no precision {precision!r}; there are: {', '.join(get_args(Precision))}.")
    if source.is_fifo() or source.is_char_device():
        raise NotAFile(f"{source_name(source)} can be read only once, and is needed twice: write it to a file first.")
    empty, wrong, total, named, seen = 0, [], 0, False, hashlib.sha256()
    for row in stream_texts(source, columns):
        seen.update(repr(row).encode())
        total += 1
        named = named or bool(row.id)
        empty += not row.text and not row.problem
        wrong += [f"{source_name(source)}, line {row.line}: {row.problem}"] if row.problem else []
    if total == empty + len(wrong):
        raise no_text(source, wrong)
    made = {
        "texts": file_sha256(source),
        "columns": list(columns),
        "encoder": models.digest(encoder),
        "task": task,
        "facets": layout is not None,
        "precision": precision,
        "processes": processes,
        "rows": _PART,
    }
    folder = output.with_name(f"{output.name}.parts")
    with _parts(folder, made, output) as parts, _encoding(model, task, processes) as encode:
        rows = stream_texts(source, columns)
        of_int8 = parts / "ranges.npy"
        ranges: NDArray[np.float32] | None = np.load(of_int8, allow_pickle=False) if of_int8.exists() else None
        on_rows(0, total)
        cut, again = 0, hashlib.sha256()
        for number, start in enumerate(range(0, total, _PART)):
            some = list(itertools.islice(rows, min(_PART, total - start)))  # without what was added since
            if not some:  # it was cut off
                break
            again.update("".join(map(repr, some)).encode())
            part = parts / f"{number:05}.parquet"
            cut += count_cut(model, [row.text for row in some])
            if not part.exists():
                vectors = require_finite(encode([row.text for row in some if row.text]), encoder)
                if precision == "int8" and ranges is None and len(vectors):
                    ranges = np.stack([vectors.min(axis=0), vectors.max(axis=0)])
                    with whole_file(of_int8) as file:
                        np.save(file, ranges)
                ids = [row.id or f"{'row ' if named else ''}{start + n}" for n, row in enumerate(some, start=1)]
                table = _table(ids, [row.text for row in some], _columns(vectors, layout, precision, ranges))
                with whole_file(part) as file:
                    pq.write_table(table, file)
            on_rows(start + len(some), total)
        if again.digest() != seen.digest():
            (parts / _RECORD).unlink()  # else the next run would go on from parts of another text
            raise changed(source)
        made |= {"name": encoder_title(encoder)} | ({} if ranges is None else {"ranges": ranges.tolist()})
        _join(sorted(parts.glob("*.parquet")), output, made)
    return Encoded(total, empty, tuple(wrong), cut)


def require_output(output: Path, source: Path) -> None:
    """Refuse an output that is neither Parquet nor Arrow, or that cannot be written."""
    format_of(output, {"parquet": (".parquet",), "arrow": ARROW}, by_name=False)
    check_output(output, source)


@contextmanager
def _parts(folder: Path, made: dict[str, Any], output: Path) -> Iterator[Path]:
    """Provide the folder of the parts, empty unless they were made from the same; it is removed at the end."""
    lock = folder.with_name(f"{folder.name}.lock")
    with only_one(lock, f"Another process encodes to {str(output)!r}"):
        record, written = folder / _RECORD, json.dumps(made, sort_keys=True)
        if not record.is_file() or record.read_text() != written:
            with writing(folder):
                record.unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)
                write_whole(folder, _RECORD, written.encode())
        yield folder
        record.unlink()  # first: some parts without the ranges, as a kill may leave them, would be gone on with
        shutil.rmtree(folder)
        lock.unlink()


@contextmanager
def _encoding(model: "SentenceTransformer", task: str | None, processes: int) -> Iterator[Any]:
    """Provide a function from texts to embeddings, (n, d), float32."""
    options: dict[str, Any] = {"task": task}
    with ExitStack() as stack:
        if processes > 1:
            on_gpu = model.device.type == "cuda"
            devices = [resolve_device(f"cuda:{n}") if on_gpu else "cpu" for n in range(processes)]
            stack.callback(model.to, model.device)  # a pool leaves it on the CPU
            pool = model.start_multi_process_pool(devices)
            stack.callback(model.stop_multi_process_pool, pool)
            options |= {"pool": pool, "chunk_size": _PART // processes}

        def encode(texts: list[str]) -> NDArray[np.float32]:
            if not texts:
                return np.empty((0, model.get_embedding_dimension() or 0), dtype=np.float32)
            encoded = model.encode(texts, batch_size=_BATCH, show_progress_bar=False, **options)
            return np.asarray(encoded, dtype=np.float32)

        yield encode


def _columns(
    vectors: NDArray[np.float32],
    layout: FacetLayout | None,
    precision: Precision,
    ranges: NDArray[np.float32] | None,
) -> dict[str, NDArray[Any]]:
    """Return the columns of some embeddings, each (n, d of the column)."""
    if layout is not None:
        layout.require_width(vectors)
    slices = {VECTOR: slice(None)} if layout is None else layout.slices
    return {
        name: _quantised(vectors[:, dimensions], precision, None if ranges is None else ranges[:, dimensions])
        for name, dimensions in slices.items()
    }


def _quantised(vectors: NDArray[np.float32], precision: Precision, ranges: NDArray[np.float32] | None) -> NDArray[Any]:
    if precision in ("float32", "float16"):
        return vectors.astype(precision)
    from sentence_transformers.util import quantize_embeddings

    if ranges is not None:
        vectors = np.clip(vectors, *ranges)  # what is outside the ranges would wrap around
    to: Literal["int8", "binary"] = "int8" if precision == "int8" else "binary"
    quantised: NDArray[Any] = np.asarray(quantize_embeddings(vectors, to, ranges=ranges))
    return quantised


def _table(ids: Sequence[str], texts: Sequence[str], columns: dict[str, NDArray[Any]]) -> pa.Table:
    """Return some rows; those with a text have vectors, in their order."""
    present = np.array([bool(text) for text in texts])
    arrays: dict[str, pa.Array[Any]] = {"id": pa.array(ids), "text": pa.array(texts)}
    for name, values in columns.items():
        filled = np.zeros((len(texts), values.shape[1]), dtype=values.dtype)
        filled[present] = values
        flat = pa.array(filled.reshape(-1))
        arrays[name] = pa.FixedSizeListArray.from_arrays(flat, values.shape[1], mask=pa.array(~present))
    return pa.table(arrays)


def _join(parts: Sequence[Path], output: Path, made: dict[str, Any]) -> None:
    schema = pq.read_schema(parts[0]).with_metadata({METADATA: json.dumps(made)})
    new_file: Any = pa.ipc.new_file if output.suffix.lower() in ARROW else pq.ParquetWriter
    with whole_file(output) as file, new_file(file, schema) as writer:
        for part in parts:
            writer.write_table(pq.read_table(part).replace_schema_metadata(schema.metadata))
