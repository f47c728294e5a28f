"""The parse and encode stages: each a pure function from the rows of a shard to rows and rejects."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.graphs.table import encode
from features.parsers.amr import AmrParser
from features.parsers.dependencies import DependencyParser
from features.parsers.label_vectors import WordVectors
from features.parsers.sentence_encoder import SentenceEncoder
from features.parsers.srl.parser import SrlParser
from features.rows import OnRows, ignore_rows
from features.schemas import DEPENDENCIES, EMBEDDINGS, LABEL_VECTORS, SRL
from features.stages import Reject, StageOutput, rejects_frame
from features.types import RejectCode

ALGORITHM_VERSIONS: Mapping[str, str] = MappingProxyType(
    {"amr": "1", "dependencies": "1", "srl": "1", "embeddings": "1", "label_vectors": "1"}
)
"""Stage → its version, incremented when a code change changes the rows of that stage; the others keep theirs."""


def parse_amr(sentences: pl.DataFrame, parser: AmrParser, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Parse each sentence to its AMR graph.

    Args:
        sentences: rows of `SENTENCES`.
        parser: see `features.parsers.amr.load`.
        on_rows: called with how many of the sentences are done.

    Returns:
        Rows of `AMR`; rejects for sentences that are too long, have no graph or one that is not well formed.
    """
    ids, texts, rejects = _admit(sentences, parser.max_words)
    results = parser.parse(ids, texts, on_rows)
    rejects += [result for result in results if isinstance(result, Reject)]
    parsed = [(identity, result) for identity, result in zip(ids, results, strict=True) if isinstance(result, str)]
    encoded = encode([identity for identity, _ in parsed], [penman for _, penman in parsed], parser.name)
    return StageOutput(encoded.rows, pl.concat([rejects_frame(rejects), encoded.rejects]))


def parse_dependencies(sentences: pl.DataFrame, parser: DependencyParser, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Parse each sentence to its dependency tree.

    Args:
        sentences: rows of `SENTENCES`.
        parser: see `features.parsers.dependencies.load`.
        on_rows: called with how many of the sentences are done.

    Returns:
        Rows of `DEPENDENCIES`; rejects for sentences that are too long.
    """
    ids, texts, rejects = _admit(sentences, parser.max_words)
    on_rows(0, len(ids))
    rows = []
    for identity, tree in zip(ids, parser.parse(texts), strict=True):
        rows.append({"sentence_id": identity, "parser": parser.name, **tree})
        on_rows(len(rows), len(ids))
    return StageOutput(pl.DataFrame(rows, schema=DEPENDENCIES), rejects_frame(rejects))


def parse_srl(sentences: pl.DataFrame, parser: SrlParser, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Label the semantic roles of each sentence.

    Args:
        sentences: rows of `SENTENCES`.
        parser: see `features.parsers.srl.parser.load`.
        on_rows: called with how many of the sentences are done.

    Returns:
        Rows of `SRL`; rejects for sentences that are too long. A sentence without a predicate has a row without frames.
    """
    ids, texts, rejects = _admit(sentences, parser.max_words)
    rows = []
    for identity, result in zip(ids, parser.parse(ids, texts, on_rows), strict=True):
        if isinstance(result, Reject):
            rejects.append(result)
            continue
        rows.append({"sentence_id": identity, "parser": parser.name, **result.columns})
    return StageOutput(pl.DataFrame(rows, schema=SRL), rejects_frame(rejects))


def embed_sentences(sentences: pl.DataFrame, encoder: SentenceEncoder, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Embed each sentence with the teacher.

    Args:
        sentences: rows of `SENTENCES`.
        encoder: see `features.parsers.sentence_encoder.load`.
        on_rows: called with how many of the sentences are done.

    Returns:
        Rows of `EMBEDDINGS`; rejects for sentences that are too long.
    """
    ids, texts, rejects = _admit(sentences, encoder.max_words)
    rows = pl.DataFrame({"sentence_id": ids, "vector": _lists(encoder.encode(texts, on_rows))}, schema=EMBEDDINGS)
    return StageOutput(rows, rejects_frame(rejects))


def embed_labels(amr: pl.DataFrame, vectors: WordVectors, on_rows: OnRows = ignore_rows) -> StageOutput:
    """Return the vector of each word in the labels of a shard's graphs.

    Args:
        amr: rows of `AMR`.
        vectors: see `features.parsers.label_vectors.load`.
        on_rows: called with how many of the words are done.

    Returns:
        Rows of `LABEL_VECTORS`, sorted by word. A word without a vector has no row: the metrics draw one for it,
        seeded by the word.
    """
    # Here, so that parsing does not load the compiled metrics.
    from features.metrics.label_vectors import labels_of, words_of

    words = sorted(words_of(labels_of(amr)))
    known, matrix = vectors.look_up(words, on_rows)
    return StageOutput(pl.DataFrame({"label": known, "vector": _lists(matrix)}, schema=LABEL_VECTORS))


def _admit(sentences: pl.DataFrame, max_words: int) -> tuple[list[str], list[str], list[Reject]]:
    """Split the sentences into those to parse and rejects for those that are too long."""
    count = pl.col("text").str.split(" ").list.len()
    fits = sentences.filter(count <= max_words)
    long = sentences.filter(count > max_words).select("sentence_id", count.alias("words"))
    rejects = [
        Reject(
            identity, RejectCode.SENTENCE_TOO_LONG, f"the sentence has {words} words, more than max_words = {max_words}"
        )
        for identity, words in long.iter_rows()
    ]
    return fits["sentence_id"].to_list(), fits["text"].to_list(), rejects


def _lists(matrix: NDArray[np.float32]) -> pl.Series:
    """Return a matrix as a column of lists without creating a Python object for each number."""
    return pl.Series(matrix, dtype=pl.Array(pl.Float32, matrix.shape[1])).cast(pl.List(pl.Float32))
