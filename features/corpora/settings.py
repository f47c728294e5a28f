"""Settings of corpora in the project file: `[[corpora]]`, `[leakage]`, `[[evaluation]]` and `[ingest]`."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, model_validator

from features.core.closed import Closed
from features.core.draws import share_of
from features.core.faults import Conflict, EmptySetting, UnknownName, WrongValue
from features.core.types import SPLITS, SentenceId, Split
from features.core.wording import did_you_mean
from features.corpora.dataset import DATASETS, SENTENCES, Dataset, Quotes, Role, TableLayout, TextLayout

Files = str | tuple[str, ...]
"""One path, a pattern such as `sts/*.tsv`, or several of them; relative to the project file."""


def _known_dataset(name: str) -> str:
    if name not in DATASETS:
        use = did_you_mean(name, DATASETS, f"use one of {', '.join(DATASETS)}")
        raise UnknownName(f"{name!r} is not a known dataset; {use}; 'pairs' and 'texts' are for tables of your own")
    return name


def _check_files(files: Mapping[Split, Files]) -> None:
    for split, named in files.items():
        if not named:
            raise EmptySetting(f"`files.{split}` is empty: name a file, or leave {split} out")


Share = Annotated[float, Field(ge=0, lt=1)]


class DrawSettings(Closed):
    """Random splits of texts with labels, or of pairs that come without splits.

    Each text is drawn by a hash of it and the seed: its split never changes when others are added, and is the same in
    every corpus drawn with this seed. Pairs that share a sentence are drawn together, by a hash of one of their
    sentences, so that no sentence is in two splits. The hash gives a place in [0, 1): `test` takes the beginning,
    `dev` the end, and `train` what is in between.

    Args:
        dev: share of the texts or pairs.
        test: share of the texts or pairs.
        seed: seed of the drawing.
    """

    dev: Share = 0.0
    test: Share = 0.0
    seed: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _something_is_left(self) -> Self:
        if self.dev + self.test >= 1:
            raise WrongValue(f"dev = {self.dev} and test = {self.test} leave nothing for train: lower them")
        if not self.dev and not self.test:
            raise EmptySetting("it draws nothing: give dev, test or both a share, such as dev = 0.1")
        return self

    def split_of(self, sentence: SentenceId, share: float = 0.0) -> Split:
        """Return the split of a text, or of pairs that are drawn together.

        `share` is that of these pairs among all: if it is larger than the split's, they stay in train.
        """
        point = share_of(f"{self.seed}/{sentence}")
        if point < self.test:
            return "test" if share <= self.test else "train"
        return "dev" if point >= 1 - self.dev and share <= self.dev else "train"

    @property
    def shares(self) -> Mapping[Split, float]:
        """The splits that are drawn, with their shares."""
        shares: dict[Split, float] = {"dev": self.dev, "test": self.test}
        return {split: share for split, share in shares.items() if share}


class _SourceSettings(Closed):
    """Settings common to all sources of pairs or texts.

    Args:
        dataset: a known dataset; `pairs` or `texts` for a table of your own.
        name: name in the store and in reports; by default the dataset's.
        text: column with the text, or several, joined by ": " (texts with labels).
        aspects: aspect → column with its labels (texts with labels).
        separator: what stands between several labels in a cell (texts with labels); by default the dataset's, "|" for
            your own table.
        columns: role → column, where names differ; positions from 0 without a header line (pairs). `group`, a pair's
            topic or document, is for `draw`.
        quotes: whether double quotes in a TSV enclose cells or are ordinary; by default as in the dataset, or detected.
    """

    dataset: Annotated[str, AfterValidator(_known_dataset)]
    name: str = Field(default="", pattern=r"^[\w.+-]*$")
    text: str | tuple[str, ...] | None = None
    aspects: Mapping[str, str] | None = None
    separator: Annotated[str, Field(min_length=1)] | None = None
    columns: Mapping[Role, str | NonNegativeInt] | None = None
    quotes: Quotes | None = None

    @property
    def record(self) -> Dataset:
        """The record of the dataset."""
        return DATASETS[self.dataset]

    @model_validator(mode="after")
    def _columns_fit_the_record(self) -> Self:
        empty = [name for name in ("text", "aspects", "columns") if getattr(self, name) in ("", (), {})]
        if empty:
            raise EmptySetting(f"`{empty[0]}` is empty: name a column, or leave it out for the usual columns")
        given = [name for name in ("text", "aspects", "separator") if getattr(self, name) is not None]
        if given and not self.record.has_texts:
            raise Conflict(f"`{given[0]}` is for texts with labels, and {self.dataset!r} is pairs: use `columns`")
        if self.columns is not None and self.record.has_texts:
            raise Conflict(
                f"`columns` is for pairs, and {self.dataset!r} is texts with labels: use `text` and `aspects`"
            )
        if given and getattr(self.record.layouts[0], "form", None) == "label first":
            raise Conflict(
                f"{self.dataset!r} has lines with a label and a text, no columns for `{given[0]}`: for a table use "
                "dataset = 'texts'"
            )
        columns = self.columns or {}
        by_position = [isinstance(column, int) for column in columns.values()]
        if any(by_position) and not (all(by_position) and {"sentence_a", "sentence_b"} <= set(columns)):
            raise Conflict(
                f"the columns {dict(columns)!r} mix names and positions, or lack the position of a sentence: "
                "give all as names, or all as positions with sentence_a and sentence_b among them"
            )
        first, second = (columns.get(role, role) for role in SENTENCES)
        if first == second:
            raise Conflict(f"`columns` takes both sentences from {first!r}: give the columns of two")
        return self


class CorpusSettings(_SourceSettings):
    """A corpus: sentence pairs, or texts with labels, that go into the store.

    Args:
        files: files of each split; two for `penman`, of sentences a and b. Data in the package need none.
        labels: labels of the rows to use; by default `all`.
        negatives: splits whose pairs get one negative each; by default `train`, and none for judged pairs that are used
            whole.
        neighbours: how many of its nearest by embedding each sentence of `train` is also paired with.
        caption_pairs: how many pairs are drawn from the captions of an image.
        draw: random shares, for splits without files.
    """

    files: Mapping[Split, Files] = Field(default_factory=dict)
    labels: Literal["all"] | tuple[str, ...] | None = None
    negatives: tuple[Split, ...] | None = None
    neighbours: Annotated[int, Field(ge=0, le=100)] = 0
    caption_pairs: Literal["all"] | PositiveInt = "all"
    draw: DrawSettings | None = None

    @model_validator(mode="before")
    @classmethod
    def _default_name(cls, values: object) -> object:
        if isinstance(values, Mapping) and not values.get("name"):
            return {**values, "name": str(values.get("dataset", ""))}
        return values

    @model_validator(mode="after")
    def _files_and_labels_fit_the_record(self) -> "CorpusSettings":
        record = self.record
        if not self.files and record.package_file is None:
            raise EmptySetting(f'corpus {self.name!r} names no files: give files = {{ train = "..." }}')
        _check_files(self.files)
        if self.labels == ():
            raise EmptySetting('`labels` is empty, so no row would be read: name labels, or set labels = "all"')
        of_tables = bool(self.columns) or isinstance(record.layouts[0], TableLayout | TextLayout)
        unread = ["negatives", "neighbours"] * record.has_texts + ["caption_pairs"] * (record.kind != "captions")
        unread += ["labels", "quotes"] * (not of_tables)
        if given := [name for name in unread if getattr(self, name) not in (None, (), 0, "all")]:
            raise Conflict(f"`{given[0]}` has no effect on a corpus of {record.name!r}: leave it out")
        if record.labels and (unknown := set(self.chosen_labels or ()) - set(record.labels)):
            raise UnknownName(
                f"{record.name!r} has no labels {sorted(unknown)}; use some of {list(record.labels)}, or 'all'"
            )
        return self

    @model_validator(mode="after")
    def _drawn_splits_have_no_files(self) -> "CorpusSettings":
        if self.draw is None:
            if "group" in (self.columns or {}):
                raise Conflict(
                    f"corpus {self.name!r} names a column `group`, which says what `draw` keeps in one split: give "
                    "draw = { dev = 0.1 }, or leave the column out"
                )
            return self
        if self.record.kind == "classes":
            raise Conflict(
                f"`draw` is not for texts with one class, as {self.dataset!r} has: give a file for each split"
            )
        if not self.files:
            raise Conflict(f"`draw` is for files of your own; those of {self.dataset!r} come with their splits")
        if len(self.files) > 1 and "train" not in self.files:
            raise Conflict(
                f"corpus {self.name!r} has `draw`, and files for {' and '.join(self.files)} but none for train, from "
                "which it draws: name files = { train = [...] }"
            )
        twice = [split for split in self.draw.shares if split in self.files and len(self.files) > 1]
        if twice:
            raise Conflict(
                f"corpus {self.name!r} draws {twice[0]} and has files for it: put these with those of train, or leave "
                f"{twice[0]} out of `draw`"
            )
        return self

    @property
    def drawn_from(self) -> Split | None:
        """The split whose rows may be drawn into the splits without files; None if every split has files."""
        if len(self.files) == 1:
            return next(iter(self.files))
        return "train" if "train" in self.files and len(self.files) < len(SPLITS) else None

    @property
    def without_files(self) -> tuple[Split, ...]:
        """The splits without files."""
        return tuple(split for split in SPLITS if split not in self.files)

    @property
    def files_key(self) -> str:
        """The name of the setting with the files, for messages; `{split}` stands for the split."""
        return f"`files.{{split}}` of the corpus {self.name!r}"

    @property
    def chosen_labels(self) -> tuple[str, ...] | None:
        """Labels of the rows to use; None for every row."""
        return self.labels if isinstance(self.labels, tuple) else None

    @property
    def drawn_splits(self) -> tuple[Split, ...]:
        """Splits whose pairs get one negative each."""
        if self.negatives is not None:
            return self.negatives
        return () if self.record.judged and self.chosen_labels is None else ("train",)


class EvaluationSet(_SourceSettings):
    """What encoders are evaluated on and not trained on: rated pairs, or texts or pairs with a class.

    Args:
        split: split of the dataset.
        file: file of the set; two for `penman`. Texts with a class in one file are cross-validated.
        files: instead of `file`, for a classifier of texts or judged pairs (suite `transfer`): `train`, `test` and
            optionally `dev`.
    """

    split: Split = "test"
    file: Files = ()
    files: Mapping[Split, Files] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _default_name(cls, values: object) -> object:
        if isinstance(values, Mapping) and not values.get("name"):
            dataset = str(values.get("dataset", ""))
            whole = values.get("files") or (dataset in DATASETS and DATASETS[dataset].has_texts)
            return {**values, "name": dataset if whole else f"{dataset}-{values.get('split', 'test')}"}
        return values

    @property
    def files_key(self) -> str:
        """The name of the setting with the file, for messages."""
        return f"`{'files.{split}' if self.files else 'file'}` of the evaluation set {self.name!r}"

    @property
    def has_classes(self) -> bool:
        """Whether a classifier is trained on embeddings of its texts or pairs; otherwise pairs are rated."""
        return bool(self.files) or self.record.has_texts

    @property
    def splits(self) -> Mapping[Split, Files]:
        """The files of each of its splits."""
        return self.files or ({self.split: self.file} if self.file else {})

    @property
    def held_out(self) -> Mapping[Split, Files]:
        """The splits whose sentences training data must not contain: all but those a classifier is trained on."""
        return {split: files for split, files in self.splits.items() if not self.files or split != "train"}

    @model_validator(mode="after")
    def _has_a_file(self) -> "EvaluationSet":
        _check_files(self.files)
        if self.files and (self.file or self.split != "test"):
            raise Conflict(f"evaluation set {self.name!r} has `files`, and also `file` or `split`: give `files` alone")
        if self.files and {"train", "test"} - set(self.files):
            raise Conflict(
                f"evaluation set {self.name!r} names files of {', '.join(self.files)}: a classifier is trained on "
                '`train` and scored on `test`; for texts in one file, which is cross-validated, give file = "..."'
            )
        if self.files and not (self.record.has_texts or self.record.judged or self.record.kind == "own"):
            raise Conflict(
                f"evaluation set {self.name!r} has `files`, which are for classes, and {self.dataset!r} has none to "
                'learn: give file = "..."'
            )
        if not self.splits and self.record.package_file is None:
            raise EmptySetting(f'evaluation set {self.name!r} names no file: give file = "..."')
        return self


class LeakageSettings(Closed):
    """The guard against evaluation sentences in training data.

    Args:
        mode: `drop` keeps what has an evaluation sentence out of `train`; `report` counts it; `off` ignores it.
        evaluation: sets to guard besides `[[evaluation]]`, with the same keys.
    """

    mode: Literal["drop", "report", "off"] = "drop"
    evaluation: tuple[EvaluationSet, ...] = ()


class IngestSettings(Closed):
    """How sentences, pairs and labels are stored.

    Args:
        sentences_per_shard: sentences in a shard, at most.
        pairs_per_shard: pairs, or labels, in a shard, at most.
        max_words: longest accepted sentence, in words between white space.
    """

    sentences_per_shard: PositiveInt = 4096
    pairs_per_shard: PositiveInt = 8192
    max_words: PositiveInt = 512
