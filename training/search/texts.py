"""The texts to search: those of a release, of a file, or of the files in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from features.core.faults import FileEmpty, UnknownTexts
from features.core.files import source_name
from features.core.outputs import format_suffix
from features.core.wording import counted
from features.corpora.headers import hint_of_form
from features.corpora.texts import complete_ids
from features.parsers.texts import TABLE_SUFFIXES, stream_texts
from features.store.locations import Location
from training.data.labelled_texts import LabelledTexts
from training.data.releases import OpenRelease
from training.jobs import Source
from training.search.blocks import EncodedFile


@dataclass(frozen=True, slots=True)
class SearchedTexts:
    """Texts to search."""

    texts: Sequence[str]  # with single blanks, none empty
    # of each: the file's, or else the number of its line or row (`row 7` where other rows have ids); empty for texts of
    # a release
    ids: Sequence[str]
    labels: tuple[dict[str, list[str]], ...]  # of each: aspect → its labels; empty for those of a file or of pairs
    origin: str  # where they come from, in words
    empty: int = 0  # number of rows of the file that had no text and were left out
    wrong: tuple[str, ...] = ()  # what is wrong with rows that could not be read and were left out, a sentence each
    encoded: EncodedFile | None = None  # the file, where it has their vectors
    drawn_from: int | None = None  # number of texts that these were drawn from; None if they are all

    def __len__(self) -> int:
        return len(self.texts)

    def sample(self, most: int, seed: int) -> "SearchedTexts":
        """Return at most so many of the texts, drawn at random and in their order."""
        if len(self) <= most:
            return self
        rows = np.sort(np.random.default_rng(seed).choice(len(self), most, replace=False)).tolist()
        texts, ids, labels = (
            [values[row] for row in rows] if values else () for values in (self.texts, self.ids, self.labels)
        )
        return replace(self, texts=texts, ids=ids, labels=tuple(labels), drawn_from=len(self))


def texts_of_file(path: Path, columns: Sequence[str] = ()) -> SearchedTexts:
    """Read texts of a table (`.tsv`, `.csv`, `.jsonl`, `.parquet`), a file with one per line, or such lines on `-`.

    Columns of a table are joined by ": "; `text` when empty. A file that `facetflow encode` wrote has their vectors.
    """
    if not columns and (encoded := EncodedFile.open(path)) is not None:
        texts, empty = encoded.cells("text"), encoded.height - len(encoded.rows)
        return SearchedTexts(texts, encoded.cells("id"), (), source_name(path), empty, encoded=encoded)
    rows = list(stream_texts(path, columns))
    cells = zip(complete_ids([row.id for row in rows]), rows, strict=True)
    kept = [(identity, row.text) for identity, row in cells if row.text]
    wrong = tuple(f"{source_name(path)}, line {row.line}: {row.problem}" for row in rows if row.problem)
    if not kept:
        raise no_text(path, wrong)
    without = len(rows) - len(kept) - len(wrong)
    ids, each = zip(*kept, strict=True)
    return SearchedTexts(each, ids, (), source_name(path), without, wrong)


def no_text(path: Path, wrong: Sequence[str]) -> FileEmpty:
    """Return the error that a file has no text; `wrong` is what is wrong with its rows."""
    first = f" ({wrong[0]})" if wrong else ""
    hint = hint_of_form(path) if format_suffix(path)[0] in TABLE_SUFFIXES else ""
    return FileEmpty(f"{source_name(path)} has no text{first}; give a file with at least one{hint}.")


def texts_of_folder(folder: Path, columns: Sequence[str] = ()) -> SearchedTexts:
    """Read the texts of the tables and text files in a folder as `texts_of_file` does; ids begin with the file.

    A file without a text, such as a note that was only begun, is wrong, and left out.
    """
    suffixes = (".txt", *TABLE_SUFFIXES)
    each: dict[Path, SearchedTexts] = {}
    wrong: list[str] = []
    for file in sorted(file for file in folder.iterdir() if file.is_file() and format_suffix(file)[0] in suffixes):
        try:
            each[file] = texts_of_file(file, columns if format_suffix(file)[0] in TABLE_SUFFIXES else ())
            wrong += each[file].wrong
        except FileEmpty as error:
            wrong.append(str(error).rstrip("."))
    if not each:
        raise FileEmpty(f"The folder {str(folder)!r} has no texts: put files there ({', '.join(suffixes)}).")
    return SearchedTexts(
        texts=tuple(text for part in each.values() for text in part.texts),
        ids=tuple(f"{file.name}:{number}" for file, part in each.items() for number in part.ids),
        labels=(),
        origin=f"{counted(len(each), 'file')} of {folder.name or str(folder)}",
        empty=sum(part.empty for part in each.values()),
        wrong=tuple(wrong),
    )


def texts_of_release(store: Location, corpus: str | None = None) -> SearchedTexts:
    """Read the texts of the latest release, of one corpus or of all.

    These are the texts with labels; without any, or in another corpus, the sentences of pairs.
    """
    labels = Source(store=store).find(LabelledTexts)
    labelled = set(labels.labels["corpus"]) if labels is not None else set()
    if labels is not None and (corpus is None or corpus in labelled):
        chosen = labels if corpus is None else labels.select(corpora=(corpus,))
        by_text: list[dict[str, list[str]]] = [{} for _ in chosen.texts]
        rows = chosen.labels.select("text", "aspect", "label").unique().sort("aspect", "label").rows()
        for position, aspect, label in rows:
            by_text[position].setdefault(aspect, []).append(label)
        origin = _origin(corpus, chosen.source["release"]) + ("" if corpus else ", those with labels")
        return SearchedTexts(chosen.texts, (), tuple(by_text), origin)
    pinned = OpenRelease(store)
    columns = ("corpus", "sentence_a", "sentence_b")
    without = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    pairs = pinned.read("pairs", columns) if "pairs" in pinned else without
    if corpus is not None and corpus not in (paired := set(pairs["corpus"])):
        raise UnknownTexts(
            f"The corpus {corpus!r} has no texts in {pinned.name}; corpora with texts are: "
            f"{', '.join(sorted(paired | labelled)) or 'none'}. Name one of them, or a file."
        )
    of_corpus = pairs if corpus is None else pairs.filter(corpus=corpus)
    texts = pinned.texts_of(of_corpus["sentence_a"], of_corpus["sentence_b"])
    if texts.is_empty():
        raise pinned.lacks("no texts: build a corpus, or name a file to search")
    return SearchedTexts(tuple(texts["text"]), (), (), _origin(corpus, pinned.source["release"]))


def _origin(corpus: str | None, release: int) -> str:
    return f"{'' if corpus is None else f'{corpus}, '}release {release}"
