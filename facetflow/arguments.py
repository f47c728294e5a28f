"""How the public functions read their arguments: one text or many, paired, and names.

"x"  and "y"     one pair, and one result
list and list    the first with the first, and so on; one result per pair
"x"  and list    "x" with each item of the list; one result per pair
"""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from features.core.faults import NotParallel, NotTexts, WrongValue
from features.core.wording import clipped, did_you_mean

Texts = Iterable[str]
"""Several texts: a list, a tuple, a generator, a column of a table."""
_LONGEST = 120


def read_texts(texts: str | Texts, what: str = "text", *, paired: bool = False) -> tuple[list[str], bool]:
    """Return texts as a list, and whether a single one was given; an InputError where one is not a string.

    That calls it `what`, and names its partner in another list if they are `paired`.
    """
    single = isinstance(texts, str)
    # A frame iterates over the names of its columns, as a batch of Hugging Face's datasets does, which is a dict.
    if hasattr(type(texts), "columns") or isinstance(texts, Mapping):
        raise NotTexts(f"a {what} must be a string, but a {type(texts).__name__} is not; give one of its columns")
    if not np.iterable(texts) or isinstance(texts, bytes):  # an array without dimensions is an Iterable, too
        raise NotTexts(f"a {what} must be a string, but {texts!r} is not; give a string, or a list of them")
    # An array of pyarrow iterates over scalars that are no strings.
    items: list[Any] = [texts] if single else texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    for number, text in enumerate(items, start=1):
        if not isinstance(text, str):
            left_out = "it and its partner" if paired else "it"
            shown = clipped(repr(text), _LONGEST)
            raise NotTexts(f"{what} {number} of {len(items)} is not a string but {shown}; leave {left_out} out")
        try:
            text.encode()
        except UnicodeEncodeError as error:  # of JSON that was cut within an emoji
            shown = clipped(repr(text), _LONGEST)
            raise NotTexts(f"{what} {number} of {len(items)} has half a character: {shown}; replace it") from error
    return items, single


def pair_up(a: str | Texts, b: str | Texts, what: str = "text") -> tuple[list[str], list[str], bool]:
    """Return the first and the second text of each pair, and whether both arguments were single texts.

    Raises:
        InputError: a text is not a string, or the lists differ in length.
    """
    (left, one_left), (right, one_right) = (read_texts(side, what, paired=True) for side in (a, b))
    if one_left and not one_right:
        left *= len(right)
    elif one_right and not one_left:
        right *= len(left)
    if len(left) != len(right):
        raise NotParallel(
            f"{len(left)} and {len(right)} {what}s cannot be paired; give two lists of the same length, or one {what} "
            "and a list"
        )
    return left, right, one_left and one_right


def pair_sentences(
    a: str | Texts | Iterable[tuple[str, str]], b: str | Texts | None
) -> tuple[list[str], list[str], bool]:
    """Return the first and the second sentences as `pair_up` does; without `b`, `a` holds pairs.

    Raises:
        InputError: a sentence is not a string, a pair is not two, or the lists differ in length.
    """
    if b is not None:
        return pair_up(a, b, "sentence")  # type: ignore[arg-type]
    if isinstance(a, str) or not isinstance(a, Iterable) or not np.iterable(a):
        shown = " ".join(repr(a).split())
        raise NotTexts(f"two sentences are needed, but {shown} is only one; give the other one as `b`")
    given: Any = a
    items = list(given.to_numpy() if hasattr(given, "columns") else given)  # a frame iterates over names of columns
    for number, pair in enumerate(items, start=1):
        both = isinstance(pair, Sequence | np.ndarray) and not isinstance(pair, str) and len(pair) == 2
        if not both or not all(isinstance(text, str) for text in pair):
            raise NotTexts(f"pair {number} of {len(items)} is not two sentences but {pair!r}; give (a, b) for each")
    return pair_up([a for a, _ in items], [b for _, b in items], "sentence")


def require_whole(number: int, what: str) -> int:
    """Return a whole number, of numpy too; raise a SettingsError, which says `what` it is, if it is none from 1."""
    if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
        raise WrongValue(f"{what} and cannot be {number!r}; give a whole number from 1")
    return int(number)


def near(name: object, names: Iterable[str]) -> str:
    """Return a clause that names the alternatives to an unknown name.

    >>> near("smtch", ["smatch", "wlk"])
    "did you mean 'smatch'? There are smatch, wlk"
    """
    return did_you_mean(name, names, f"there are {', '.join(names)}")
