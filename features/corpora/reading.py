"""From a corpus to its rows: find the files, read each in its layout, judge every row.

settings ─ locate ─ file ─ layout ─ row ─┬─ PairRow   a pair
                                         ├─ TextRow   a text with its labels
                                         ├─ Skip      left out by design: not rated, no gold label, label not wanted
                                         └─ BadRow    wrong: a reject with code, file, line and what was expected
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from features.core.errors import RowError
from features.core.faults import ColumnMissing, FileEmpty, NothingToScore, NotParallel, RowWrong, SplitUnclear
from features.core.files import open_text
from features.core.types import RejectCode, Split
from features.core.wording import clipped, counted
from features.corpora.captions import Caption, pair_captions, read_captions
from features.corpora.cells import WrongRow, encoding_fault
from features.corpora.dataset import CaptionLayout, Dataset, GraphLayout, Role, TableLayout, TextLayout
from features.corpora.headers import fitting_layout
from features.corpora.judgements import NoJudgement, read_label, read_score
from features.corpora.settings import CorpusSettings, EvaluationSet
from features.corpora.sources import Source, locate, scores_of
from features.corpora.tables import TableRow, read_rows
from features.corpora.texts import LabelledText, read_texts
from features.graphs.penman_files import read_blocks
from features.schemas import Reject

NO_TEXT = "no text"
"""Why a row of texts or pairs with a class is left out."""


class PairRow(NamedTuple):
    """One pair of a source."""

    split: Split
    text_a: str
    text_b: str
    score: float | None
    label: str | None
    origin: str  # `file:line`
    group: str = ""  # what it shares with pairs that must be in its split: image, topic, document; empty if unknown


class TextRow(NamedTuple):
    """One text of a source, as written, with aspect and label, each once; `origin` as in `PairRow`."""

    split: Split
    text: str
    labels: tuple[tuple[str, str], ...]
    origin: str
    kept: bool = False  # whether the store has it in this split, although the present settings would put it elsewhere


class Skip(NamedTuple):
    """A row that the dataset or the settings leave out: not rated, no gold label, a label not requested."""

    split: Split
    reason: str  # a few words, by which rows are counted


class BadRow(NamedTuple):
    """A row that is not what its format promises, in the split that was read."""

    split: Split
    reject: Reject


Outcome = PairRow | TextRow | Skip | BadRow
"""Every row of a source becomes exactly one of these."""


def read_outcomes(settings: CorpusSettings, base: Path) -> Iterator[Outcome]:
    """Read what becomes of every row of a corpus; `base` is the folder of the project file."""
    reader = Reader(own_record(settings), settings.chosen_labels, settings.caption_pairs)
    for source in locate(settings, settings.files, base):
        yield from reader.outcomes(source)


@dataclass(frozen=True, slots=True)
class EvaluationPairs:
    """Pairs with human judgements."""

    name: str  # name of the set
    texts_a: list[str]  # sentences a, (n_pairs,)
    texts_b: list[str]  # sentences b, (n_pairs,)
    # float64 (n_pairs,), in the range of the dataset; if it only has labels, the scores of the labels
    scores: npt.NDArray[np.float64]
    labels: list[str | None]  # human labels, (n_pairs,); None if there is none

    @property
    def digest(self) -> str:
        """A hash of the sentences and their scores, independent of the name."""
        rows = zip(self.texts_a, self.texts_b, self.scores, strict=True)
        return hashlib.sha256("".join(f"{a}\0{b}\0{score!r}\n" for a, b, score in rows).encode()).hexdigest()


def read_evaluation(evaluation: EvaluationSet, base: Path) -> EvaluationPairs:
    """Read pairs with human judgements; pairs that were not rated are left out, as in the official scoring.

    A wrong row is an error: scores on a different set of rows are not comparable to published ones.
    """
    scores_of_labels = evaluation.record.label_scores
    rows: list[PairRow] = []
    scores: list[float] = []
    for outcome in evaluation_outcomes(evaluation, base):
        if isinstance(outcome, PairRow):
            score = scores_of_labels.get(outcome.label or "") if outcome.score is None else outcome.score
            if score is not None:
                rows.append(outcome)
                scores.append(score)
    if not rows:
        raise NothingToScore(
            f"evaluation set {evaluation.name!r} ({evaluation.file!r}, split {evaluation.split!r}) has no pair with a "
            "score: give a set with human scores. Labels of your own are scored as `files.test` of a corpus."
        )
    return EvaluationPairs(
        evaluation.name,
        [row.text_a for row in rows],
        [row.text_b for row in rows],
        np.array(scores, dtype=np.float64),
        [row.label for row in rows],
    )


def evaluation_outcomes(
    evaluation: EvaluationSet, base: Path, *, held_out: bool = False
) -> Iterator[PairRow | TextRow | Skip]:
    """Read what becomes of every row of an evaluation set, or of what is held out from training, whatever its label."""
    files = evaluation.held_out if held_out else evaluation.splits
    reader = Reader(own_record(evaluation), None, "all")
    # A file that several splits name has to say which rows are whose: else a classifier is scored on what it learnt.
    for source in locate(evaluation, evaluation.splits, base):
        reader.outcomes(source)
    parts = [{split: named} for split, named in files.items()] if evaluation.files else [files]
    for part in parts:
        for source in locate(evaluation, part, base):
            split = next(iter(part)) if evaluation.files else evaluation.split
            for outcome in reader.outcomes(source._replace(splits=(split,))):
                if not isinstance(outcome, BadRow):
                    yield outcome
                # Releases have lines without text (CR, MPQA), and nobody can correct them.
                elif evaluation.has_classes and outcome.reject.code == RejectCode.EMPTY_SENTENCE:
                    yield Skip(outcome.split, NO_TEXT)
                else:
                    raise RowWrong(f"{outcome.reject.message} (evaluation set {evaluation.name!r}): correct the row.")


def own_record(settings: CorpusSettings | EvaluationSet) -> Dataset:
    """Return the record with a layout made from the user's columns and quotes."""
    record = settings.record
    layouts = record.layouts
    if settings.text is not None or settings.aspects is not None or settings.separator is not None:
        (own,) = (layout for layout in layouts[:1] if isinstance(layout, TextLayout))
        columns = (settings.text,) if isinstance(settings.text, str) else settings.text
        texts = {"text": (columns,), "needs": ()} if columns else {}
        labels = {"aspects": settings.aspects or own.aspects, "separator": settings.separator or own.separator}
        layouts = (own.model_copy(update=texts | labels),)
    if settings.columns:
        by_name = any(isinstance(column, str) for column in settings.columns.values())
        # Rows of another split must not be trained on only because nobody named their column.
        usual: tuple[Role, ...] = ("sentence_a", "sentence_b", "split") if by_name else ()
        named: dict[Role, str | int] = {**{role: role for role in usual}, **settings.columns}
        optional = {"split"} & {*usual} - {*settings.columns}
        form = getattr(layouts[-1], "label_form", "plain")  # votes are votes under any name
        own_layout = {"columns": named, "optional": optional, "label_form": form}
        layouts = (TableLayout.model_validate(own_layout),)
    if settings.quotes:
        layouts = tuple(
            layout.model_copy(update={"quotes": settings.quotes}) if hasattr(layout, "quotes") else layout
            for layout in layouts
        )
    return record.model_copy(update={"layouts": layouts})


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the files of one corpus; of rows with labels, only those with one of `labels` unless that is None."""

    record: Dataset
    labels: tuple[str, ...] | None
    caption_pairs: Literal["all"] | int

    def outcomes(self, source: Source) -> Iterator[Outcome]:
        """Return what becomes of every row of a file."""
        layout = self._table_layout(source)
        if len(source.splits) > 1 and (layout is None or "split" not in layout.columns):
            raise SplitUnclear(
                f"{source.name!r} is given for the splits {', '.join(source.splits)} but has no column with the split: "
                "give a file for each."
            )
        if layout is not None:
            return self._table(source, layout)
        readers = {GraphLayout: self._graphs, CaptionLayout: self._captions, TextLayout: self._texts}
        return readers[type(self.record.layouts[0])](source)  # a record's layouts are of one kind

    def _table_layout(self, source: Source) -> TableLayout | None:
        """Return the layout of a table, None for a file of another kind; raise an InputError if a column is missing."""
        layouts = [layout for layout in self.record.layouts if isinstance(layout, TableLayout)]
        if not layouts:
            return None
        layout = fitting_layout(source.path, layouts)
        if self.labels is not None and "label" not in layout.columns:
            raise ColumnMissing(
                f"{source.name!r} has no column with the label, so {list(self.labels)} cannot be chosen: name the "
                'column of the label, or set labels = "all".'
            )
        return layout

    def _table(self, source: Source, layout: TableLayout) -> Iterator[Outcome]:
        scores = None
        if layout.scores_beside is not None:
            with open_text(scores_of(layout.scores_beside, source.path)) as text:
                scores = {number: line.strip() for number, line in enumerate(text, start=1)}
        line = 0
        for row in read_rows(source.path, layout):
            line = row.line
            if scores is not None and isinstance(row, TableRow):
                row = row._replace(score=scores.get(line, ""))  # noqa: PLW2901
            yield self._judged(row, layout, source) if isinstance(row, TableRow) else self._bad(source, *row)
        if scores is not None and (len(scores) < line or any([*scores.values()][line:])):
            raise NotParallel(
                f"{source.name!r} has {line} lines, but its score file has {len(scores)}: they must match line by line."
            )

    def _judged(self, row: TableRow, layout: TableLayout, source: Source) -> Outcome:
        split = source.splits[0]
        try:
            if "split" in layout.columns:
                split = self._split_of(row.split)
                if split not in source.splits:
                    return Skip(split, "split not asked for")
            if not row.sentence_a.strip() or not row.sentence_b.strip():
                raise RowError(RejectCode.EMPTY_SENTENCE, "a sentence is empty; expected two sentences")  # noqa: TRY301
            scored = "score" in layout.columns or layout.scores_beside is not None
            score = read_score(row.score, self.record) if scored else None
            label = read_label(row.label, layout.label_form, self.record) if "label" in layout.columns else None
        except RowError as error:
            return self._bad(source, row.line, error, split)
        if isinstance(score, NoJudgement):
            return Skip(split, score.reason)
        if isinstance(label, NoJudgement):
            return Skip(split, label.reason)
        if self.labels is not None and label not in self.labels:
            return Skip(split, f"label {clipped(label, 40)}" if label else "no label")
        origin, group = f"{source.name}:{row.line}", (row.group or "").strip()
        return PairRow(split, row.sentence_a, row.sentence_b, score, label, origin, group)

    def _split_of(self, written: str | None) -> Split:
        """Return the split that a row names; raise RowError WRONG_COLUMNS."""
        name, names = (written or "").strip(), self.record.split_names
        if name not in names:
            message = f"the split {clipped(repr(name))} is unknown; expected one of {', '.join(names)}"
            raise RowError(RejectCode.WRONG_COLUMNS, message)
        return names[name]

    def _captions(self, source: Source) -> Iterator[Outcome]:
        (split,) = source.splits
        layouts = [layout for layout in self.record.layouts if isinstance(layout, CaptionLayout)]
        nothing = True
        for item in pair_captions(read_captions(source.path, layouts), self.caption_pairs, source.name):
            nothing = False
            match item:
                case (Caption() as first, Caption() as second):
                    origin = f"{source.name}:{first.line}"
                    yield PairRow(split, first.text, second.text, None, None, origin, first.image)
                case Caption():
                    yield Skip(split, "the only caption of its image")
                case WrongRow(line, error):
                    yield self._bad(source, line, error)
        if nothing:
            raise FileEmpty(f"{source.name!r} has no rows: check that it was written to its end.")

    def _graphs(self, source: Source) -> Iterator[Outcome]:
        """Read two PENMAN files; a broken graph still has its sentence, and the parse stage reports what is wrong."""
        partner = source.partner or source.path
        count = 0
        for a, b in zip_longest(read_blocks(source.path), read_blocks(partner)):
            if a is None or b is None:
                longer = partner if a is None else source.path
                raise NotParallel(
                    f"{str(source.path)!r} and {str(partner)!r} are not parallel: {str(longer)!r} continues after "
                    f"{counted(count, 'block')}; give two files with one block per pair."
                )
            count += 1
            text_a, text_b = (block.metadata.get("snt", "") for block in (a, b))
            # Metadata has a sign in place of what cannot be read.
            if wrong := encoding_fault(b"".join(a.comments + b.comments).decode(errors="surrogateescape")):
                yield self._bad(source, a.line, wrong)
            elif text_a.strip() and text_b.strip():
                yield PairRow(source.splits[0], text_a, text_b, None, None, f"{source.name}:{a.line}")
            else:
                unnamed = b if text_a.strip() else a
                where = f"{unnamed.path.name}:{unnamed.line}"
                message = f"the block at {where} has no sentence; expected a line '# ::snt ...'"
                yield self._bad(source, a.line, RowError(RejectCode.EMPTY_SENTENCE, message))
        if not count:
            raise FileEmpty(f"{str(source.path)!r} has no graphs: check that it was written to its end.")

    def _texts(self, source: Source) -> Iterator[Outcome]:
        layouts = [layout for layout in self.record.layouts if isinstance(layout, TextLayout)]
        columns = [column for layout in layouts for column in layout.aspects.values()]
        for row in read_texts(source.path, layouts):
            if isinstance(row, LabelledText):
                yield self._labelled(row, columns, source)
            else:
                yield self._bad(source, *row)

    def _labelled(self, row: LabelledText, columns: Sequence[str], source: Source) -> Outcome:
        split = source.splits[0]
        gold = [(aspect, label) for aspect, label in row.labels if label and label not in self.record.no_gold]
        if row.lacking:
            return Skip(split, f"no {row.lacking}")
        if not row.text:
            return self._bad(source, row.line, RowError(RejectCode.EMPTY_SENTENCE, "the text is empty"))
        if not any(label for _, label in row.labels):
            message = f"the text has no label in {', '.join(map(repr, columns))}"
            return self._bad(source, row.line, RowError(RejectCode.NO_LABEL, message))
        for _, label in gold:
            if self.record.labels and label not in self.record.labels:
                message = (
                    f"the label {clipped(repr(label))} is unknown; expected one of {', '.join(self.record.labels)}"
                )
                return self._bad(source, row.line, RowError(RejectCode.BAD_LABEL, message))
        chosen = tuple((aspect, label) for aspect, label in gold if self.labels is None or label in self.labels)
        if not chosen:
            return Skip(split, "label not asked for" if gold else "no label")
        return TextRow(split, row.text, chosen, f"{source.name}:{row.line}")

    @staticmethod
    def _bad(source: Source, line: int, error: RowError, split: Split | None = None) -> BadRow:
        origin = f"{source.name}:{line}"
        return BadRow(split or source.splits[0], Reject(origin, error.code, f"{origin}: {error.message}"))
