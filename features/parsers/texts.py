"""Sentences of a file to parse in one go, and what a stage makes of them: a line in, a line out.

    in.txt                  line  id  text             penman            code            message
    A dog barks.            1     1   A dog barks.     (b / bark-01 …)
    (nothing)               2     2                                      empty_sentence  the sentence is empty
    The dogs. … (600 words) 3     3   The dogs. …                        sentence_too_…  the sentence has 600 words …

A sentence that a stage rejects keeps its place and its number, so that lines can later be paired correctly.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import polars as pl

from features.core.faults import ColumnMissing, FileEmpty, NotText, RowWrong, UnknownFormat
from features.core.files import open_text, refuse_other_tables, source_name
from features.core.outputs import format_suffix
from features.core.types import OnRows, RejectCode, ignore_rows
from features.corpora.cells import encoding_fault
from features.corpora.tables import as_file
from features.corpora.texts import TextCells, complete_ids, read_text_table
from features.graphs.penman_files import read_blocks
from features.schemas import Reject, StageOutput, rejects_frame
from features.sentences import normalise, sentence_id

_PENMAN = (".amr", ".penman")
_OTHER_COLUMN = ": name the one with the text (in a command by --text, repeated to join several)"
TABLE_SUFFIXES = (".tsv", ".csv", ".jsonl", ".ndjson", ".parquet")
"""Suffixes of tables; a file of any other but PENMAN has one text per line."""
_SCHEMA = {"line": pl.Int64, "id": pl.String, "sentence_id": pl.String, "text": pl.String}

Parse = Callable[[pl.DataFrame], StageOutput]
"""Maps `sentence_id` and `text` to rows and rejects, as in `features.stages`."""


def read_sentences(path: Path) -> pl.DataFrame:
    """Read the sentences of a file.

    Args:
        path: a text with one sentence per line; PENMAN (`.amr`, `.penman`), whose `::snt` and `::id` are used; or a
            table (`.tsv`, `.csv`, `.jsonl`, `.parquet`) with a column `text` and optionally `id`. All but Parquet also
            with `.gz`; `-` is a text on standard input.

    Returns:
        Columns `line` (from 1), `id` (the file's; else the number of the line, as `row 7` where others have ids),
        `sentence_id`, `text` (normalised; empty if the line is).
    """
    rows = list(stream_texts(path, advice=": rename one, or give a .txt file with one sentence per line"))
    for row in rows:
        if row.problem:  # a line out for each line in: none may be left out
            raise RowWrong(f"{source_name(path)}, line {row.line}: {row.problem}; correct the row.")
    lines = number_sentences((row.id, row.text) for row in rows)
    if lines.filter(pl.col("text") != "").is_empty():
        raise FileEmpty(f"{source_name(path)} has no sentences; give a text file with one sentence per line.")
    return lines


def number_sentences(written: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Return the ids and texts of sentences as `read_sentences` does; an empty id is replaced by a number."""
    rows = [(" ".join(identity.split()), normalise(sentence)) for identity, sentence in written]
    texts = [text for _, text in rows]
    return pl.DataFrame(
        {
            "line": range(1, len(rows) + 1),
            "id": complete_ids([identity for identity, _ in rows]),
            "sentence_id": map(sentence_id, texts),
            "text": texts,
        },
        schema=_SCHEMA,
    )


def parse_lines(
    lines: pl.DataFrame, stage: Parse, *, at_once: int = 1024, on_rows: OnRows = ignore_rows
) -> pl.DataFrame:
    """Parse sentences, each text once, `at_once` at a time, and return the result for every line of `read_sentences`.

    Returns:
        One row per line, in order: `line`, `id`, `text`, the columns of the stage's rows (null if there is none), and
        `code` and `message` of its reject (null if there is a row).
    """
    texts = lines.filter(pl.col("text") != "").select("sentence_id", "text").unique("sentence_id", maintain_order=True)
    on_rows(0, texts.height)
    outputs: list[StageOutput] = []
    for start in range(0, texts.height or 1, at_once):  # once without texts, for the columns
        outputs.append(stage(texts[start : start + at_once]))
        on_rows(min(start + at_once, texts.height), texts.height)
    rows = pl.concat([output.rows for output in outputs])
    empty = rejects_frame([Reject(sentence_id(""), RejectCode.EMPTY_SENTENCE, "the sentence is empty")])
    rejects = pl.concat([*(output.rejects for output in outputs), empty]).select(
        pl.col("entity_id").alias("sentence_id"), "code", pl.col("message").str.replace_all(r"\s+", " ")
    )
    return (
        lines.join(rows, on="sentence_id", how="left", maintain_order="left")
        .join(rejects, on="sentence_id", how="left", maintain_order="left")
        .drop("sentence_id")
    )


def stream_texts(path: Path, columns: Sequence[str] = (), advice: str = _OTHER_COLUMN) -> Iterator[TextCells]:
    """Yield the texts of a file row by row, with single blanks; rows without a text, or that cannot be read, too.

    `columns` are those of a table, joined by ": "; `text` when empty. `advice` is what to do where there are none such.
    """
    suffix, _ = format_suffix(path)
    if suffix in TABLE_SUFFIXES:
        with as_file(path) as file:
            for row in read_text_table(file, columns or ("text",), advice):
                yield row._replace(id=normalise(row.id), text=normalise(row.text))
        return
    if suffix not in _PENMAN:
        refuse_other_tables(path)
    if columns:
        raise ColumnMissing(
            f"{source_name(path)} is read as one text per line, so it has no column {columns[0]!r}; give a table "
            f"({', '.join(TABLE_SUFFIXES)})."
        )
    for line, (identity, text) in enumerate(_graphs(path) if suffix in _PENMAN else _lines(path), start=1):
        yield TextCells(line, normalise(identity), normalise(text))


def _graphs(path: Path) -> Iterator[tuple[str, str]]:
    for block in read_blocks(path):
        if "snt" not in block.metadata:
            raise FileEmpty(f"{block.place} has no sentence; give each block a line '# ::snt ...'.")
        try:
            b"".join(block.comments).decode()  # metadata has a sign in place of what cannot be read
        except UnicodeDecodeError as error:
            raise NotText(f"{block.place} is not UTF-8 ({error.reason}); save the file as UTF-8 text.") from error
        yield block.metadata.get("id", ""), block.metadata["snt"]


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    with open_text(path, newline="\n", errors="surrogateescape") as lines:
        for number, line in enumerate(lines, start=1):
            if wrong := encoding_fault(line):
                raise NotText(f"Line {number} of {source_name(path)}: {wrong.message}; save the file as UTF-8 text.")
            if line.startswith(("# ::id ", "# ::snt ")):
                named = f"{source_name(path)}, line {number}, is metadata of an AMR graph"
                raise UnknownFormat(f"{named}; end the name of a file of graphs in .amr or .amr.gz.")
            yield "", line
