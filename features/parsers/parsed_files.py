"""Output of one-shot parsing: PENMAN, CoNLL-U, CoNLL-2005 columns or a table, with entries for rejects.

    format         a sentence             a reject
    .amr           a block                a block with `# ::reject CODE: why` and no graph
    .conllu .conll comments and tokens    comments, `# reject = CODE: why` among them, and no token
    tables         columns filled         columns empty except `code` and `message`

Every line of the input is in the output, under its id.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import polars as pl

from features.core.files import write_table
from features.core.outputs import TABLE_FORMATS, Formats, format_of, write_text
from features.graphs.penman_files import format_block, format_reject
from features.parsers.srl.frames import SPAN_COLUMNS, brackets, frames_of
from features.schemas import SRL

Kind = Literal["amr", "dependencies", "srl"]

_WITHOUT_TXT = {**TABLE_FORMATS, "tsv": (".tsv",)}
FORMATS: Mapping[Kind, Formats] = {
    "amr": {"amr": (".amr", ".penman", ".txt"), **_WITHOUT_TXT},
    "dependencies": {"conllu": (".conllu",), **TABLE_FORMATS},
    "srl": {"conll": (".conll",), **TABLE_FORMATS},
}
"""The formats of each kind of parse; the first is used for standard output."""

_REJECT = ("code", "message")
_TOKEN_COLUMNS = ("tokens", "lemmas", "tags", "starts", "heads", "relations")
_LINE_BREAK = re.compile(r"\s*[\t\r\n]\s*")
_EMPTY_LINES = re.compile(r"\n\s*\n")

_Row = dict[str, Any]


def write_parsed(kind: Kind, parsed: pl.DataFrame, path: Path, chosen: str | None = None) -> None:
    """Write parses as text or as a table.

    A table has graphs on one line, and one row per token of a tree. Frames have one row per line of the input where
    cells can be lists (`jsonl`, `parquet`), else one per span. A line without any has one row.
    """
    form = format_of(path, FORMATS[kind], chosen)
    if form in _TEXTS:
        write_text(path, (part for row in parsed.iter_rows(named=True) for part in _TEXTS[form](row)))
    elif kind == "amr":
        graphs = [None if penman is None else _LINE_BREAK.sub(" ", penman) for penman in parsed["penman"]]
        write_table(parsed.select("id", "text", pl.Series("penman", graphs, pl.String), "parser", *_REJECT), path, form)
    elif kind == "dependencies":
        columns = ("positions", *_TOKEN_COLUMNS)
        tokens = parsed.with_columns(positions=pl.int_ranges(pl.col("tokens").list.len()))
        table = tokens.select("id", *columns, *_REJECT).explode(columns)
        write_table(table.rename({name: name.removesuffix("s") for name in columns}), path, form)
    elif form in {"jsonl", "parquet"}:
        write_table(parsed.select("id", "text", *(name for name in SRL if name != "sentence_id"), *_REJECT), path, form)
    else:
        write_table(_span_rows(parsed), path, form)


def _span_rows(parsed: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each span, with the predicate of its frame and its words."""
    start, end = pl.col("span_starts"), pl.col("span_ends")
    predicate = pl.col("predicates").list.get(pl.col("span_frames"))
    filled = pl.when(pl.col("span_frames").list.len() > 0).then(pl.col(SPAN_COLUMNS))  # null, to keep a row for none
    return (
        parsed.with_columns(filled)
        .explode(SPAN_COLUMNS)
        .select(
            "id",
            predicate=predicate,
            predicate_word=pl.col("words").list.get(predicate),
            label="span_labels",
            start=start,
            end=end,
            words=pl.when(start.is_not_null()).then(pl.col("words").list.slice(start, end - start).list.join(" ")),
            code="code",
            message="message",
        )
    )


def _block(row: _Row) -> Iterator[str]:
    if row["penman"] is None:
        yield format_reject(row["id"], row["text"], row["code"], row["message"])
    else:
        yield format_block(row["id"], row["text"], _EMPTY_LINES.sub("\n", row["penman"].strip()))


def _commented(row: _Row, tokens: Callable[[_Row], Iterator[str]]) -> Iterator[str]:
    """Yield a sentence with its comments and the blank line after it; a rejected one has no tokens."""
    yield f"# sent_id = {row['id']}\n# text = {row['text']}\n"
    if row["code"] is None:
        yield from tokens(row)
    else:
        yield f"# reject = {row['code']}: {row['message']}\n"
    yield "\n"


def _conll(row: _Row) -> Iterator[str]:
    """Yield the tokens in columns; what a tagger does not provide (lemma, part of speech, parse, sense) is `-`."""
    words = row["words"]
    frames = frames_of(row["predicates"], *(row[name] for name in SPAN_COLUMNS))
    columns = [brackets(frame.spans, len(words)) for frame in frames]
    for position, cells in enumerate(zip(words, *columns, strict=True)):
        named = words[position] if position in row["predicates"] else "-"
        fields = (position + 1, cells[0], "-", "-", "-", named, named, *cells[1:])
        yield "\t".join(map(str, fields)) + "\n"


def _conllu(row: _Row) -> Iterator[str]:
    """Yield the tokens in CoNLL-U: ten columns, heads from 1, 0 for a root; `_` where a pipeline gives nothing."""
    tokens = zip(*(row[name] for name in _TOKEN_COLUMNS), strict=True)
    for position, (token, lemma, tag, start, head, relation) in enumerate(tokens):
        above = 0 if head == position else head + 1
        fields = (position + 1, token, lemma or "_", "_", tag or "_", "_", above, relation, "_", f"Start={start}")
        yield "\t".join(map(str, fields)) + "\n"


_TEXTS: Mapping[str, Callable[[_Row], Iterator[str]]] = {
    "amr": _block,
    "conllu": lambda row: _commented(row, _conllu),
    "conll": lambda row: _commented(row, _conll),
}
