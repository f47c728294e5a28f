"""The feature store: versioned Delta tables, written by workers, committed by the flow."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from features.store.store import Store

__all__ = ["Store"]


def __getattr__(name: str) -> object:
    # On demand: importing `features.schemas` alone must not require deltalake.
    if name == "Store":
        from features.store.store import Store

        return Store
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
