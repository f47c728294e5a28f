"""Draws that depend on a name alone: the same names are drawn whatever others there are, and in any order."""

import hashlib


def share_of(key: str) -> float:
    """Return the place of a name in [0, 1), evenly spread; a share of all names takes those whose place is below it."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest()) / 2**64
