"""How a stage makes its rows: what a fingerprint hashes, and what a commit and a release record."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from features.core.faults import PlanWrong, StoreDamaged


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a stage makes its rows; equal recipes make equal rows from equal input.

    Args:
        stage: its name, which is also the name of its table.
        parameters: everything the user can set that changes rows; JSON values only.
        algorithm: version of the code that makes the rows; raised by hand when its output changes.
        weights: digest of the model weights; None for a stage without a model.
    """

    stage: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    algorithm: str = "1"
    weights: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the recipe as it is stored: plain JSON values."""
        return dict(json.loads(canonical(asdict(self))))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Recipe":
        """Return the recipe that `as_dict` stored."""
        try:
            return cls(values["stage"], dict(values["parameters"]), values["algorithm"], values["weights"])
        except (KeyError, TypeError, ValueError) as error:
            raise StoreDamaged(f"A recipe of the store is damaged: {values!r}; build the store again.") from error


def canonical(value: Any) -> str:
    """Return a JSON value as text, equal for equal values; raise a SettingsError for anything else."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise PlanWrong(
            f"A recipe holds JSON values only, not {value!r} ({error}); give numbers, texts, lists and tables."
        ) from error
