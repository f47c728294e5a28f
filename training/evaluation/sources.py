"""Where pairs are from, in words."""

from collections.abc import Mapping
from typing import Any


def tell_source(source: Mapping[str, Any]) -> str:
    """Return where pairs are from.

    Args:
        source: of `training.data.measured_pairs.MeasuredPairs`.
    """
    return f"release {source['release']} of the store" if "release" in source else "an exported table"
