"""The datasets that facetflow knows: a pinned record of each, and the layouts that its files come in.

    Dataset ── layouts ─┬─ TableLayout     sentence pairs in rows (TSV, CSV, JSON lines, Parquet)
                        ├─ CaptionLayout   captions of images; pairs are captions of one image
                        ├─ GraphLayout     two parallel PENMAN files
                        └─ TextLayout      texts with labels: aspects of papers, classes of reviews

A file is read in the first layout that it fits. A record holds facts only; the readers are in `tables.py`,
`captions.py`, `texts.py` and, for graphs, `reading.py`.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from features.core.closed import Closed
from features.core.files import TableFormat
from features.core.types import SPLITS, Split

Role = Literal["sentence_a", "sentence_b", "score", "label", "split", "group"]
SENTENCES: tuple[Role, Role] = ("sentence_a", "sentence_b")
Quotes = Literal["ordinary", "enclose", "detect"]
LabelForm = Literal["plain", "votes_of_six", "votes_of_five"]


class TableLayout(Closed):
    """Rows of a table, one pair each."""

    # the column of each role: by name (in a header line or as a key), or by position from 0 in a file without a header
    # line
    columns: Mapping[Role, str | int]
    form: TableFormat | None = None  # form of the table; by the suffix of the file when None
    optional: tuple[Role, ...] = ()  # roles that a file may lack
    # least number of cells in a row, for files without a header line; cells after the known ones are notes
    width: int | None = None
    # of a tab-separated file: double quotes are `ordinary` characters, or `enclose` cells, or this is detected from the
    # file (`detect`). In CSV they always enclose
    quotes: Quotes = "detect"
    # the scores are not in the file but line by line in a second one, whose name is made by replacing the first text by
    # the second
    scores_beside: tuple[str, str] | None = None
    label_form: LabelForm = "plain"  # how labels are written (`features.corpora.judgements`)

    @property
    def has_header(self) -> bool:
        """Whether columns are found by name."""
        return all(isinstance(column, str) for column in self.columns.values())


class CaptionLayout(Closed):
    """Captions of images."""

    # `wide` has all captions of an image in one row, after its name, below a header line; `tokens` has rows
    # `image#number <tab> caption` without a header line; `rows` has one caption per row below a header line; `coco
    # json` is the annotation file of COCO
    form: Literal["wide", "tokens", "rows", "coco json"]
    image: str = "image"  # name of the column with the image (`wide`, `rows`)
    # name of the column with the caption (`rows`); the caption columns (`wide`) are so called, with numbers
    caption: str = "caption"


class GraphLayout(Closed):
    """Two parallel PENMAN files, of sentences a and of sentences b; the sentences are in `# ::snt`."""

    form: Literal["penman"] = "penman"


class TextLayout(Closed):
    """Texts with labels, one text per row."""

    # `label first` has lines `label text`, without a header line; the others are tables with named columns, TSV, CSV,
    # JSON lines or Parquet, by the suffix of the file when None
    form: TableFormat | Literal["label first"] | None = None
    # columns that make the text, joined by ": " (title and abstract); several tuples give several texts per row
    text: tuple[tuple[str, ...], ...] = ()
    needs: tuple[str, ...] = ()  # columns without which a row is left out, because nothing else says what it is about
    aspects: Mapping[str, str]  # aspect → column with its labels; the one aspect of `label first` has no column
    # separator between several labels in a cell; when None, a cell is one label. A list, as in JSON lines and Parquet,
    # is always several labels
    separator: str | None = None
    cut: str | None = None  # character from which on a label is cut off (`DESC:manner` is `DESC`)
    quotes: Quotes = "detect"  # as in `TableLayout`
    encoding: str | None = None  # encoding of lines that are not UTF-8, in old releases

    @property
    def columns(self) -> list[str]:
        """The columns of a table that are read."""
        return [*(name for names in self.text for name in names), *self.aspects.values()]


class Dataset(Closed):
    """A pinned record of a dataset."""

    name: str  # its name in settings
    # what its pairs are judged for; `aspects` and `classes` are texts with several labels and with one label, `own` is
    # a user's data
    kind: Literal["similarity", "paraphrase", "inference", "captions", "aspects", "classes", "own"]
    about: str  # one sentence for a reader who does not know it
    splits: tuple[Split, ...] = SPLITS  # the splits that its makers released; by default all three
    # the forms that its files come in; a file is read in the first that fits
    layouts: tuple[TableLayout | CaptionLayout | GraphLayout | TextLayout, ...] = Field(min_length=1)
    score_range: tuple[float, float] | None = None  # lowest and highest human score, as released
    unscored: bool = False  # rows without a score belong to the release; they are skipped, not rejected
    labels: tuple[str, ...] = ()  # the labels as released; empty if there are none or any label is accepted
    # score of a label, if an evaluation ranks pairs by their labels
    label_scores: Mapping[str, float] = Field(default_factory=dict)
    # labels that mean that annotators disagreed, or that nothing is known; rows without another label are skipped, not
    # rejected
    no_gold: tuple[str, ...] = ()
    # names of our splits in a column with the role `split`
    split_names: Mapping[str, Split] = {split: split for split in SPLITS}
    licence: str  # terms of use, as its makers state them
    source: str  # where to get it
    paper: str = "none"  # where it was published, if it was
    package_file: Path | None = None  # for data that come with facetflow, the file in the package `features.corpora`
    # digests of the uncompressed copies that the readers were checked with, by file name
    sha256: Mapping[str, str] = Field(default_factory=dict)

    @property
    def judged(self) -> bool:
        """Whether its pairs are judged, related or not: they are used whole, and need no negatives drawn."""
        return self.kind in {"inference", "paraphrase"}

    @property
    def has_texts(self) -> bool:
        """Whether its rows are texts with labels, not pairs."""
        return isinstance(self.layouts[0], TextLayout)


def _records() -> dict[str, Dataset]:
    records: dict[str, dict[str, Any]] = {}
    for name, own in tomllib.loads(Path(__file__).with_name("datasets.toml").read_text("utf-8")).items():
        records[name] = {**records.get(own.pop("like", ""), {}), **own, "name": name}
    return {name: Dataset(**record) for name, record in records.items()}


DATASETS = _records()
"""Name → its record of `datasets.toml`."""
