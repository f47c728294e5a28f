"""Draws that depend on a name alone: the same names are drawn whatever others there are, and in any order."""

import hashlib


def seed_of(name: str) -> int:
    """Return the hash of a name, 64 bits, as the seed of a generator."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())


def share_of(name: str) -> float:
    """Return the hash of a name as a number in [0, 1), uniform over names: a share of them lies below that share."""
    return seed_of(name) / 2**64
