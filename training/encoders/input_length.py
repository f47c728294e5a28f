"""How much of a sentence an encoder reads: longer ones are truncated, and unknown word pieces are all alike to it."""

from collections.abc import Sequence
from math import isinf

from features.core.wording import counted
from features.parsers.sentence_encoder import TextEncoder


def count_cut(encoder: TextEncoder, texts: Sequence[str]) -> int:
    """Return how many sentences are longer than an encoder's input."""
    longest = longest_input(encoder)
    long = [text for text in texts if longest is not None and len(text.encode()) > longest]  # a piece has a byte
    pieces = encoder.tokenizer(long, add_special_tokens=False, verbose=False)["input_ids"] if long else []
    return sum(len(ids) > (longest or 0) for ids in pieces)


def tell_cut_off(number: int) -> str:
    """Return what it means that this many texts are longer than an encoder's input; empty for none."""
    ends = "its end has" if number == 1 else "their ends have"
    return f"{counted(number, 'text')} longer than the encoder's input: {ends} no effect" if number else ""


def longest_input(encoder: TextEncoder) -> int | None:
    """Return how many word pieces of a sentence an encoder reads; None for all."""
    longest, added = encoder.max_seq_length, getattr(encoder.tokenizer, "num_special_tokens_to_add", None)
    if longest is None or isinf(longest) or added is None:  # word vectors read everything
        return None
    return int(longest) - int(added())


def tell_cut(encoder: TextEncoder, text: str) -> str:
    """Return how much of a sentence an encoder reads, as a clause; empty when it reads all of it."""
    longest = longest_input(encoder)
    pieces = len(encoder.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
    if longest is None or pieces <= longest:
        return ""
    return f"the encoder reads the first {longest} of its {pieces} word pieces"


def tell_unknown(encoder: TextEncoder, text: str) -> str:
    """Return how many word pieces of a sentence an encoder does not know, as a clause; empty when it knows all."""
    unknown_id = getattr(encoder.tokenizer, "unk_token_id", None)
    if unknown_id is None:  # it knows every byte, or has word vectors
        return ""
    pieces = encoder.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    unknown = pieces.count(unknown_id)
    return f"{unknown} of the {counted(len(pieces), 'word piece')}" if unknown else ""
