"""Verdicts of intervals in words."""

from collections.abc import Mapping
from typing import Any

VERDICTS: Mapping[str, str] = {"above": "above", "below": "below", "unclear": "unclear"}


def tell_verdict(difference: Mapping[str, Any] | None) -> str:
    """Return whether a score is above or below a baseline, or that this is unclear.

    Args:
        difference: a `training.evaluation.bootstrap.Difference` as a dict.
    """
    return VERDICTS["unclear" if difference is None else difference["verdict"]]
