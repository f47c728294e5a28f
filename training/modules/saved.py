"""Base class of facetflow's modules in saved encoders: their arguments are their configuration.

It has the methods that sentence-transformers calls, but is no subclass of its `Module`, whose import takes seconds.
"""

import json
from inspect import signature
from pathlib import Path
from typing import Any, Self

from safetensors.torch import load_model, save_model
from torch import nn

_SETTINGS, _WEIGHTS = "config.json", "model.safetensors"


class SavedModule(nn.Module):
    """A module whose arguments are its configuration, and attributes of the same names."""

    def save(self, output_path: str, **_: Any) -> None:
        """Write arguments and weights."""
        folder = Path(output_path)
        settings = {name: getattr(self, name) for name in signature(type(self)).parameters}
        (folder / _SETTINGS).write_text(json.dumps(settings, indent=4), encoding="utf-8")
        save_model(self, str(folder / _WEIGHTS))

    @classmethod
    def load(cls, model_name_or_path: str, subfolder: str = "", **_: Any) -> Self:
        """Read arguments and weights."""
        folder = Path(model_name_or_path, subfolder)
        module = cls(**json.loads((folder / _SETTINGS).read_text(encoding="utf-8")))
        load_model(module, folder / _WEIGHTS)
        return module
