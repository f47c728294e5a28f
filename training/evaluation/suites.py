"""Evaluation suites, each a class in its own file and a line in `SUITES`.

    job ──Subject──> Suite.of ──> score(models) ──> result ──> metrics.json ──┬── tables    terminal, model card, server
                     reads what       embeds and                              ├── chapter   the report
                     it scores on     compares                                ├── headline  `facetflow runs`
                                                                              ├── items     `facetflow compare`
                                                                              └── compared  promotion

A result is JSON of one form, and everything that is shown is made from it, right away or later from the file:

    rows    one per score: `name`, `encoder` (higher is better), and what else is shown of it, mostly a `Drawn.paired`
    mean    over the rows, a `Drawn.paired`; None where there is none
    data    digests: results are on the same data where these are equal

Texts are embedded once, however many suites need them (`training.evaluation.models`).
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import polars as pl

from features import models
from features.core.faults import UnknownName
from features.core.files import write_table
from features.corpora.classified import ClassTask, read_tasks
from features.corpora.reading import EvaluationPairs, read_evaluation
from features.metrics.bootstrap import Bootstrap
from training.data.labelled_pairs import LabelledPairs
from training.evaluation.seen import seen_part
from training.evaluation.tables import ScoreTable, mean_of
from training.jobs import EvaluationJob
from training.kinds import KINDS, learns_labels
from training.runs import training_of

if TYPE_CHECKING:
    # slow to import; `facetflow status` only asks which suites there are
    from training.evaluation.items import ItemScores
    from training.evaluation.models import Models
    from training.modules.pair_classifier import PairClassifier


class Subject:
    """An encoder and the data it is scored on, as a job names them."""

    def __init__(self, job: EvaluationJob) -> None:
        self.job = job
        self.bootstrap = Bootstrap(job.resamples, job.seed)
        """How intervals are computed; the same for all suites."""

    @cached_property
    def training(self) -> Mapping[str, Any]:
        """Content of the encoder's training.json; empty for an encoder that facetflow did not train."""
        return training_of(self.job.encoder)

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the encoder's training; empty where they are unknown."""
        settings: Mapping[str, Any] = self.training.get("settings", {})
        return settings

    @property
    def kind(self) -> str:
        """Kind of the encoder; empty where it is unknown."""
        return str(self.settings.get("kind", ""))

    @cached_property
    def backbone(self) -> Path | None:
        """Folder of the encoder's start model; None where that is unknown."""
        name = self.settings.get("backbone")
        return None if name is None else models.locate(name, self.job.base)

    @cached_property
    def rating_sets(self) -> "list[EvaluationPairs]":
        """Sets of human ratings; errors as for `read_evaluation`."""
        return [read_evaluation(rated, self.job.base) for rated in self.job.ratings]

    @cached_property
    def tasks(self) -> list[ClassTask]:
        """Classification tasks on texts and pairs; errors as for `read_tasks`."""
        return [task for tested in self.job.tasks for task in read_tasks(tested, self.job.base)]

    @cached_property
    def judged(self) -> LabelledPairs | None:
        """Pairs with labels; None where the job has none."""
        return None if self.job.source is None else self.job.source.find(LabelledPairs)

    @cached_property
    def classifier(self) -> "PairClassifier | None":
        """The encoder's classifier of pairs; None where it has none, and its training saved none."""
        from training.modules.pair_classifier import PairClassifier

        has_one = learns_labels(self.settings) or PairClassifier.is_in(self.job.encoder)
        return PairClassifier.load(self.job.encoder) if has_one else None

    def part(self, corpora: Collection[str], sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return what a result says of the split that is scored, given its corpora and the sizes of all splits.

        The `split`; how the training used it, `seen` (`seen_part`); and the sizes of those that neither uses, `others`.
        """
        split = self.job.split
        used = {*(self.settings.get("splits") or ()), split}
        others = {name: size for name, size in sizes.items() if name not in used}
        return {"split": split, "seen": seen_part(self.training, split, corpora), "others": others}


Result = Mapping[str, Any]
"""The result of a suite, as JSON."""

SUITES: dict[str, str] = {
    "facets": "training.evaluation.facets.suite:FacetSuite",
    "ratings": "training.evaluation.ratings:RatingSuite",
    "transfer": "training.evaluation.transfer.suite:TransferSuite",
    "predictors": "training.evaluation.facets.predictors:PredictorSuite",
    "paraphrase": "training.evaluation.paraphrase.suite:ParaphraseSuite",
    "labels": "training.evaluation.labels:LabelSuite",
    "retrieval": "training.evaluation.retrieval.suite:RetrievalSuite",
}
"""Name → module and class, in the order of the report. A suite that no kind of encoder names applies to all kinds."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A key figure at the head of the report: the number as displayed, what it is, and a text in small type."""

    number: str
    text: str
    small: str = ""
    shares: Mapping[str, int] = field(default_factory=dict)
    """Verdict → how many scores have it, drawn as a bar below the text."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """The chapter of a suite in the report, besides its tables."""

    about: str = ""  # what the scores are, a sentence or two
    charts: Mapping[str, str] = field(default_factory=dict)  # title (none for one alone) → HTML above the tables
    more: str = ""  # HTML below the tables
    facts: Mapping[str, str] = field(default_factory=dict)  # lines of the report's head: the data that was scored
    warnings: Sequence[str] = ()  # what a reader must know before any number, a sentence each; empty ones do not count
    figures: Sequence[Figure] = ()  # key figures for the head
    origin: Mapping[str, Any] = field(default_factory=dict)  # what the numbers can be traced back to


class Suite(ABC):
    """One way to score an encoder. An instance holds the data to score on; the class displays results."""

    name: ClassVar[str]
    """As in `SUITES`, in jobs and in metrics.json."""
    title: ClassVar[str]
    """Heading of its chapter."""
    needs: ClassVar[str]
    """The data that it needs and where it comes from, for the error message when it is missing."""
    measure: ClassVar[str] = "score"
    """What its numbers are, such as Spearman."""
    mean: ClassVar[str] = ""
    """Name of the mean over all of its numbers, where that represents the suite in lists of runs."""
    called: ClassVar[str] = ""
    """What a promotion calls its numbers, as in "human ratings of STSb"; its name by default."""
    file: ClassVar[str] = ""
    """Name of the table of its single items, next to metrics.json; empty where it keeps none."""

    @classmethod
    @abstractmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the data that an encoder is scored on; None where the job has none for this suite.

        Nothing is embedded yet, so that all problems are reported at once.

        Raises:
            FacetflowError: when it cannot be read, or the encoder cannot be scored by this suite.
        """

    @abstractmethod
    def score(self, models: "Models") -> Result:
        """Return the result, as JSON without NaN; `metrics.json` has it under `suites`."""

    @cached_property
    def items_of_sets(self) -> list[pl.DataFrame]:
        """The rows of its `file`, set by set."""
        return []

    def keep(self, name: str, text_a: Sequence[str], text_b: Sequence[str] | None, **columns: Any) -> None:
        """Keep the items of a set as rows of its `file`: pairs, or single texts without `text_b`."""
        second = [None] * len(text_a) if text_b is None else text_b
        rows = {"set": [name] * len(text_a), "text_a": text_a, "text_b": second, **columns}
        self.items_of_sets.append(pl.DataFrame(rows, schema_overrides={"text_b": pl.String}))

    def write(self, folder: Path) -> None:
        """Write what is too large for metrics.json, such as single items, next to it; called after `score`."""
        if self.file:
            write_table(pl.concat(self.items_of_sets), folder / self.file)

    @classmethod
    @abstractmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return the result as tables, for the terminal, the report, the model card and the server."""

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return what the report shows besides the tables; `folder` is where `write` wrote."""
        return Chapter()

    @classmethod
    def numbers(cls, result: Result) -> dict[str, float | None]:
        """Return name → score (higher is better) for comparing encoders, None where it is undefined."""
        return {row["name"]: row["encoder"] for row in result["rows"]}

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return the few numbers that represent the suite in a list of runs; by default their mean, or all of them."""
        numbers = cls.numbers(result)
        if not cls.mean:
            return numbers
        return {f"{cls.name} {cls.mean.removeprefix('mean ')}": mean_of(numbers.values())}

    @classmethod
    def items(cls, folder: Path, result: Result) -> "list[ItemScores]":
        """Return its scores item by item from what `write` wrote, so that runs can be compared; perhaps none.

        Scores of sentence pairs have their texts, for the page of a comparison.
        """
        return []

    @classmethod
    def compared(cls, new: Result, current: Result) -> list[tuple[str, float, float]]:
        """Return (what, current, new) for each number that a promotion checks; by default all that both have."""
        return [
            (f"{cls.called or cls.name} of {name}", before, after)
            for name, before, after in cls.in_common(new, current)
        ]

    @classmethod
    def in_common(cls, new: Result, current: Result) -> list[tuple[str, float, float]]:
        """Return (name, current, new) for each number that both have."""
        before = cls.numbers(current)
        return [
            (name, old, score)
            for name, score in cls.numbers(new).items()
            if score is not None and (old := before.get(name)) is not None
        ]


def suites_of(kind: str) -> tuple[str, ...]:
    """Return the names of the suites that apply to a kind of encoder, in the order of the report."""
    special = {name for entry in KINDS.values() for name in entry.suites}
    own = KINDS[kind].suites if kind in KINDS else ()
    return tuple(name for name in SUITES if name in own or name not in special)


def load_suite(name: str) -> type[Suite]:
    """Return the class of a suite by its name, importing its module."""
    if name not in SUITES:
        raise UnknownName(f"{name!r} is not an evaluation suite; there are: {', '.join(SUITES)}.")
    return cast("type[Suite]", resolve_name(SUITES[name]))


def scored_suites(scores: Mapping[str, Any]) -> list[tuple[type[Suite], Result]]:
    """Return the suites that an encoder was scored by, with their results, from the content of metrics.json."""
    return [(load_suite(name), result) for name, result in scores["suites"].items()]


def score_tables(scores: Mapping[str, Any]) -> list[ScoreTable]:
    """Return the tables of an evaluation, from the content of metrics.json."""
    return [table for suite, result in scored_suites(scores) for table in suite.tables(result)]
