"""Base class of facetflow's modules in saved encoders: their arguments are their configuration."""

from typing import Any, Self

from sentence_transformers.base.modules import Module

_WHERE = ("subfolder", "token", "cache_folder", "revision", "local_files_only")


class SavedModule(Module):
    """A module whose arguments are its configuration."""

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Write arguments and weights."""
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization=safe_serialization)

    @classmethod
    def load(cls, model_name_or_path: str, **options: Any) -> Self:  # type: ignore[override]  # all are given by name
        """Read arguments and weights."""
        where = {name: value for name, value in options.items() if name in _WHERE}
        module = super().load(model_name_or_path, **options)
        loaded: Self = cls.load_torch_weights(model_name_or_path, model=module, **where)
        return loaded
