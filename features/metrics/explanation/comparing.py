"""Two graphs and their sentences side by side, with the questions that describing their differences takes."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Literal, NamedTuple

from features.metrics.explanation.anchors import View, anchors, described_by, joined, listed, name_text, quoted, unread
from features.metrics.explanation.pair import GraphPair
from features.metrics.explanation.texts import Chunk, ComparedTexts
from features.metrics.explanation.tokens import ARTICLES, NAMED, NO_TOKEN, UNITS, Token, runs_of, stem_of, value_of
from features.metrics.readings import is_argument

_NUMBER = re.compile(r"[0-9]{1,99}(\.[0-9]{1,99}|/[1-9][0-9]{0,98})?")
_PARTS = re.compile(r"^:\s|[();?!]|\s\.\s")  # between two parts of a sentence
_ALONE = re.compile(r"(.*\s)?(1[5-9]|20)\d\d|.*%|both")  # counts no name: in 1902 Ann, fell 4% Monday
_SUM = re.compile(r"(?<!\bthe )(?<!\ba )(?<!\ban )[$€£][\d.,]+(?: \w+)?$", re.IGNORECASE)  # "$3 million last year"
_DAY = re.compile(rf"(?<!\b[Ii]n )\b{NAMED} \d\d?(?:st|nd|rd|th)?$")  # not "in May 5 people left"
_BOUNDS = {"over": "more than", "above": "more than", "under": "less than", "below": "less than", "almost": "nearly"}
_BOUNDS |= dict.fromkeys(("about", "around", "approximately", "roughly", "some"), "about")
SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "%": "percent"}
SIGNS |= {unit: unit for unit in SIGNS.values()}
OF = frozenset({"of", "to", "by"})  # left out by graphs, but "rose by 5 percent" is not "rose to 5 percent"
_LEADING = frozenset({"and", "or", "in", "on", "at", "for", "from", "with", "as"})  # say nothing without what follows
_JOINS = frozenset({"and", "or", "contrast-01"})


class Quantity(NamedTuple):
    """A quantity in a sentence."""

    tokens: list[Token]  # its words, "more than fifty" for instance
    span: list[Token]  # these and the words up to what it counts
    head: Token | None  # what it counts, if anything
    unit: Token | None  # its unit, if it is a measure
    text: str  # both as written, in quotes

    @property
    def stems(self) -> tuple[str, ...]:
        """The stems of its words, a number in words as one."""
        bound = _BOUNDS.get(self.tokens[0].lower, "")
        return (*map(stem_of, bound.split()), *value_of(self.tokens[bool(bound) :]))

    @property
    def sign(self) -> str | None:
        """The name of its unit, if it is one that has a sign: dollar for "$5", percent for "6 percent of them"."""
        units = (SIGNS.get(part) for token in self.span for part in (token.stem, *token.text))
        return next(filter(None, units), None)

    def is_measured_as(self, other: "Quantity") -> bool:
        """Return whether another quantity is as much in the same or another unit: 2 km, 2,000 metres; half, 50 %."""
        amounts = []
        for each in (self, other):
            unit = (each.unit or each.head or NO_TOKEN).stem
            stems = each.stems if each.stems[-1] in UNITS else (*each.stems, unit)  # an hour and a half
            *bound, number, unit = stems if stems[1:] else ("1", *stems)  # twice
            number = "1/2" if number == "half" else number
            factor, unit = UNITS.get("dollar" if "$" in each.text else unit, (1, unit))
            if each.sign == "percent" or ("/" in number and "percent" in {self.sign, other.sign}):
                factor, unit = 1 if each.sign == "percent" else 100, "percent"  # 50 percent of them, half of them
            parts = [(number, factor)]
            while bound[1:] and bound[-1] in UNITS:  # 2 hours and 30 minutes
                *bound, number, name = bound
                parts.append((number, UNITS[name][0]))
            known = all(_NUMBER.fullmatch(number) for number, _ in parts)
            amounts.append((*bound, sum(Fraction(number) * size for number, size in parts), unit) if known else ())
        return amounts[0] == amounts[1] != ()

    def is_measured_otherwise(self, other: "Quantity") -> bool:
        """Return whether another quantity has another unit; one left out may be the same, but for a percentage."""
        pair = (self, other)
        units = [each.sign or (each.unit or NO_TOKEN).stem for each in pair]
        stems = [{unit, *(token.stem for token in each.span)} for each, unit in zip(pair, units, strict=True)]
        known = all(unit or each.head for each, unit in zip(pair, units, strict=True)) or "percent" in units
        return known and any(unit and unit not in there for unit, there in zip(units, reversed(stems), strict=True))


class ComparedGraphs:
    """Both graphs of a pair with what matches, and both sentences."""

    def __init__(self, pair: GraphPair, sentences: tuple[str, str]) -> None:
        self.views = View(pair.left), View(pair.right)
        left, right = (
            {part for node in range(len(v.labels)) for part in name_text(v, node).lower().split()} for v in self.views
        )
        self.texts = ComparedTexts(sentences, (left, right))
        self.facets = {facet.name: facet for facet in pair.facets}
        self.image = dict(pair.alignment)

    @cached_property
    def anchors(self) -> tuple[dict[int, Token], dict[int, Token]]:
        """Node → the word that it stands for, on each side."""
        left, right = (anchors(view, tokens) for view, tokens in zip(self.views, self.texts.tokens, strict=True))
        return left, right

    @cached_property
    def unread(self) -> tuple[list[Token], list[Token]]:
        """Words with content that are not in the graph, on each side."""
        left, right = map(unread, self.views, self.texts.tokens, self.anchors)
        return left, right

    @property
    def are_related(self) -> bool:
        """Whether both sentences have a word or an amount, or one an opposite; of many words, a fourth."""
        left, right = ({token.stem for token in side if token.kind in {"word", "name"}} for side in self.texts.tokens)
        if 4 * max(len(left & right), 1) < min(len(left), len(right)):
            return False
        opposed = (a.negates(b) or b.negates(a) for a, b in product(*self.texts.tokens))
        as_much = (a.is_measured_as(b) for a, b in product(self.quantities(0), self.quantities(1)))
        return bool(self.texts.shared) or any(opposed) or any(as_much)

    @property
    def differ(self) -> bool:
        """Whether the graphs differ in anything."""
        return not self.shares_all("smatch")

    def shares_all(self, name: str) -> bool:
        """Return whether both graphs have items that a facet reads, and all of them match."""
        facet = self.facets[name]
        return bool(facet.left) and facet.matched == len(facet.left) == len(facet.right)

    def word(self, side: int, node: int) -> str | None:
        """Return the word that a node stands for, in quotes; None if its spelling does not show it."""
        return token.shown if (token := self.token(side, node)) else None

    def token(self, side: int, node: int) -> Token | None:
        """Return the word that a node stands for, or the person or thing that it describes."""
        return self.anchors[side].get(node) or self.anchors[side].get(described_by(self.views[side], node))

    def head(self, side: int, token: Token) -> str | None:
        """Return the word that another modifies, in quotes; None if the graph shows none."""
        view, nodes = self.views[side], {node for node, other in self.anchors[side].items() if other == token}
        # As written first: a relative clause belongs to what it describes.
        for source, role, target in (*view.graph.relations, *view.forward):
            above = target if role.lower() == "domain" and source in nodes else source  # the man is old
            if above not in nodes and (target in nodes or above == target):
                above = above if self.word(side, above) else view.parents.get(above, above)  # with: have-03
                if self.token(side, above) != token:
                    return None if view.labels[above] in _JOINS else self.word(side, above)
        return None

    def lists(self, stems: Collection[str], between: Iterable[Token] = ()) -> bool:
        """Return whether words are in one list with all between, in both graphs, so that their order tells no role."""
        rest = [t for t in between if t.kind not in {"grammar", "quantity"} or t.lower in OF]
        rest = [t for t in rest if t.kind != "pronoun" or t.lower == t.stem]  # her brother, but not "he is"
        negated = any(token.kind == "negation" for token in self.texts.tokens[0])  # "not rich but happy"
        entries = rest[:-1] if rest and rest[-1].stem in {"and", "or", "nor" if negated else "but"} else rest
        members = {*stems, *(token.stem for token in entries if token.stem in self.texts.shared)}
        for view, words in zip(self.views, self.anchors, strict=True):
            joins = [r for r in view.forward if view.labels[r.source] in _JOINS and r.target in words]
            joins = [relation for relation in joins if words[relation.target].stem in members]
            found = {words[relation.target].stem for relation in joins}
            if found != members or len({relation.source for relation in joins}) != 1:
                return False
        return all(token.has_content for token in entries)  # not "Ann sang and Bob"

    def counted(self, side: int) -> list[Token]:
        """Return the words of a sentence that its graph counts."""
        view = self.views[side]
        nodes = {node for node, role, _ in (*view.forward, *view.graph.attributes) if role.lower() == "quant"}
        return [token for node, token in self.anchors[side].items() if node in nodes]

    def quantities(self, side: int) -> list[Quantity]:
        """Return the quantities of a sentence with what they count, in order."""
        order, view = self.texts.tokens[side], self.views[side]
        heads = [order.index(token) for token in self.counted(side)]
        ends = [at for at, token in enumerate(order) if token.kind == "link" or token.lower == "by"]
        units = [self.anchors[side].get(target) for _, role, target in view.forward if role == "unit"]
        quantities = []
        for first, last in runs_of(order):
            reach = next((at for at in ends if at > last), len(order))
            past = last + 1
            if re.fullmatch(r"half|\d+/\d+", order[last].stem) and ARTICLES & {t.lower for t in order[past : past + 2]}:
                past += 1 + (order[past].stem == "of")  # half an hour, three quarters of an hour
            behind = order[past] if past < len(order) else NO_TOKEN
            between = self.texts.sentences[side][order[past - 1].end : behind.start]
            is_address = [token.kind for token in order[past : past + 2]] == ["name", "name"]  # 22 Mill Road
            kinds = {"word"} if is_address or _ALONE.fullmatch(order[last].lower) else {"word", "name"}
            heads_near = [at for at in heads if last + is_address < at < min(last + 4, reach) and "," not in between]
            at = min(heads_near, default=None)
            is_verb = behind.stem in self.frame_stems & self.texts.shared  # aged 12 won
            is_verb &= not re.match(r"\d+[a-z]", order[last].stem)  # not "the 7th pick"
            is_verb |= order[last].lower in {"once", "twice"}  # twice daily
            is_sum = _SUM.search(self.texts.sentences[side][: order[last].end])
            if at is None and behind.kind in kinds and not (between.strip(" -") or is_verb or is_sum):
                at = past
            if at is not None and order[at].kind == "name" and behind.kind == "word":
                at = past  # three sons Jim and Bob
            at = last - 1 if first == last and _DAY.search(self.texts.sentences[side][: order[last].end]) else at
            unit = next((t for t in order[past : past + 2] if t in units or t.stem in UNITS), None)
            is_number = order[first].stem[0].isdigit() or order[first].stem == "half"  # not "around once more"
            if first and is_number and order[first - 1].lower in _BOUNDS:
                first -= 1  # noqa: PLW2901
            edges = sorted([first, last if at is None else at])
            span = order[edges[0] : edges[1] + 1]
            text = quoted(self.texts.sentences[side][span[0].start : span[-1].end])
            quantities.append(Quantity(order[first : last + 1], span, None if at is None else order[at], unit, text))
        return quantities

    @property
    def same_frames(self) -> list[tuple[int, int]]:
        """Aligned nodes with the same concept and with arguments."""
        labels, others = (view.labels for view in self.views)
        pairs = [(node, other) for node, other in self.image.items() if labels[node] == others[other]]
        return [(node, other) for node, other in pairs if labels[node] not in _JOINS and self.fillers(0, node)]

    @cached_property
    def frame_stems(self) -> set[str]:
        """Stems of words that have arguments, in either graph, other than nouns for one of them: not "student"."""
        frames = [(token.stem, self.fillers(n, node)) for n in (0, 1) for node, token in self.anchors[n].items()]
        return {stem for stem, fillers in frames if fillers} - {stem for stem, fillers in frames if stem in fillers}

    @cached_property
    def moved_arguments(self) -> list[tuple[str, str]]:
        """Stems of words and a frame that both graphs have, where the word has other roles in a than in b."""
        moved = []
        for left, right in self.same_frames:
            ours, theirs = self.fillers(0, left), self.fillers(1, right)
            stems = [stem for stem in dict.fromkeys([*ours, *theirs]) if ours.get(stem) != theirs.get(stem)]
            frame = self.word(0, left) or ""  # "actor" has no role in "actor"
            moved += [(stem, frame) for stem in stems if stem in self.texts.shared - {stem_of(frame.strip('"'))}]
        return moved

    @property
    def switched(self) -> Sequence[list[str]]:
        """Stems of two words or names of which each stands beside what was beside the other; of more in a circle."""
        (left, right), tokens = self.texts.order, self.texts.tokens
        circle = [one for one, other in zip(left, right, strict=False) if one != other]
        kinds = {(name[0].kind, len(name)) for name in (self.texts.name(self.texts.token(0, s)) for s in circle)}
        single = kinds == {("name", 1)} or (len(circle) < 4 and len({kind for kind, _ in kinds}) == 1)  # of a kind
        if single and sorted(left) == sorted(right) and sum(map(left.count, circle)) == max(3, len(circle)):
            return [[stem] for stem in circle]
        orders = [[t.stem for t in side if t.has_content] for side in tokens]
        heads = [t for last, t in pairwise([NO_TOKEN, *tokens[0]]) if t.kind == "word" or t.kind == "name" != last.kind]
        parts = [(head.kind, [token.stem for token in self.texts.name(head)]) for head in heads]
        parts = [(kind, part) for kind, part in parts if all(o.count(stem) == 1 for o in orders for stem in part)]
        for (kind, one), (other_kind, other) in combinations(parts, 2):
            ours, theirs = ((stems.index(one[-1]), stems.index(other[-1])) for stems in orders)
            taken, kept = self.texts.beside((one, other))
            is_apart = ours[1] - ours[0] > len(other) and theirs[0] - theirs[1] > len(one)
            alike = {side for side, _ in taken[0]} & {side for side, _ in taken[1]}  # not "Ann sang", "said Ann"
            if kind == other_kind and is_apart and alike and not any(kept):
                return one, other
        return ()

    def swaps(self, parts: tuple[list[str], list[str]]) -> list[str]:
        """Return words of frames in which two parts have each other's roles, if each has one of the other."""
        ways: tuple[list[str], list[str]] = ([], [])
        for node, image in self.same_frames:
            ours, theirs = self.fillers(0, node), self.fillers(1, image)
            for frames, (one, other) in zip(ways, (parts, parts[::-1]), strict=True):
                if {ours.get(stem) for stem in one} & {theirs.get(stem) for stem in other} - {None}:
                    frames.extend(filter(None, [self.word(0, node)]))  # not "father" beside "daughter"
        return ways[0] + ways[1] if all(ways) else []

    def fillers(self, side: int, node: int) -> dict[str, frozenset[str]]:
        """Return stems of the words that fill the roles of a frame → their roles, as `ARG0`."""
        fillers: defaultdict[str, set[str]] = defaultdict(set)
        for relation in self.views[side].forward:
            token = self.token(side, relation.target)
            if relation.source == node and is_argument(relation.role) and token is not None:
                fillers[token.stem].add(relation.role.upper())
        return {stem: frozenset(roles) for stem, roles in fillers.items()}


