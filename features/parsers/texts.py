"""Text files for one-shot parsing: a sentence a line in; PENMAN, CoNLL-U or a table out, as the suffix says."""

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from features.errors import InputError
from features.files import open_text, table_format, write_table
from features.sentences import normalise, sentence_id

_PENMAN = (".amr", ".penman", ".txt")
_CONLLU = (".conllu",)
_LINE_BREAK = re.compile(r"\s*\n\s*")
_TOKEN_COLUMNS = ("tokens", "lemmas", "tags", "starts", "heads", "relations")


def read_sentences(path: Path) -> pl.DataFrame:
    """Read a file with a sentence a line; empty lines are skipped.

    Returns:
        Columns `line` (from 1), `sentence_id`, `text` (normalised).

    Raises:
        InputError: the file cannot be read, or has no sentence.
    """
    with open_text(path) as lines:
        texts = [(number, normalise(line)) for number, line in enumerate(lines, start=1)]
    rows = [(number, sentence_id(text), text) for number, text in texts if text]
    if not rows:
        raise InputError(f"The file {str(path)!r} has no sentence; give a text file with a sentence a line.")
    return pl.DataFrame(rows, schema={"line": pl.Int64, "sentence_id": pl.String, "text": pl.String}, orient="row")


def check_amr_output(path: Path) -> None:
    """Raise `InputError` unless the suffix is one of PENMAN or of a table; called before hours of parsing."""
    if path.suffix not in _PENMAN:
        table_format(path)


def check_dependency_output(path: Path) -> None:
    """Raise `InputError` unless the suffix is that of CoNLL-U or of a table."""
    if path.suffix not in _CONLLU:
        table_format(path)


def write_amr(amr: pl.DataFrame, texts: pl.DataFrame, path: Path) -> None:
    """Write graphs: PENMAN blocks with `::id` and `::snt`, or a table with the graph on one line.

    Args:
        amr: rows of `AMR`.
        texts: `sentence_id` and `text`.
        path: `.amr`, `.penman`, `.txt`, or a suffix of a table.
    """
    rows = amr.join(texts.unique("sentence_id"), on="sentence_id", maintain_order="left")
    if path.suffix in _PENMAN:
        blocks = (
            f"# ::id {identity}\n# ::snt {text}\n{penman}\n\n"
            for identity, text, penman in rows.select("sentence_id", "text", "penman").iter_rows()
        )
        _write_text(path, blocks)
        return
    graphs = [_LINE_BREAK.sub(" ", penman) for penman in rows["penman"]]
    write_table(rows.select("sentence_id", "text", pl.Series("penman", graphs, pl.String), "parser"), path)


def write_dependencies(dependencies: pl.DataFrame, texts: pl.DataFrame, path: Path) -> None:
    """Write trees: CoNLL-U, or a table with a row for each token.

    Args:
        dependencies: rows of `DEPENDENCIES`.
        texts: `sentence_id` and `text`.
        path: `.conllu`, or a suffix of a table.
    """
    rows = dependencies.join(texts.unique("sentence_id"), on="sentence_id", maintain_order="left")
    if path.suffix in _CONLLU:
        _write_text(path, _conllu(rows))
        return
    tokens = rows.with_columns(positions=pl.int_ranges(pl.col("tokens").list.len()))
    columns = ("positions", *_TOKEN_COLUMNS)
    singular = {name: name.removesuffix("s") for name in columns}
    write_table(tokens.select("sentence_id", *columns).explode(columns).rename(singular), path)


def _conllu(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the sentences in CoNLL-U: ten columns, heads from 1, 0 for a root."""
    for row in rows.iter_rows(named=True):
        yield f"# sent_id = {row['sentence_id']}\n# text = {row['text']}\n"
        tokens = zip(*(row[name] for name in _TOKEN_COLUMNS), strict=True)
        for position, (token, lemma, tag, start, head, relation) in enumerate(tokens):
            above = 0 if head == position else head + 1
            fields = (position + 1, token, lemma, "_", tag, "_", above, relation, "_", f"Start={start}")
            yield "\t".join(map(str, fields)) + "\n"
        yield "\n"


def _write_text(path: Path, parts: Iterable[str]) -> None:
    """Write a text so that a reader sees the old file or the whole new one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"The file {str(path)!r} cannot be written ({error.strerror}); check its folder.") from error
    finally:
        temporary.unlink(missing_ok=True)
