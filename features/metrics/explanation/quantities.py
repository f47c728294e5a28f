"""Numbers and amounts of two sentences: which are equal, also in other words or with another sign of a unit."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import dropwhile

from features.metrics.explanation.anchors import joined
from features.metrics.explanation.comparing import SIGNS, Quantity, Told, spans
from features.metrics.explanation.tokens import Token


def tell_quantities(told: Told) -> None:
    """Tell which numbers and amounts differ, and which are equal though they are written otherwise."""
    left, right = (
        [each for each in told.both.quantities(side) if not set(each.tokens) <= set(told.named[side])]
        for side in (0, 1)
    )
    apart = [pair for pair in zip(left, right, strict=False) if pair[0].stems != pair[1].stems]
    if len(left) == len(right) and len(apart) == 2 and _change_heads(told, *zip(*apart, strict=True)):
        numbers = joined([spans(told, 0, each.tokens) for each, _ in apart])
        tokens = [[token for each in side for token in each.tokens] for side in zip(*apart, strict=True)]
        told.add("quantity", ("quantifiers",), f"{numbers} change places", tokens)
        left, right = ([each for each in side if all(each not in pair for pair in apart)] for side in (left, right))
    parts: list[tuple[list[Token], list[Token]]] = []
    for same in (_is_written_alike, _counts_alike, _counts_the_same, _in_one_place, _have_numbers_of_both):
        for a in list(left):
            if (b := next((b for b in right if same(told, a, b)), None)) is not None:
                left.remove(a)
                right.remove(b)
                converted = a.is_measured_as(b) and a.stems != b.stems
                if converted or (a.stems == b.stems and (a.text == b.text or not a.is_measured_otherwise(b))):
                    words = [
                        each.span if converted else [t for t in each.span if t in each.tokens or t.stem in SIGNS]
                        for each in (a, b)
                    ]
                    # "June 12 , 2024" and "12 June 2024" are no news.
                    texts = [" ".join(t.lower for t in each.tokens).replace(",", " ") for each in (a, b)]
                    if sorted(texts[0].split()) != sorted(texts[1].split()) and told.both.differ:
                        told.add("form", (), f"{spans(told, 0, words[0])} in a is {spans(told, 1, words[1])} in b")
                    told.named[0].extend(words[0])
                    told.named[1].extend(words[1])
                elif not _cut_otherwise(told, a, b):
                    parts.append((a.span, b.span))
    for named, rest in zip(told.named, (left, right), strict=True):
        named.extend(token for each in rest for token in each.tokens if token.kind == "quantity")
    left, right = (
        [each for each in ours if _is_only(told, n, each, theirs)]
        for n, (ours, theirs) in enumerate(((left, right), (right, left)))
    )
    if len(left) == len(right) == 1 and _look_alike(left[0], right[0]):
        parts.append((left[0].span, right[0].span))
        left, right = [], []
    parts += [(a.span, _counterpart(told, 0, a)) for a in left]
    parts += [(_counterpart(told, 1, b), b.span) for b in right]
    told.add_apart("quantity", ("quantifiers",), parts)


def _counterpart(told: Told, side: int, quantity: Quantity) -> list[Token]:
    """Return what the other sentence has for a quantity that it lacks: "old boys" for "two old boys" and "two men"."""
    head, ours, theirs = quantity.head, told.texts.tokens[side], told.texts.tokens[1 - side]
    if head is None or {t.stem for t in quantity.tokens} <= {t.stem for t in theirs}:
        return []
    for_number, for_head = (_replacement(told, side, quantity, words) for words in (quantity.tokens, [head]))
    heads = [t for t in theirs if t.stem == head.stem] or [t for t in for_head if t.kind != "grammar"]
    if not heads or [t.stem for t in (*ours, *theirs)].count(head.stem) > 2:
        return []
    stems = {t.stem for t in quantity.span} - {"the"}  # "attacks" for "many of the attacks", not "said the attacks"
    first, last = theirs.index(heads[0]), theirs.index(heads[-1])
    while first and (theirs[first - 1] in for_number or theirs[first - 1].stem in stems):
        first -= 1
    words = [*dropwhile(lambda token: not token.has_content, theirs[first : last + 1])]
    told_already = {*told.named[1 - side], *(t for each in told.both.quantities(1 - side) for t in each.span)}
    return words if told_already.isdisjoint(words) else []


def _replacement(told: Told, side: int, quantity: Quantity, words: Sequence[Token]) -> list[Token]:
    """Return the few words that the other sentence has instead of some of a quantity; none if instead of others too."""
    chunk = next((chunk for chunk in told.texts.chunks if any(token in words for token in chunk[side])), ([], []))
    lost, gained = ([token for token in chunk[at] if token.kind != "grammar"] for at in (side, 1 - side))
    few = len(gained) < 5 and all(token.has_content for token in (*gained[:1], *gained[-1:]))
    return chunk[1 - side] if few and set(lost) <= set(quantity.span) else []


def _cut_otherwise(told: Told, a: Quantity, b: Quantity) -> bool:
    """Return whether both sentences have the same numbers in other quantities: "from 2 to 3" and "to 3 from 2"."""
    left, right = (Counter(token.stem for token in side if token.kind == "quantity") for side in told.texts.tokens)
    return len(a.tokens) != len(b.tokens) and left == right


def _is_only(told: Told, side: int, quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Return whether the other sentence lacks a number of a quantity or has it of something else."""
    ours, theirs = (Counter(token.stem for token in told.texts.tokens[which]) for which in (side, 1 - side))
    theirs |= Counter(part for stem in theirs for part in re.split("[/-]0?", stem))  # 1990 in 4/5/1990, 1990-05-04
    of_others = any(each.stems == quantity.stems and None not in {each.head, quantity.head} for each in others)
    return of_others or any(t.kind == "quantity" and (ours - theirs)[t.stem] for t in quantity.tokens)


