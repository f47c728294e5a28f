"""Text files for one-shot parsing: a sentence a line in; PENMAN, CoNLL-U or a table out, as the suffix says."""

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from features.errors import InputError
from features.files import open_text, table_format, write_table
from features.parsers.srl.conll import brackets
from features.parsers.srl.frames import Span
from features.sentences import normalise, sentence_id
from features.store.schemas import SRL

_PENMAN = (".amr", ".penman", ".txt")
_CONLLU = (".conllu",)
_CONLL = (".conll",)
_SPAN_COLUMNS = ("span_frames", "span_labels", "span_starts", "span_ends")
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


def check_srl_output(path: Path) -> None:
    """Raise `InputError` unless the suffix is that of CoNLL columns or of a table."""
    if path.suffix not in _CONLL:
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


def write_srl(srl: pl.DataFrame, texts: pl.DataFrame, path: Path) -> None:
    """Write frames: the columns of `features.parsers.srl.conll`, or a table with a row for each span.

    Args:
        srl: rows of `SRL`.
        texts: `sentence_id` and `text`.
        path: `.conll`, or a suffix of a table. A table in which cells are lists (`.jsonl`, `.parquet`) has a row for
            each sentence instead.
    """
    rows = srl.join(texts.unique("sentence_id"), on="sentence_id", maintain_order="left")
    if path.suffix in _CONLL:
        _write_text(path, _conll(rows))
    elif table_format(path) in {"jsonl", "parquet"}:
        write_table(rows.select("sentence_id", "text", *(name for name in SRL if name != "sentence_id")), path)
    else:
        write_table(_span_rows(rows), path)


def _span_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each span, with the predicate of its frame and its words."""
    spans = []
    for row in rows.iter_rows(named=True):
        for number, label, start, end in zip(*(row[name] for name in _SPAN_COLUMNS), strict=True):
            predicate = row["predicates"][number]
            words = row["words"]
            text = " ".join(words[start:end])
            spans.append((row["sentence_id"], predicate, words[predicate], label, start, end, text))
    names = ("sentence_id", "predicate", "predicate_word", "label", "start", "end", "words")
    types = (pl.String, pl.Int64, pl.String, pl.String, pl.Int64, pl.Int64, pl.String)
    return pl.DataFrame(spans, schema=dict(zip(names, types, strict=True)), orient="row")


def _conll(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the sentences in columns; what a tagger does not say (lemma, part of speech, parse, sense) is `-`."""
    for row in rows.iter_rows(named=True):
        words = row["words"]
        spans: list[list[Span]] = [[] for _ in row["predicates"]]
        for number, *span in zip(*(row[name] for name in _SPAN_COLUMNS), strict=True):
            spans[number].append(Span(*span))
        columns = [brackets(of_frame, len(words)) for of_frame in spans]
        yield f"# sent_id = {row['sentence_id']}\n# text = {row['text']}\n"
        for position, cells in enumerate(zip(words, *columns, strict=True)):
            named = words[position] if position in row["predicates"] else "-"
            fields = (position + 1, cells[0], "-", "-", "-", named, named, *cells[1:])
            yield "\t".join(map(str, fields)) + "\n"
        yield "\n"


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
