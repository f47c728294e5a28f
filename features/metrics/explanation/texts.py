"""Two sentences side by side: which words only one of them has, which change places, in which form both have others.

a  The  lawyer  sued  the  doctor        order     lawyer sue doctor  ->  doctor sue lawyer
b  The  doctor  sued  the  lawyer        exchange  lawyer, doctor
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from html import unescape
from itertools import combinations_with_replacement, pairwise, product, takewhile

from features.metrics.explanation.tokens import ARTICLES, NO_TOKEN, UNITS, Token, tokens_of
from features.metrics.explanation.voice import NO_PASSIVE, NOUNS, RELATIVE, Passive, asked, is_active, parties, passives

Chunk = tuple[list[Token], list[Token]]
"""Words at the same place of the first and of the second sentence, of which the other has none."""

_LINKS = frozenset({"link", "grammar"})
_PLURALS = ("s", "men", "children", "feet", "teeth", "geese", "mice")
_UNMOVED = _LINKS | {"pronoun"}  # "he has never" is "never has he"
_LONGEST = 6  # words with content in a part that changes places


class ComparedTexts:
    """Two sentences, compared word by word."""

    def __init__(self, sentences: tuple[str, str], names: tuple[Collection[str], Collection[str]] = ((), ())) -> None:
        self.sentences = unescape(sentences[0]), unescape(sentences[1])  # from pages: don&rsquo;t
        left, right = tokens_of(self.sentences[0], names[0]), tokens_of(self.sentences[1], names[1])
        self.tokens, self._names = (_read_beside(left, right), _read_beside(right, left)), names[0]

    @cached_property
    def equal(self) -> bool:
        """Whether the sentences have the same words in the same form and order, and ask or state alike."""
        left, right = ([token.lower for token in side] for side in self.tokens)
        return left == right and self.asks[0] == self.asks[1]

    @cached_property
    def asks(self) -> list[bool]:
        """Whether each sentence ends as a question, not as one that it quotes: he asked, "Why?"."""
        quote = r'\w, ["“][^"“”]+["”]$'
        return [text.rstrip(" \"'”’)").endswith("?") and not re.search(quote, text) for text in self.sentences]

    @cached_property
    def passive(self) -> Passive:
        """The verb in the passive that only one sentence has, rather one with an agent; else `NO_PASSIVE`."""
        sides = [passives(side, self.tokens[side]) for side in (0, 1)]
        agents = [[p for p in side if p.by and (p.be != p.by - 1 or is_active(p, self.tokens))][:1] for side in sides]
        bare = [p for p in sides[0] + sides[1] if not p.by and p.verb.stem in self.shared]
        # Not "were," said Ann.
        bare = [p for p in bare if self.asks[p.side] or self.tokens[p.side][p.be].end + 1 == p.verb.start]
        for each in () if all(agents) else agents[0] + agents[1] or bare:
            beside = {(one.stem, other.stem) for one, other in pairwise(self.tokens[1 - each.side])}
            subject = [NO_TOKEN, *self.tokens[each.side]][each.be].stem
            moves = self.turns(self.shared) or (subject, each.verb.stem) in beside  # "he denied it", "he was denied it"
            if (each.by or moves) and each.verb.lower not in {p.verb.lower for p in sides[1 - each.side]}:
                return each
        return NO_PASSIVE

    @cached_property
    def voice(self) -> tuple[str, str] | None:
        """Stems of subject and agent of the passive, if only one sentence is in the passive and both have the two."""
        return parties(self.passive, self.tokens, self.shared)

    @cached_property
    def shared(self) -> set[str]:
        """Stems of words with content in both sentences."""
        left, right = ({token.stem for token in side if token.has_content} for side in self.tokens)
        return left & right

    @cached_property
    def exchange(self) -> tuple[list[str], list[str]] | None:
        """Stems of two parts that change places, if that makes the order of all words that both have equal."""
        left, right = self.order
        at = _first_difference(left, right)
        if at is None:
            return None
        pair = [left[at]], [right[at]]
        differ = self.differ_in_words(but={"and", "but"})  # "x and then y"
        is_dative = not differ and len({sum(t.lower == "to" for t in side) for side in self.tokens}) == 2
        if _renamed(left, pair) == right and (self.passive.by or not self.passive.verb.text):
            orders = [[t.stem for t in side if t.kind != "modal"] for side in self.tokens]  # of neighbours, one moves
            apart = all(abs(stems.index(left[at]) - stems.index(right[at])) > 1 for stems in orders)
            return pair if (apart or is_dative) and (not differ or self._take_places(pair)) else None
        if differ:  # the names may still change places
            names = {t.stem for t in self.tokens[0] if t.kind == "name"}
            once = {stem for stem in names if left.count(stem) == right.count(stem) == 1}
            left, right = ([stem for stem in side if stem in once] for side in self.order)
            if (at := _first_difference(left, right)) is None:
                return None
        while left[-1] == right[-1]:
            left, right = left[:-1], right[:-1]
        left, right = left[at:], right[at:]
        for n, m in product(range(1, _LONGEST + 1), repeat=2):
            # With nothing in between, a single word moves past others: "with the hat" past "saw the woman".
            between = 0 if differ or is_dative else 1 in {n, m}  # "sent us a card", "sent a card to us"
            if n + m <= len(left) - between and right == left[-m:] + left[n : len(left) - m] + left[:n]:
                parts = left[:n], left[-m:]
                return parts if not differ or self._take_places(parts) else None
        return None

    @cached_property
    def turned(self) -> tuple[Token, list[str], Token] | None:
        """Whom a clause is about, stems of another noun, the verb, if they swap roles: "who we saw", "who saw us"."""
        starts = [[at for at, token in enumerate(side) if token.stem in {"what", *RELATIVE}] for side in self.tokens]
        for places in zip(*starts, strict=False) if not self.passive.by else ():
            of = asked(self.tokens[0], places[0])
            clauses = [side[at + 1 :] for side, at in zip(self.tokens, places, strict=True)]
            if all(clauses) and clauses[0][0].has_content and clauses[0][0].stem == clauses[1][0].stem:  # which boys
                of, clauses = clauses[0][0], [clause[1:] for clause in clauses]
            for ours, theirs in (clauses, clauses[::-1]):
                verb = next((token for token in theirs if token.has_content), NO_TOKEN)
                if verb.stem != self.passive.verb.stem and (subject := _subject(ours, theirs)):
                    return of, subject, verb
        return None

    @cached_property
    def attribute(self) -> Chunk | None:
        """A noun with an attribute in front in one sentence, in a clause in the other: "ill man", "man who is ill"."""
        for side, tokens in enumerate(self.tokens):
            for noun, who, be, word in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
                is_clause = who.stem in RELATIVE and be.stem == "be" and word.has_content
                others = [NO_TOKEN, *self.tokens[1 - side]]
                for before, *pair in zip(others, others[1:], others[2:], strict=False) if is_clause else ():
                    is_verb = word.may_be_participle and before.kind in NOUNS  # "we hired men"
                    if [t.stem for t in pair] == [word.stem, noun.stem] and not is_verb:
                        return (pair, [noun, who, be, word]) if side else ([noun, who, be, word], pair)
        return None

    @cached_property
    def set_apart(self) -> list[tuple[int, str]]:
        """The side that alone has commas around some words, and these: "The boy, said Ann, left"."""
        parts = [re.findall(r"(?=, ([^,]*[^\s,])\s*,|, (\w+)\W*$)", text) for text in self.sentences]
        return [(side, text) for side in (0, 1) if not parts[1 - side] for text in map("".join, parts[side])]

    @cached_property
    def is_genitive(self) -> bool:
        """Whether one sentence has "of" where the other has a genitive: "the end of a year", "a year's end"."""
        spare = [{token.lower for chunk in self.chunks for token in chunk[side]} for side in (0, 1)]
        return any("of" in spare[side] and "'s" in spare[1 - side] for side in (0, 1))

    @cached_property
    def moved(self) -> list[str]:
        """Stems of single words that have another place among the words that both have."""
        left, right = self.order
        if left == right or self.exchange or self.attribute or any(self.fronted) or sorted(left) != sorted(right):
            return []
        pronouns = {token.stem for token in self.tokens[0] if token.kind == "pronoun"}
        once = [stem for stem in left if left.count(stem) == 1]
        moved = [stem for stem in once if [s for s in left if s != stem] == [s for s in right if s != stem]]
        orders = [[token.stem for token in side] for side in self.tokens]  # of "even" and "dog", what the articles show
        alone = [stem for stem in moved if [s for s in orders[0] if s != stem] == [s for s in orders[1] if s != stem]]
        return [] if pronouns & {*moved} else alone or moved  # "her guide", "guide and her": either may have moved

    @cached_property
    def moved_links(self) -> list[Token]:
        """Particles and prepositions that move while other words keep their order: "he called (it) off (the game)"."""
        left, right = ([t for t in s if t.kind != "grammar" or t.lower in {"to", "by", "that"}] for s in self.tokens)
        others = [[token.stem for token in side if token.kind not in _LINKS] for side in (left, right)]
        if others[0] != others[1] or sorted(t.stem for t in left) != sorted(t.stem for t in right):
            return []
        return [a for a, b in zip(left, right, strict=True) if a.kind in _LINKS and a.stem != b.stem]

    @cached_property
    def fronted(self) -> list[str]:
        """What only this side has in front, if the other has it at the end: "at noon" of "at noon, cats sleep".

        For each side the part, empty without a preposition, conjunction or "to"; no entries if nothing is in front.
        """
        left, right = ([token for token in side if token.kind != "grammar"] for side in self.tokens)
        stems, others = ([token.stem for token in side] for side in (left, right))
        for n, at in combinations_with_replacement(range(1, len(left)), 2):
            if stems[at : at + 1] == others[:1] and stems[at:] + stems[n:at] + stems[:n] == others:
                ends = zip(self.tokens, (left[n - 1], right[len(left) - at - 1]), self.sentences, strict=True)
                firsts = [(side[0], last.end, text) for side, last, text in ends]
                parts = [text[t.start : end] * (t.kind == "link" or t.lower == "to") for t, end, text in firsts]
                if n == at or any(parts):  # also "on the desk lay a book", "a book lay on the desk"
                    return parts
        return []

    def shuffled(self, *kinds: str) -> list[Token]:
        """Words of some kinds in the first sentence that stand elsewhere in the second, of those as often in both."""
        sides = [[token for token in side if token.kind in kinds] for side in self.tokens]
        counts = [Counter(token.stem for token in side) for side in sides]
        words, others = ([t for t in side if counts[0][t.stem] == counts[1][t.stem]] for side in sides)
        order = SequenceMatcher(None, [t.stem for t in words], [t.stem for t in others], autojunk=False)
        kept = {at + n for at, _, size in order.get_matching_blocks() for n in range(size)}
        return [word for at, word in enumerate(words) if at not in kept]

    def turns(self, stems: Collection[str]) -> bool:
        """Return whether some words come in another order."""
        left, right = ([stem for stem in side if stem in stems] for side in self.order)
        return left != right

    def in_one_place(self, cues: Sequence[Sequence[Token]]) -> bool:
        """Return whether negations stand before and after the same words in both sentences."""
        around = []
        stems = [{token.stem for token in tokens} for tokens in self.tokens]
        for side, tokens in enumerate(self.tokens):
            kept = [t for t in tokens if t.kind == "negation" or (t.stem in stems[1 - side] and t.kind not in _UNMOVED)]
            around.append([sorted(t.stem for t in kept[: kept.index(cue)]) for cue in cues[side]])
        return around[0] == around[1]

    @cached_property
    def chunks(self) -> list[Chunk]:
        """Words that the other sentence has not, place by place."""
        stems = [[token.stem for token in side] for side in self.tokens]
        order = _renamed(stems[0], self.exchange) if self.exchange else stems[0]
        spare = [Counter(stems[side]) - Counter(stems[1 - side]) for side in (0, 1)]
        chunks: list[Chunk] = []
        for tag, *ends in SequenceMatcher(None, order, stems[1], autojunk=False).get_opcodes():
            if tag != "equal":
                parts = self.tokens[0][ends[0] : ends[1]], self.tokens[1][ends[2] : ends[3]]
                left, right = ([t for t in part if _take(spare[side], t)] for side, part in enumerate(parts))
                chunks += [(left, right)] if _replaces((left, right), parts) else [(left, []), ([], right)]
        return [chunk for chunk in chunks if any(chunk)]

    @cached_property
    def forms(self) -> list[tuple[Token, Token]]:
        """Words that both sentences have in different forms."""
        left, right = ([token.stem for token in side] for side in self.tokens)
        blocks = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
        pairs = ((self.tokens[0][i + at], self.tokens[1][j + at]) for i, j, n in blocks for at in range(n))
        return [(a, b) for a, b in pairs if a.lower != b.lower and "'" not in a.lower + b.lower]

    def token(self, side: int, stem: str) -> Token:
        """Return the first word of a sentence with a stem."""
        return next(token for token in self.tokens[side] if token.stem == stem)

    def place(self, stem: str) -> str:
        """Return before or after which word that both sentences have another one stands in each."""
        sides = [[t for t in side if t.has_content and t.stem in self.shared] for side in self.tokens]
        ends = [(side, side.index(self.token(n, stem))) for n, side in enumerate(sides)]
        near = [("before", side[at + 1]) if side[at + 1 :] else ("after", side[at - 1]) for side, at in ends]
        places = [f"{way} {token.shown} in {name}" for (way, token), name in zip(near, "ab", strict=True)]
        return f": {', '.join(places)}" if len({token.stem for _, token in near}) == 2 else ""

    def name(self, token: Token) -> list[Token]:
        """Return a word of the first sentence with those around it that are of one name: "Lee" of "John Lee"."""
        ends = ((min(t.end, token.end), max(t.start, token.start)) for t in self.tokens[0])
        order = [t for t, (a, z) in zip(self.tokens[0], ends, strict=True) if "," not in self.sentences[0][a:z]]
        at = order.index(token)
        before = takewhile(lambda t: t.kind == token.kind == "name" and t.lower in self._names, order[:at][::-1])
        behind = takewhile(lambda t: t.kind == token.kind == "name", order[at + 1 :])
        return [*[*before][::-1], token, *behind]

    def led(self, side: int, token: Token, leaders: Collection[Token]) -> list[Token]:
        """Return a word after those of some words that stand directly before it: "will go"."""
        before = self.tokens[side][: self.tokens[side].index(token)]
        return [*reversed([*takewhile(leaders.__contains__, reversed(before))]), token]

    def _take_places(self, parts: tuple[list[str], list[str]]) -> bool:
        """Return whether each of two parts stands beside what was beside the other, not beside what was beside it."""
        orders = [[token.stem for token in side if token.kind != "grammar"] for side in self.tokens]
        bare = [[stem for stem in stems if stem != "and"] for stems in orders]
        spans = [stems[stems.index(part[0]) :][: len(part)] for part, stems in product(parts, bare)]
        if spans != [parts[0], parts[0], parts[1], parts[1]]:
            return False  # "Ann taught Ben French", "Ben learned French from Ann"
        other, same = ([*each[0], *each[1]] for each in self.beside(parts))
        ends = [self.token(0, part[-1]) for part in parts]
        content = [[token.stem for token in side if token.has_content] for side in self.tokens]
        adjoin = any(abs(stems.index(ends[0].stem) - stems.index(ends[1].stem)) == 1 for stems in content)
        if adjoin and len(other) < 2 and all(end.kind != "name" for end in ends):
            return False  # "dropped the meat", "the meat was dropped"
        # As many: "to Rome and in 2011 to Oslo", but not the start of "the aide Jim" and of "Jim, an aide".
        return len(other) > len(same) or (len(other) == len(same) and any(stem for _, stem in other))

    def beside(self, parts: tuple[list[str], list[str]]) -> tuple[list[set[tuple[str, str]]], ...]:
        """Return the neighbours that each of two parts takes over from the other, and those that it keeps."""
        orders = [["", *(token.stem for token in side if token.kind != "grammar"), ""] for side in self.tokens]
        a, b, x, y = (
            {("before", stems[stems.index(part[0]) - 1]), ("after", stems[stems.index(part[-1]) + 1])}
            for part, stems in product(parts, orders)
        )
        return [a & y, x & b], [a & b, x & y]

    def differ_in_words(self, but: Collection[str] = ()) -> bool:
        """Return whether a sentence has words, other than those of grammar and some more, that the other lacks."""
        left, right = (Counter(t.stem for t in side if t.kind != "grammar") for side in self.tokens)
        return any(stem not in but for stem in (left - right) + (right - left))

    @cached_property
    def order(self) -> list[list[str]]:
        """The stems of nouns, verbs and the like that both sentences have, in order."""
        kept = {token.stem for token in self.tokens[0] if token.has_content and token.kind != "quantity"} & self.shared
        return [[token.stem for token in side if token.stem in kept] for side in self.tokens]


def _read_beside(tokens: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    """Return words as another text has them: "a" as 1 before what it counts."""
    bare = [t for before, t in pairwise([NO_TOKEN, *others]) if before.stem != "half" or t.lower not in ARTICLES]
    pairs = [(number.stem, word) for number, word in pairwise(bare) if number.kind == "quantity"]  # half an hour
    # Of a plural, one is as many: "two cats" and "a cat", but not "two brown cats" and "a brown cat".
    one, stems = {"1", "1/2", "half"}, {word.stem for _, word in pairs}
    counted = {word.stem for number, word in pairs if number in one or word.lower.endswith(_PLURALS)}
    counted |= {u for u in UNITS for word in stems - {u} if UNITS.get(word, (0, ""))[1] == UNITS[u][1]} - {"second"}
    counted -= {word.stem for article, word in pairwise(bare) if article.lower in ARTICLES}  # two dogs chase a dog
    return [
        token._replace(stem="1", kind="quantity")
        if token.lower in ARTICLES and behind.stem in counted and before.stem not in {"half", "of"}  # 3/4 of an hour
        else token
        for before, token, behind in zip([NO_TOKEN, *tokens], tokens, [*tokens[1:], NO_TOKEN], strict=False)
    ]


def _subject(tokens: Sequence[Token], others: Sequence[Token]) -> list[str]:
    """Return stems of the subject of a clause that comes after the verb in another: of "who we saw", "who saw us"."""
    left, right = ([token for token in side if token.has_content] for side in (tokens, others))
    stems = [token.stem for token in left]
    at = stems.index(right[0].stem) if right and right[0].stem in stems else 0
    if not at or stems[:at] != [t.stem for t in right[1 : at + 1]] or others[others.index(right[0]) + 1].stem == "be":
        return []  # also of "which set is the best", "which is the best set"
    before = [side[: side.index(word)] for side, word in ((tokens, left[0]), (tokens, left[at]), (others, right[0]))]
    articles, _, of_verb = (any(token.lower in {"the", *ARTICLES} for token in part) for part in before)
    links = any(token.kind == "link" for token in before[1])  # "what would you like to change", "what can change you"
    return stems[:at] if (articles or left[0].kind in {"name", "pronoun"}) and not (of_verb or links) else []


def _first_difference(left: Sequence[str], right: Sequence[str]) -> int | None:
    return next((n for n, (x, y) in enumerate(zip(left, right, strict=False)) if x != y), None)


def _renamed(stems: Sequence[str], pair: tuple[list[str], list[str]]) -> list[str]:
    names = {pair[0][-1]: pair[1][-1], pair[1][-1]: pair[0][-1]}
    return [names.get(stem, stem) for stem in stems]


def _replaces(chunk: Chunk, parts: Chunk) -> bool:
    """Return whether words of a part of one sentence, which the other lacks, stand for those of the part there.

    Beside words that have moved there from elsewhere, only links do, and the first and the last words with content.
    """
    kept = [[token in chunk[n] for token in parts[n] if token.has_content] for n in (0, 1)]
    kinds = [{token.kind for token in side} for side in chunk]
    if all(map(all, kept)) or {"grammar"} in kinds or kinds[0] | kinds[1] <= _LINKS:
        return True
    return all(kept) and any(all(side[at] for side in kept) for at in (0, -1))


def _take(spare: Counter[str], token: Token) -> bool:
    spare[token.stem] -= 1
    return spare[token.stem] >= 0
