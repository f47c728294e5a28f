"""Pretrained models by name: known records, pulled once into a cache, verified, located, hashed.

    pull(name) ── fetch ── check sha256 ── unpack ── record ── rename ──> cache
    locate(name) ──> folder          verify(name) ──> every file is what was pulled

The libraries that load the models (torch, spaCy, amrlib) are not needed here; see `features.parsers`.
"""

from features.models.cache import digest, pulled, shipped_version, stamp
from features.models.pulling import bundled_encoder, locate, pull, verify
from features.models.records import BUNDLED_ENCODER, BUNDLED_MAP, DEFAULT_MODELS, MODELS

__all__ = ["BUNDLED_ENCODER", "BUNDLED_MAP", "DEFAULT_MODELS", "MODELS", "bundled_encoder", "digest", "locate"]
__all__ += ["pull", "pulled", "shipped_version", "stamp", "verify"]
