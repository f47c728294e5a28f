"""The public package: encoders with facets, AMR metrics, parsers and feature stores, from Python and in notebooks.

    load_encoder(path)                          an encoder: encode, similarity, explain, predict
    explain(a, b)                               what two sentences have in common and what not, without an encoder
    smatch(a, b), metrics.…, measure(a, b)      AMR graphs compared by one metric, or by all of them
    parse_amr, parse_srl, parse_dependencies    sentences parsed
    search(text, texts, encoder), TextIndex     texts searched by similarity, also in one aspect
    open_store(path)                            the tables of a feature store at a release, as polars frames

The names listed here are stable; the modules behind them may move. `import facetflow` imports nothing heavy: each name
is loaded on first use. Every error that the user can act on is a `FacetflowError`. docs/howto/python.md shows how.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from facetflow import metrics
    from facetflow.encoders import Encoder, Facet, Prediction, load_encoder
    from facetflow.explaining import Explanation, explain
    from facetflow.metrics import GraphMetric, measure, smatch
    from facetflow.parsing import DependencyTree, SrlParse, parse_amr, parse_dependencies, parse_srl
    from facetflow.searching import FoundText, TextIndex, search
    from facetflow.stores import FeatureStore, open_store
    from features.core.errors import FacetflowError, InputError, ModelError, RowError, SettingsError, StoreError
    from features.schemas import Reject

    __version__: str

__all__ = ["DependencyTree", "Encoder", "Explanation", "Facet", "FeatureStore", "FoundText", "GraphMetric"]
__all__ += ["Prediction", "Reject", "SrlParse", "TextIndex", "__version__"]
__all__ += ["FacetflowError", "InputError", "ModelError", "RowError", "SettingsError", "StoreError"]
__all__ += ["explain", "load_encoder", "measure", "metrics", "open_store", "search", "smatch"]
__all__ += ["parse_amr", "parse_dependencies", "parse_srl"]

_HOMES = {
    "facetflow.encoders": ("Encoder", "Facet", "Prediction", "load_encoder"),
    "facetflow.explaining": ("Explanation", "explain"),
    "facetflow.metrics": ("GraphMetric", "measure", "smatch"),
    "facetflow.parsing": ("DependencyTree", "SrlParse", "parse_amr", "parse_dependencies", "parse_srl"),
    "facetflow.searching": ("FoundText", "TextIndex", "search"),
    "facetflow.stores": ("FeatureStore", "open_store"),
    "features.core.errors": ("FacetflowError", "InputError", "ModelError", "RowError", "SettingsError", "StoreError"),
    "features.schemas": ("Reject",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def _refuse_namesakes() -> None:
    """Refuse a package of the user's, beside a script or imported already, that Python would take for one of ours."""
    ours = Path(__file__).resolve().parents[1]
    for name in ("features", "training"):
        spec = find_spec(name)
        if spec is not None and spec.origin is not None and (theirs := Path(spec.origin).resolve()).parents[1] != ours:
            hiding = theirs.parent if theirs.name == "__init__.py" else theirs
            raise ImportError(
                f"{str(hiding)!r} hides the package {name!r} of facetflow: rename it, run the script from another "
                "folder, or start Python with -P if the script imports nothing from its own folder."
            )


_refuse_namesakes()


def _load(name: str) -> object:
    value: object
    if name == "metrics":
        return import_module("facetflow.metrics")
    if name == "__version__":
        from importlib.metadata import version

        value = version("facetflow")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value  # later lookups bypass this function
    return value


if not TYPE_CHECKING:  # to which any name would be one of ours
    __getattr__ = _load


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
