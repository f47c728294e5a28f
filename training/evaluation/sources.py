"""Where pairs come from, in words."""

from collections.abc import Mapping
from typing import Any


def tell_source(source: Mapping[str, Any]) -> str:
    """Describe where pairs come from.

    Args:
        source: as in `training.data.measured_pairs.MeasuredPairs`.
    """
    return f"release {source['release']} of the store" if "release" in source else "an exported table"
