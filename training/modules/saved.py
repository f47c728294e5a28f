"""Base class of facetflow's modules in saved encoders: their arguments are their configuration."""

from typing import Any, Self

from sentence_transformers.base.modules import Module


class SavedModule(Module):
    """A module whose arguments are its configuration."""

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Write arguments and weights."""
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization=safe_serialization)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,  # noqa: FBT001 - as in the base class
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,  # noqa: FBT001, FBT002 - likewise
        init_defaults: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Read arguments and weights."""
        where: dict[str, Any] = {
            "subfolder": subfolder,
            "token": token,
            "cache_folder": cache_folder,
            "revision": revision,
            "local_files_only": local_files_only,
        }
        module = cls(**((init_defaults or {}) | cls.load_config(model_name_or_path, **where)))
        found: Self = cls.load_torch_weights(model_name_or_path, model=module, **where)
        return found
