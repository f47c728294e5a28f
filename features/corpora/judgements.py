"""Human judgements as written in the files: scores, labels, votes.

Votes become labels as the makers of the datasets define; what they call debatable is not a judgement:

    votes_of_six    `(4, 6)`   Twitter URL: n of six annotators; n >= 4 is 1, n <= 2 is 0     (Lan et al. 2017)
    votes_of_five   `(3, 2)`   PIT-2015, train and dev: n of five said yes; n >= 3 is 1, n <= 1 is 0
                    `4`        PIT-2015, test: an expert's rating; n >= 4 is 1, n <= 2 is 0   (Xu et al. 2015)
"""

import math
import re
from typing import NamedTuple

from features.core.errors import RowError
from features.core.types import RejectCode
from features.core.wording import clipped
from features.corpora.cells import as_text
from features.corpora.dataset import Dataset, LabelForm

_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")  # Python also takes 1_000
_VOTES = re.compile(r"\(\s*(\d)\s*,\s*(\d)\s*\)")


class NoJudgement(NamedTuple):
    """A row that the makers of the dataset do not count, with the reason in a few words."""

    reason: str


def read_score(written: str | float | None, dataset: Dataset) -> float | NoJudgement | None:
    """Return a score in the range of the dataset; None if a user's own row has none.

    Raises:
        RowError: BAD_SCORE.
    """
    limits = " from {:g} to {:g}".format(*dataset.score_range) if dataset.score_range else ""
    expected = f"expected a number{limits}"
    text = as_text(written).strip()
    if not text:
        if not dataset.unscored:
            raise RowError(RejectCode.BAD_SCORE, f"the score is empty; {expected}")
        return None if dataset.kind == "own" else NoJudgement("not rated")
    if not _NUMBER.fullmatch(text):
        raise RowError(RejectCode.BAD_SCORE, f"the score {clipped(repr(written))} is not a number; {expected}")
    score = float(text)
    low, high = dataset.score_range or (-math.inf, math.inf)
    if not (math.isfinite(score) and low <= score <= high):
        raise RowError(RejectCode.BAD_SCORE, f"the score {clipped(repr(written))} is out of range; {expected}")
    return score


def read_label(written: str | None, form: LabelForm, dataset: Dataset) -> str | NoJudgement | None:
    """Return the label of a row, None if it has none and the dataset has no set of labels; raise RowError BAD_LABEL."""
    text = (written or "").strip()
    if not text and not dataset.labels:
        return None
    if text in dataset.no_gold:
        return NoJudgement("no gold label")
    # A table of votes of six may have been made one of labels, which no such vote resembles.
    if form == "votes_of_five" or (form == "votes_of_six" and text not in dataset.labels):
        return _majority(text, form)
    if dataset.labels and text not in dataset.labels:
        known = ", ".join((*dataset.labels, *dataset.no_gold))
        message = f"the label {clipped(repr(text))} is unknown; expected one of {known}"
        raise RowError(RejectCode.BAD_LABEL, message)
    return text


def _majority(text: str, form: LabelForm) -> str | NoJudgement:
    votes = _VOTES.fullmatch(text)
    if votes and form == "votes_of_six" and int(votes[2]) == 6 and int(votes[1]) <= 6:
        yes, least, most = int(votes[1]), 4, 2
    elif votes and form == "votes_of_five" and int(votes[1]) + int(votes[2]) == 5:
        yes, least, most = int(votes[1]), 3, 1
    elif form == "votes_of_five" and re.fullmatch("[0-5]", text):
        yes, least, most = int(text), 4, 2
    else:
        expected = "(n, 6)" if form == "votes_of_six" else "(yes, no) of five votes, or 0 to 5"
        raise RowError(RejectCode.BAD_LABEL, f"the label {clipped(repr(text))} is not a vote; expected {expected}")
    if yes >= least:
        return "1"
    if yes <= most:
        return "0"
    return NoJudgement("votes are tied" if form == "votes_of_six" else "debatable")
