"""Embeddings that are searched as they are stored: those of a file that `facetflow encode` wrote, or an array.

vectors.arrow      mapped: a search reads the columns that it compares, from memory if they have been read before
vectors.parquet    each column is read once, when it is first compared

              residual  384 bytes      srl  32      negations  32  …      a million rows, int8
srl alone                              ├────┤ ── · query / length ──> cosine of each row
the whole     ├───────────────────────────────────────────────┤

A search by facets finds texts with the same roles and frames, but other names:

{"srl": 2, "frames": 1, "named_entities": -1}     score = (2 cos_srl + cos_frames - cos_named_entities) / 4
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Real
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from features import models
from features.core.faults import CannotExplain, RecordUnreadable, VectorsWrong, WrongValue
from features.core.files import source_name
from training.encoders.s3bert.facets import FacetLayout, facet_dimensions
from training.nearest import Similarities, find_nearest
from training.runs import encoder_title
from training.similarity import TINY

Vectors = NDArray[np.float32]
VECTOR = "vector"
"""Column of whole embeddings; files with facets have a column for each of them, and the residual."""
METADATA = b"facetflow"
ARROW = (".arrow", ".feather")
_ROWS = 16_384
_THREADS = min(4, pa.cpu_count())


class VectorBlocks:
    """Embeddings, (n, d), in blocks of rows of one or several columns.

    Args:
        blocks: a column → its blocks, (n_block, d_column) each, of float32, float16 or int8.
        slices: column → its dimensions; together all dimensions of the embedding.
        ranges: lowest and highest value of each dimension, (2, d), of int8.
        rows: rows that have a vector, int64; None for all.
    """

    def __init__(
        self,
        blocks: Callable[[str], Sequence[NDArray[Any]]],
        slices: Mapping[str, slice],
        ranges: Vectors | None = None,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        self._blocks, self._slices, self._rows = blocks, slices, rows
        self.width = max(span.stop for span in slices.values())
        low = np.zeros(self.width, np.float32) if ranges is None else ranges[0]
        self._step = np.ones(self.width, np.float32) if ranges is None else (ranges[1] - low) / 255
        self._shift = low + (0 if ranges is None else 128.5) * self._step  # sentence-transformers rounds down

    @classmethod
    def of(cls, vectors: Vectors) -> Self:
        """Return blocks of an array, (n, d)."""
        blocks = [vectors[start : start + _ROWS] for start in range(0, len(vectors), _ROWS)]
        return cls(lambda _: blocks, {VECTOR: slice(0, vectors.shape[1])})

    def __len__(self) -> int:
        """Return the number of texts."""
        return self._height if self._rows is None else len(self._rows)

    def cosines(self, query: Vectors, dimensions: slice = slice(None)) -> Vectors:
        """Return the cosine of a query, (1, d), and each text in some dimensions, (n,)."""
        from training.search.comparing import compare_rows  # here, since it is compiled

        start, stop, _ = dimensions.indices(self.width)
        sought = query[0] / max(float(np.linalg.norm(query[0, start:stop])), TINY)
        dots, squares = np.zeros((2, self._height), np.float32)
        with ThreadPoolExecutor(_THREADS) as pool:
            for name, span in self._slices.items():
                some = slice(max(start, span.start), min(stop, span.stop))
                if some.start >= some.stop:
                    continue
                columns = (some.start - span.start, sought[some], self._step[some], self._shift[some])

                def compare(at: int, codes: NDArray[Any], columns: Any = columns) -> None:
                    rows, (first, part, step, shift) = slice(at, at + len(codes)), columns
                    codes = codes.astype(np.float32) if codes.dtype == np.float16 else codes
                    compare_rows(codes, first, part, step, shift, dots[rows], squares[rows])

                blocks = self._blocks(name)
                list(pool.map(compare, np.cumsum([0, *map(len, blocks)]).tolist(), blocks))
        scores = np.asarray(dots / np.maximum(np.sqrt(squares), np.float32(TINY)), np.float32)
        return scores if self._rows is None else scores[self._rows]

    def vectors(self, rows: Sequence[int] | None = None) -> Vectors:
        """Return the embeddings of some texts, by default all, as float32, (n, d)."""
        every = np.arange(self._height) if self._rows is None else self._rows
        wanted = every if rows is None else every[np.asarray(rows, np.int64)]
        vectors = np.empty((len(wanted), self.width), np.float32)
        for name, span in self._slices.items():
            blocks = self._blocks(name)
            starts = np.cumsum([0, *map(len, blocks)])
            block_of = np.searchsorted(starts, wanted, side="right") - 1
            for number in np.unique(block_of):
                chosen = block_of == number
                codes = blocks[number][wanted[chosen] - starts[number]]
                vectors[chosen, span] = codes.astype(np.float32) * self._step[span] + self._shift[span]
        return vectors

    @cached_property
    def _height(self) -> int:
        narrowest = min(self._slices, key=lambda name: self._slices[name].stop - self._slices[name].start)
        return sum(map(len, self._blocks(narrowest)))  # of a Parquet file, no wide column is read for that


def facet_cosines(
    query: NDArray[np.float32], texts: VectorBlocks, layout: FacetLayout, names: Sequence[str]
) -> NDArray[np.float32]:
    """Return the similarity of a query, (1, d), and n texts in some facets: (n, n_names)."""
    if names and layout.similarity != "cosine":
        raise CannotExplain("this encoder compares facets by their L1 distance: search by the whole embedding")
    layout.require_width(query)
    return np.stack([texts.cosines(query, facet_dimensions(layout, name)) for name in names], axis=1)


def weighted_scores(
    query: NDArray[np.float32], texts: VectorBlocks, layout: FacetLayout, weights: Mapping[str, float]
) -> NDArray[np.float32]:
    """Return the weighted mean of a query's, (1, d), similarities with n texts in some facets, (n,), in [-1, 1].

    Where the weight of a facet is negative, texts that differ in it come first.
    """
    total = sum(map(abs, weights.values()))
    if not total:
        raise WrongValue("all weights are 0; give one that is not")
    scores = np.zeros(len(texts), np.float32)
    for name, weight in weights.items():  # one after the other: a million texts by all facets would be a large array
        scores += np.float32(weight / total) * facet_cosines(query, texts, layout, [name])[:, 0]
    return scores


def weighted_similarities(
    queries: Vectors, texts: Vectors, layout: FacetLayout, weights: Mapping[str, float]
) -> Similarities:
    """Return the weighted similarity of queries and texts, (n_queries, d) and (n_texts, d), in some facets."""
    for name, weight in weights.items():
        facet_dimensions(layout, name)  # refuses what is no facet
        if not isinstance(weight, Real) or not math.isfinite(weight):
            raise WrongValue(f"the weight of {name!r} cannot be {weight!r}; give a finite number")
    blocks = VectorBlocks.of(texts)
    return lambda some: np.stack([weighted_scores(query[None], blocks, layout, weights) for query in queries[some]])


def best_texts(scores: NDArray[np.float32], k: int) -> dict[int, float]:
    """Return position → score of the k texts with the highest scores, (n,), the best first; of equal ones the first."""
    nearest = find_nearest(lambda _: scores[None, :].copy(), queries=1, texts=len(scores), k=k)
    return dict(zip(nearest.positions[0].tolist(), nearest.similarities[0].tolist(), strict=True))


@dataclass(frozen=True)
class EncodedFile:
    """A file that `facetflow encode` wrote, or `facetflow facets` from one."""

    path: Path  # the file
    # what its metadata tell: the digest and name of the encoder, its route, whether facets are columns, the precision
    made: Mapping[str, Any]

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """Return the file; None where it is another table."""
        mapped = path.suffix.lower() in ARROW
        if not mapped and path.suffix.lower() != ".parquet":
            return None
        try:
            metadata = (_mapped(path).schema if mapped else pq.read_metadata(path)).metadata or {}
            made = json.loads(metadata.get(METADATA, b"{}"))
        except (pa.ArrowException, OSError, ValueError):
            made = {}
        if mapped and "encoder" not in made:
            raise RecordUnreadable(
                f"{source_name(path)} was not written by `facetflow encode`: encode the texts again."
            )
        return cls(path, made) if "encoder" in made else None

    @property
    def maker(self) -> str:
        """The encoder of the vectors, as far as the file says."""
        return repr(self.made["name"]) if "name" in self.made else "another encoder"

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Rows that have a vector, (n,)."""
        columns = [field for field in _schema_of(self.path) if pa.types.is_fixed_size_list(field.type)]
        name = min(columns, key=lambda field: field.type.list_size).name if columns else VECTOR
        return np.flatnonzero(pc.is_valid(self._column(name)).to_numpy())

    def cells(self, name: str) -> "Cells":
        """Return the cells of a column of text, of the rows that have a vector."""
        return Cells(self._column(name), self.rows)

    @property
    def height(self) -> int:
        """Number of rows, with and without a vector."""
        return len(self._column("text"))

    def vectors(self, encoder: Path, task: str | None) -> VectorBlocks:
        """Return the vectors, to be searched with the encoder and route that wrote them."""
        name = source_name(self.path)
        if self.made["encoder"] != models.digest(encoder):
            raise VectorsWrong(
                f"{name} holds vectors of {self.maker}, not of {encoder_title(encoder)!r}: choose the encoder that "
                "wrote it by --encoder, or encode its texts again."
            )
        if self.made.get("task") != task:
            raise VectorsWrong(
                f"{name} holds vectors in the aspect {self.made.get('task')!r}, not {task!r}: choose that aspect, or "
                "encode its texts again."
            )
        if self.made.get("precision") == "binary":
            raise VectorsWrong(f"{name} holds only the signs of vectors: encode its texts again with --precision int8.")
        if self.made.get("facets"):
            slices = FacetLayout.load(encoder).slices
        else:
            slices = {VECTOR: slice(0, _schema_of(self.path).field(VECTOR).type.list_size)}
        ranges = np.asarray(self.made["ranges"], np.float32) if "ranges" in self.made else None
        every = len(self.rows) == self.height
        return VectorBlocks(cache(self._codes), slices, ranges, None if every else self.rows)

    @cached_property
    def _column(self) -> "Callable[[str], pa.ChunkedArray[Any]]":
        return cache(self._read)

    def _read(self, name: str) -> "pa.ChunkedArray[Any]":
        try:
            mapped = self.path.suffix.lower() in ARROW
            table = _mapped(self.path).read_all() if mapped else pq.read_table(self.path, columns=[name])
            table[name].validate()  # else what is read of a damaged file may lie outside of it
            return table[name]
        except (pa.ArrowException, OSError, KeyError) as error:
            raise RecordUnreadable(f"{source_name(self.path)} is damaged: encode the texts again.") from error

    def _codes(self, name: str) -> list[NDArray[Any]]:
        blocks = []
        chunks: Sequence[Any] = self._column(name).chunks
        for chunk in chunks:
            width = chunk.type.list_size
            # Of rows without a vector as well, which `flatten` would leave out.
            codes = chunk.values.to_numpy(zero_copy_only=False)[chunk.offset * width :][: len(chunk) * width]
            blocks.append(codes.reshape(-1, width))
        return blocks


class Cells(Sequence[str]):
    """Some cells of a column of text, read one by one."""

    def __init__(self, column: "pa.ChunkedArray[Any]", rows: NDArray[np.int64]) -> None:
        self._column, self._rows = column, rows

    def __len__(self) -> int:
        """Return their number."""
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        """Return one, or several."""
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        cell = self._column.slice(int(self._rows[at]), 1)
        cell.validate(full=True)  # as above: a text of negative length would end the process
        return str(cell[0])


def _schema_of(path: Path) -> Any:
    return _mapped(path).schema if path.suffix.lower() in ARROW else pq.read_schema(path)


def _mapped(path: Path) -> Any:
    return pa.ipc.open_file(pa.memory_map(str(path)))