def _change_heads(told: Told, left: Sequence[Quantity], right: Sequence[Quantity]) -> bool:
    """Return whether two numbers change places: "three of the five students" and "five of the three students"."""
    order = told.texts.tokens
    before = [[order[n][order[n].index(q.span[0]) - 1].stem for q in side] for n, side in enumerate((left, right))]
    moved = before[0] == before[1][::-1] != before[1]  # "Rome 2, Oslo 1" and "Oslo 1, Rome 2"
    if moved or left[0].is_measured_otherwise(right[1]):
        return False
    numbers, others = ([each.stems for each in side] for side in (left, right))
    heads, of_others = ([each.head and each.head.stem for each in side] for side in (left, right))
    return numbers[0] == others[1] != numbers[1] == others[0] and heads == of_others and len({None, *heads}) < 3


def _is_written_alike(told: Told, a: Quantity, b: Quantity) -> bool:  # noqa: ARG001 (as `_counts_alike`)
    return a.text.lower() == b.text.lower()


def _counts_alike(told: Told, a: Quantity, b: Quantity) -> bool:
    """Return whether two quantities are as much and count the same: also "four boys" where b has no boys, a no kids."""
    stems = {each.head.stem for each in (a, b) if each.head is not None}
    # "four Burmese" counts citizens, too, where the other sentence has "four Burmese citizens".
    within = any(stems <= {token.stem for token in each.span} for each in (a, b))
    read = a.head in told.both.counted(0) and b.head in told.both.counted(1)
    nouns = told.texts.shared - told.both.frame_stems  # not "twelve scored"
    counts = within or not (stems & nouns if read else stems <= told.texts.shared)
    # "A team of five" is not five teams, "one of the four boys" may be one boy.
    bare = [(each.span[0].start, told.both.quantities(side)) for side, each in enumerate((a, b)) if each.head is None]
    before = {q.head.stem for start, side in bare for q in side if q.head is not None and q.head.start < start}
    return counts and ((a.stems == b.stems and stems.isdisjoint(before)) or a.is_measured_as(b))


def _counts_the_same(told: Told, a: Quantity, b: Quantity) -> bool:  # noqa: ARG001 (as `_counts_alike`)
    return a.head is not None and b.head is not None and a.head.stem == b.head.stem


def _in_one_place(told: Told, a: Quantity, b: Quantity) -> bool:
    """Return whether a word of one quantity stands where the other sentence has one of the other."""
    return any(
        not set(left).isdisjoint(a.tokens) and not set(right).isdisjoint(b.tokens) for left, right in told.texts.chunks
    )


def _look_alike(a: Quantity, b: Quantity) -> bool:
    """Return whether two quantities are the same number, or have equally many digits, at least two: 1998 and 1989."""
    digits = [re.sub(r"\d", "0", " ".join(each.stems)) for each in (a, b)]
    return a.stems == b.stems or (digits[0] == digits[1] and digits[0].count("0") > 1)


def _have_numbers_of_both(told: Told, a: Quantity, b: Quantity) -> bool:
    """Return whether two quantities of one sign, or ranges, have numbers of both: "3 % to $4" and "4 % to $3"."""
    numbers = {token.stem for token in (*a.tokens, *b.tokens) if token.kind == "quantity"}
    alike = a.sign == b.sign is not None or len(a.tokens) == len(b.tokens) > 1
    return alike and numbers <= told.texts.shared