Aspect = Literal[
    "unrelated", "negation", "role", "quantity", "name", "coreference", "mood", "modality", "word", "order", "spelling",
    "relation", "unsure", "form", "unread",
]  # fmt: skip
REMARKS: frozenset[Aspect] = frozenset({"unsure", "form", "unread"})
"""What says how far to trust the graphs, not what differs between the sentences."""
MIRRORS: Mapping[Aspect, str] = {
    "negation": "negations",
    "role": "srl",
    "order": "srl",
    "quantity": "quantifiers",
    "name": "named_entities",
    "coreference": "coreference",
    "modality": "frames",
}
"""Aspect → the facet in which a reader looks for it."""
SIDES = ("a", "b")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two sentences differ."""

    facet: str | None  # a metric that sees it: its value is below 1; None if none does
    aspect: Aspect  # the kind of difference
    text: str  # the difference in words; `a` and `b` are the two sentences


class Told:
    """The differences told so far, and the words that they have named."""

    def __init__(self, both: ComparedGraphs) -> None:
        self.both, self.texts = both, both.texts
        self.differences: list[Difference] = []
        self._single: list[tuple[Aspect, Sequence[str], int, list[Token]]] = []  # to be told last
        self.named: tuple[list[Token], list[Token]] = ([], [])

    def add(
        self, aspect: Aspect, facets: Sequence[str], text: str, tokens: Sequence[Iterable[Token]] = ((), ())
    ) -> None:
        """Tell a difference: the facets may see it, the closest first, and its tokens need not be told again."""
        seen = (*facets, "concepts", "smatch") if aspect not in REMARKS else ()
        facet = next((name for name in seen if self.both.facets[name].score != 1), None)
        if all(text != each.text for each in self.differences):  # not "Mr" twice
            self.differences.append(Difference(facet, aspect, text))
        for named, more in zip(self.named, tokens, strict=True):
            named.extend(more)

    def add_apart(self, aspect: Aspect, facets: Sequence[str], places: Sequence[Chunk]) -> None:
        """Tell which words each sentence has at some places; where the other has none, they are kept for the end."""
        image = {self.both.token(0, node): self.both.token(1, other) for node, other in self.both.image.items()}
        lone = [[place[n] for place in places if place[n] and not place[1 - n]] for n in (0, 1)]
        heads = [{t: p for p in side for t in p if {t} >= {u for u in p if u.kind != "link"}} for side in lone]
        pairs = [(p, q) for (a, p), (b, q) in product(*(side.items() for side in heads)) if image.get(a) == b]
        places = [place for place in places if not any(part in pair for pair in pairs for part in place)] + pairs
        for left, right in places:
            if left and right:
                texts = [spans(self, side, self.whole(side, tokens)) for side, tokens in enumerate((left, right))]
                self.add(aspect, facets, f"{texts[0]} in a, {texts[1]} in b", (left, right))
        for side, named in enumerate(self.named):
            tokens = [token for place in places if not place[1 - side] for token in place[side]]
            self._single.append((aspect, facets, side, tokens))
            named.extend(tokens)

    def add_single(self) -> None:
        """Tell which words only one sentence has; if nothing else differs, which it has once more, or a lone "from"."""
        later: list[str] = []
        words = [[t for *_, side, tokens in self._single for t in tokens if side == n] for n in (0, 1)]
        rest = [_joined(self, n, self.whole(n, sorted(words[n], key=lambda t: t.start))) for n in (0, 1)]
        for aspect, facets, side, tokens in self._single:  # "which was built in 1962" is told as one
            runs = [run for run in rest[side] if not set(run).isdisjoint(tokens)]
            rest[side] = [run for run in rest[side] if run not in runs]
            theirs = [(token.lower, token.stem) for token in self.texts.tokens[1 - side]]
            phrases = {tuple(theirs[at : at + n]) for n in {*map(len, runs)} for at in range(len(theirs) - n + 1)}
            again = [t for run in runs if tuple((t.lower, t.stem) for t in run) in phrases for t in run]
            alone = [t for run in runs if {u.stem for u in run} <= _LEADING for t in run]  # "from" beside "borrowed"
            if new := [token for run in runs for token in run if token not in (*again, *alone)]:
                self.add(aspect, facets, f"only {SIDES[side]} says {spans(self, side, new)}")
            elif again:
                later.append(f"{SIDES[side]} says {spans(self, side, again)} once more")
            elif alone:
                later.append(f"only {SIDES[side]} says {spans(self, side, alone)}")
        for text in later if not self.differences else ():
            self.add("word", ("concepts",), text)

    def add_swap(self) -> bool:
        """Tell which two words swap roles, though the order of others differs, too; return whether any do."""
        stems = dict.fromkeys(stem for stem, _ in self.both.moved_arguments)
        for pair in combinations(stems, 2) if len(self.both.switched) < 4 else ():
            frames = self.both.swaps(([pair[0]], [pair[1]])) if self.texts.turns(pair) else []
            # Not "Ann was amused", "it amused Ann".
            if frames := [f for f in frames if stem_of(f.strip('"')) not in {*pair, self.texts.passive.verb.stem}]:
                words = joined([spans(self, 0, self.texts.name(self.texts.token(0, stem))) for stem in pair])
                self.add("role", ("srl",), f"{words} swap roles in {listed(frames)}")
                self.differences.insert(0, self.differences.pop())
                return True
        return False

    def whole(self, side: int, tokens: list[Token]) -> list[Token]:
        """Return words of a sentence without an "on" or "and" that lacks what follows, if others are left."""
        order = [token for token in self.texts.tokens[side] if token.kind != "grammar" or token in tokens]
        hanging = [t for t, behind in pairwise(order) if t.stem in _LEADING and behind not in tokens]
        return [token for token in tokens if token not in hanging] or tokens

    def add_spelling(self, left: Sequence[Token], right: Sequence[Token], text: str = "") -> None:
        """Tell that words may be another spelling of others."""
        words = f"{spans(self, 0, left)} in a and {spans(self, 1, right)} in b"
        self.add("spelling", ("concepts",), f"{words} {text or 'are spelt alike, perhaps one word'}", (left, right))

    def chunks(self, kinds: Iterable[str]) -> list[Chunk]:
        """Return words of some kinds that only one sentence has and that are not told yet, place by place."""
        named = self.named
        rest = [[[t for t in c[n] if t.kind in kinds and t not in named[n]] for n in (0, 1)] for c in self.texts.chunks]
        return [(left, right) for left, right in rest if left or right]


def spans(told: Told, side: int, tokens: Sequence[Token]) -> str:
    """Return words of a sentence in quotes, those that follow each other as one."""
    text, runs = told.texts.sentences[side], _joined(told, side, tokens)
    return listed(quoted(text[run[0].start : run[-1].start] + run[-1].shown) for run in runs)


def _joined(told: Told, side: int, tokens: Sequence[Token]) -> list[list[Token]]:
    """Return words of a sentence, those that follow each other in one part of it together, with articles in between."""
    order, text = told.texts.tokens[side], told.texts.sentences[side]
    runs: list[list[Token]] = []
    for token in tokens:
        past = order.index(runs[-1][-1]) + 1 if runs else 0
        *between, last = order[past : order.index(token) + 1] or [NO_TOKEN]
        apart = _PARTS.search(text[order[past - 1].end : last.start]) or any(t.kind != "grammar" for t in between)
        runs[-1:] = [[*runs[-1], *between, token]] if runs and last == token and not apart else [*runs[-1:], [token]]
    return runs
