"""Suspicious labels, scores and spellings of a corpus, as sentences; the rows are kept as they are."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from features.core.wording import all_of

_FEW, _SHOWN = 5, 40  # keys in a message, and characters of each


class Report(BaseModel):
    """A part of the report of an ingest."""

    model_config = ConfigDict(extra="forbid")


class LabelFaultReport(Report):
    """Suspicious labels of a corpus in one aspect, or texts without any; they are kept as they are.

    Args:
        aspect: what the labels are about.
        fault: `no label`: there is none at all; `missing`: texts have none in it; `one label`: the same for all texts;
            `each its own`: no two texts share one; `joined`: looks like several labels in a cell; `spelling`: differs
            from another label only in case or white space; `gone`: in the store and no longer in the file, although
            its text is.
        labels: how many labels have the fault.
        texts: number of texts that have one of them; with `missing`, that have none.
        among: with `missing`, number of all texts that were read.
        examples: labels with the number of their texts.
        separator: with `joined`, what stands between them.
    """

    corpus: str
    aspect: str
    fault: Literal["no label", "missing", "one label", "each its own", "joined", "spelling", "gone"]
    labels: int = 0
    texts: int = 0
    among: int = 0
    examples: dict[str, int] = Field(default_factory=dict)
    separator: str = ""

    def __str__(self) -> str:
        if self.fault == "no label":
            return (
                f"No text of {self.corpus!r} has a label in the aspect {self.aspect!r}: check the column that "
                "`aspects` names for it, or leave the aspect out."
            )
        if self.fault == "missing":
            has = "1 text has" if self.texts == 1 else f"{self.texts:,} texts have"
            return (
                f"{has} no label in the aspect {self.aspect!r} among the {self.among:,} of {self.corpus!r}: what "
                "learns from this aspect, or is scored by it, leaves them out."
            )
        if self.fault in {"one label", "each its own"}:
            (label,) = self.examples
            who, have = f"No two of the {self.texts:,} texts", "share one, such as"
            if self.fault == "one label":
                who, have = all_of(self.texts, "text"), "has the label" if self.texts == 1 else "have the same,"
            return (
                f"{who} of {self.corpus!r} with a label in the aspect {self.aspect!r} {have} {label!r}: there is "
                "nothing to learn; check the column, or leave the aspect out."
            )
        if self.fault == "joined":
            ((label, count),) = self.examples.items()
            return (
                f"{self.labels:,} labels of {self.corpus!r} in the aspect {self.aspect!r} ({self.texts:,} texts) look "
                f"like several in one cell, such as {label!r} ({count:,}), whose parts other cells have too: set "
                f'separator = "{self.separator}" for this corpus if they are, before it is built.'
            )
        if self.fault == "gone":
            label = next(iter(self.examples))
            texts = "1 text" if self.texts == 1 else f"{self.texts:,} texts"
            return (
                f"{texts} of {self.corpus!r} lost a label in the aspect {self.aspect!r} since it was stored, such "
                f"as {label!r}: stored rows do not change, so it stays in addition to those of the file; if it "
                "was wrong, build a new store."
            )
        named = " and ".join(f"{label!r} ({texts:,})" for label, texts in self.examples.items())
        return (
            f"{self.labels:,} labels of {self.corpus!r} in the aspect {self.aspect!r} ({self.texts:,} texts) differ "
            f"from another only in case or spaces, such as {named}: they count as different labels. If they mean "
            "the same, write them alike in the file and build a new store; stored rows do not change."
        )


class KeyFaultReport(Report):
    """Rows of JSON lines that lack a key that is read, and have others that are perhaps the same one, misspelt.

    `unread` are keys that nothing reads and no row with `key` has, with the number of their rows, the most frequent
    first; `origin` is `file:line` of the first row with the first of these.
    """

    corpus: str
    key: str
    rows: int
    unread: dict[str, int]
    origin: str

    def __str__(self) -> str:
        rows, have = ("1 row", "has") if self.rows == 1 else (f"{self.rows:,} rows", "have")
        named = ", ".join(f"{name[:_SHOWN]!r} ({count:,})" for name, count in list(self.unread.items())[:_FEW])
        more = f" and {len(self.unread) - _FEW:,} more" if len(self.unread) > _FEW else ""
        return (
            f"{rows} of {self.corpus!r} without the key {self.key!r} {have} keys that nothing reads and no row with "
            f"{self.key!r} has: {named}{more}, first in {self.origin}. If one of them is {self.key!r} misspelt, rename "
            "it in the file and build again."
        )


class ChosenLabelReport(Report):
    """A label that `labels` of a corpus names and no row has."""

    corpus: str
    label: str

    def __str__(self) -> str:
        return (
            f"No row of {self.corpus!r} has the label {self.label!r}, which `labels` of this corpus names: write it as "
            "in the files, or leave it out."
        )


class TextFaultReport(Report):
    """Texts with labels of a corpus that have another spelling, in case or punctuation; they are kept as they are.

    `parted` is the number of those whose spellings are in several splits; the examples may be shortened.
    """

    corpus: str
    texts: int
    parted: int
    examples: tuple[str, str]

    def __str__(self) -> str:
        first, second = self.examples
        where = f"{self.parted:,} have a spelling in another split" if self.parted else "stay in one split"
        return (
            f"{self.texts:,} texts of {self.corpus!r} differ from another only in case or punctuation, such as "
            f"{first!r} and {second!r}: they count as different texts, and {where}. If they are the same, write them "
            "alike in the file and build a new store; stored rows do not change."
        )


class JudgementFaultReport(Report):
    """Suspicious judgements, labels or scores, of the pairs of a corpus that were read; they are kept as they are.

    Args:
        judgement: what they are.
        fault: `none`: neither the file nor the store has one; `missing`: pairs have none in the store, those that are
            added now included; `spelling`: differs from another label only in case or white space; `several`: two
            sentences are a pair more than once, with different ones.
        pairs: number of pairs that were read.
        affected: number of those with the fault.
        examples: labels with the number of their pairs; with `several`, those of one pair.
        texts: with `several`, the sentences of this pair, perhaps shortened.
    """

    corpus: str
    judgement: Literal["label", "score"]
    fault: Literal["none", "missing", "spelling", "several"]
    pairs: int
    affected: int
    examples: dict[str, int] = Field(default_factory=dict)
    texts: tuple[str, str] | None = None

    def __str__(self) -> str:
        if self.fault == "several":
            are = "1 pair of sentences is" if self.affected == 1 else f"{self.affected:,} pairs of sentences are"
            first, second = self.texts or ("", "")
            return (
                f"{are} in {self.corpus!r} more than once with different {self.judgement}s, such as {first!r} with "
                f"{second!r} ({' and '.join(self.examples)}): all are kept, and what learns from a {self.judgement} "
                "learns each of them. If one is wrong, correct the file and build a new store."
            )
        if self.fault == "spelling":
            named = " and ".join(f"{label!r} ({pairs:,})" for label, pairs in self.examples.items())
            return (
                f"Labels of {self.corpus!r} ({self.affected:,} pairs) differ from another only in case or spaces, such "
                f"as {named}: they count as different labels. If they mean the same, write them alike in the file and "
                "build a new store; stored rows do not change."
            )
        if self.fault == "none":
            return f"No pair of {self.corpus!r} has a {self.judgement}: check the column that `columns` names for it."
        has = "1 pair has" if self.affected == 1 else f"{self.affected:,} pairs have"
        return (
            f"{has} no {self.judgement} among the {self.pairs:,} of {self.corpus!r}: what learns from a "
            f"{self.judgement}, or is scored by it, leaves them out."
        )
