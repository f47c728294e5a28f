"""Differences between two sentences, in their words: one function for each aspect, the most telling aspects first.

What is told has to show in the sentences; their graphs say what it means: which word is negated, who does what to whom.
Where graphs differ and sentences do not, or the other way round, the parser is the reason, and that is what is told.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise, product

from features.metrics.explanation.anchors import joined, listed, quoted
from features.metrics.explanation.comparing import OF, REMARKS, SIDES, Aspect, ComparedGraphs, Difference, Told, spans
from features.metrics.explanation.quantities import tell_quantities
from features.metrics.explanation.texts import Chunk, ComparedTexts
from features.metrics.explanation.tokens import NO_TOKEN, Token, abbreviates, misspells, stem_of
from features.metrics.explanation.voice import RELATIVE
from features.metrics.readings import SENSE

_ANY = re.compile(r"(?:all|most|either|both)$|some|any|every")
_BEFORE_COMMANDS = {"do", "don't", "n't", "not", "please", "never", "always", "first", "so", "then", "now", "next"}
_BARE = frozenset({"and", "or", "but", "he", "she", "it", "i", "we", "you", "they"})  # what no "not" negates
_CLAUSES = {"what", "who", "which", "where", "when", "why", "how", "if", "unless", "i", "he", "she", "we", "they"}
_WORDS = frozenset({"word", "name", "link", "pronoun", "negation"})
_CONJUNCTIONS = frozenset({"because", "before", "after", "until", "when", "while", "although", "though"})
_OBJECTS = frozenset({"him", "her", "it", "them", "me", "us", "you"})


def differences(both: ComparedGraphs) -> tuple[Difference, ...]:
    """Return the differences between two sentences, the most telling first; none if they have the same words."""
    told = Told(both)
    if both.texts.equal:
        roles = listed(frame for _, frame in both.moved_arguments if frame)
        for side, part in both.texts.set_apart[:1]:
            text = f"{quoted(part)} is set apart by commas only in {SIDES[side]}"
            text += f", and the parser reads other roles in {roles}" if roles else ""
            told.add("order" if both.differ else "form", ("srl",), text)
        _unsure(told)
        return tuple(told.differences)
    own = [[t for t in side if t.stem not in both.texts.shared] for side in both.texts.tokens]
    kinds = {"word", "name", "quantity", "negation"}
    cut = [{token.start for token in side if token.stem == "not"} for side in own]
    words = [[t for t in own[n] if t.kind in kinds or t.end in cut[n]] for n in (0, 1)]  # "doesn't" whole
    _compounds(told)
    if not (told.differences or both.are_related) and all({t.stem for t in side} - {"no"} for side in words):
        told.add("unrelated", ("smatch",), f"a speaks of {spans(told, 0, words[0])}, b of {spans(told, 1, words[1])}")
        return tuple(told.differences)
    for tell in _TELLERS:
        tell(told)
    main = [difference for difference in told.differences if difference.aspect not in REMARKS]
    single = all(each.text.startswith("only ") for each in main)  # "only a says Jonas; only b says Jonah"
    if len(main) > 1 + (single and bool(both.moved_arguments)):  # nobody asks for more
        return tuple(main)
    for tell in (_reordered, _unread) if main else (_reordered, _forms, _unsure):
        tell(told)
    ordered = sorted(told.differences, key=lambda difference: difference.aspect in REMARKS)
    return tuple(ordered if len(main) < 2 else [each for each in ordered if each.aspect not in REMARKS])


def _negations(told: Told) -> None:
    both, texts, prefixed = told.both, told.texts, []
    for a, b in [(a, b) for left, right in texts.chunks for a in left for b in right]:
        for side, word, other in ((0, a, b), (1, b, a)):
            if word.negates(other):
                text = f"{word.shown} in {SIDES[side]} negates {other.shown} in {SIDES[1 - side]}"
                told.add("negation", ("negations",), text, ([a], [b]))
                prefixed.append((side, (a, b)))
    cues = [[token for token in tokens if token.kind == "negation"] for tokens in texts.tokens]
    stems = [{cue.stem for cue in side} for side in cues]
    polar = [both.facets["negations"].left, both.facets["negations"].right]
    nodes = [[both.token(side, i.index) for i in items if not i.matched] for side, items in enumerate(polar)]
    scopes = [[token.shown for token in side if token and token.stem not in _BARE] for side in nodes]
    where = [f"{listed(scope)} in {side}" for scope, side in zip(scopes, SIDES, strict=True) if scope]
    reads = f": the parser reads that it negates {joined(where)}" if where else ""
    in_both = [token.stem in texts.shared or token.kind != "word" for side in nodes for token in side if token]
    if len(cues[0]) != len(cues[1]):
        side = int(len(cues[1]) > len(cues[0]))
        ours, theirs = stems[side], stems[1 - side]
        more = [cue for cue in cues[side] if cue.stem not in theirs] or cues[side]
        words = [cue.shown for cue in more]
        # Of several, the scope may be that of one which the other sentence has, too.
        scope = [word for word in scopes[side] if word not in words and more == cues[side]]
        others = [cue for cue in cues[1 - side] if cue.stem not in ours]  # "neither likes it", "both do not"
        if added := _added(texts, side, more, nodes[side]):
            text = f"only {SIDES[side]} says {spans(told, side, told.whole(side, added))}"
            told.add("negation", ("negations",), text, _by_side(side, added, []))
            return
        single = len({cue.stem for cue in more} - {"nor"}) <= len(scope)  # not "no one is without"
        later = {pair[side] for _, pair in prefixed if pair[side].start > more[0].start}
        single &= later <= {*nodes[side]}  # "not impossible that it falls": the parser may tie "not" to "falls"
        sure = scope and single and not others and not _is_far(texts, side, more, nodes[side])
        what = f"negates {listed(scope)} ({listed(words)})" if sure else f"has the negation {listed(words)}"
        again = not scope and all(cue.stem in theirs for cue in more)
        only = not (again or others or 0 < len(polar[0]) == len(polar[1]))  # "unharmed" beside "not injured"
        text = f"{'only ' if only else ''}{SIDES[side]} {what}{' once more' if again else ''}"
        partner = _opposite(texts, more, side) or others
        text += f", {SIDES[1 - side]} has {listed(token.shown for token in partner)}" if partner else ""
        who = f"only {SIDES[side]}" if others else "it"
        text += f": the parser reads that {who} negates {listed(scope)}" if scope and not sure else ""
        for own, pair in prefixed:
            if cues[side][0].start < pair[side].start and not _is_far(texts, side, cues[side], [pair[side]]):
                text += ", but its two negations may cancel out" if side == own else ", so both may mean the same"
        told.add("negation", ("negations",), text, _by_side(side, cues[side], [*cues[1 - side], *partner]))
    elif cues[0] and stems[0].isdisjoint(stems[1]):
        # "Without" negates what follows: "not for men with colds", "for men without colds".
        same = texts.in_one_place(cues) or not (all(scopes) or "without" in stems[0] | stems[1])
        same = same or (any(polar) and not any(nodes))  # the parser reads that they negate the same
        orders = [pairwise([NO_TOKEN, *tokens]) for tokens in texts.tokens]  # "not all", "none"
        cues = [[t for cue, t in orders[n] if t in cues[n] or (cue in cues[n] and _ANY.match(t.lower))] for n in (0, 1)]
        left, right = (spans(told, n, side) for n, side in enumerate(cues))
        text = f"both negate: {left} in a, {right} in b" if same else f"a has the negation {left}, b has {right}{reads}"
        told.add("word" if same else "negation", ("negations",), text, cues)
    elif (any(in_both) or not (any(scopes) or texts.turns(texts.shared))) and not texts.in_one_place(cues):
        told.add("negation", ("negations",), f"{cues[0][0].shown} has another place{reads}", cues)


def _added(texts: ComparedTexts, side: int, cues: Sequence[Token], scope: Sequence[Token | None]) -> list[Token]:
    """Return words that only one sentence has at a place, if they negate nothing but themselves: "with no hat"."""
    places = [chunk[side] for chunk in texts.chunks if not any(t.has_content for t in chunk[1 - side])]
    added = next((place for place in places if {*cues} <= {*place}), [NO_TOKEN])
    last = max((t.start for t in scope if t), default=0)  # not "no bee landing" where both have bees
    negated = {t for t in texts.tokens[side] if t in scope or (cues[0].start < t.start < last and t.has_content)}
    added = added if negated <= {*added} or added[-1].lower == "that" else []  # "it is not true that"
    return added if any(t.kind == "word" and t.start > cues[0].start for t in added) else []


def _opposite(texts: ComparedTexts, cues: Sequence[Token], side: int) -> list[Token]:
    """Return what the other sentence has in place of a negation: "somebody" for "nobody"."""
    absent = [cue for cue in cues if cue.stem.startswith(("no", "neither")) and cue.stem not in {"not", "nor"}]
    others = [t for chunk in texts.chunks if any(cue in chunk[side] for cue in absent) for t in chunk[1 - side]]
    return [t for t in others if _ANY.match(t.lower)][:1]


def _is_far(texts: ComparedTexts, side: int, cues: Sequence[Token], scope: Sequence[Token | None]) -> bool:
    """Return whether a clause may begin between a negation and its scope: "not what I saw"; or it is "have to"."""
    first = max((token.start for token in scope if token), default=0)
    nearest = max((cue.end for cue in cues if cue.start < first), default=cues[0].start)  # "no gods, he said"
    between = [t for t in texts.tokens[side] if cues[0].start < t.start < first]
    begins = any(t.lower == "been" or t.stem == "must" or t.kind == "quantity" or t.lower in _CLAUSES for t in between)
    return begins or "," in texts.sentences[side][min(nearest, first) : max(nearest, first)]


def _by_side(side: int, ours: list[Token], theirs: list[Token]) -> tuple[list[Token], list[Token]]:
    return (ours, theirs) if side == 0 else (theirs, ours)


def _roles(told: Told) -> None:
    both, texts, moved = told.both, told.texts, told.both.moved_arguments
    if texts.attribute:
        left, right = (spans(told, side, tokens) for side, tokens in enumerate(texts.attribute))
        told.add("form", (), f"{left} in a is {right} in b", texts.attribute)
    one, subject, does = texts.turned or (NO_TOKEN, [], NO_TOKEN)
    if does.may_be_participle or does.lower.endswith("ing") or does.stem in both.frame_stems:  # not "which the way is"
        told.add("role", ("srl",), f"{one.shown} and {_part(told, subject)} swap roles in {does.shown}")
    elif texts.voice:
        parts, side = texts.exchange or ([], []), texts.passive.side
        within = {*texts.voice} <= {stem for part in parts for stem in part}
        names = [texts.name(texts.token(0, stem)) for stem in texts.voice]
        words = joined([_part(told, part) for part in parts] if within else [spans(told, 0, name) for name in names])
        passive = f" (passive in {SIDES[side]} only)"
        verb = texts.passive.verb.stem
        frames = [f" in {f}" for stem, f in moved if stem in texts.voice and stem_of(f.strip('"')) == verb][:1]
        # One is the subject of both: "Ann told Bob of it", "Ann was told of it by Bob".
        if not texts.turns(texts.shared) or not (texts.turns([*texts.voice, verb]) or texts.differ_in_words()):
            told.add("role", ("srl",), f"{words} swap roles{''.join(frames)}{passive}")
        # With a third one: "Ann was introduced to Bob by Tom", "Bob introduced Ann to Tom".
        elif frames and {stem for stem, _ in moved}.difference(token.stem for name in names for token in name):
            told.add("order", (), f"{words} change places{passive}; the parser is unsure whether roles do")
        elif texts.exchange and texts.turns(texts.voice):
            told.add("form", (), f"{words} change places{passive}, not their roles")
        elif texts.turns(texts.voice):
            told.add("form", (), f"only {SIDES[side]} is in the passive")
    elif any(texts.fronted):
        first = [f"{quoted(part)} comes first in {SIDES[n]}" for n, part in enumerate(texts.fronted) if part]
        told.add("order" if both.differ else "form", ("srl",), ", ".join(first))
    elif texts.exchange and not texts.passive.by:
        _exchange(told, texts.exchange, moved)


def _exchange(told: Told, exchange: tuple[list[str], list[str]], moved: list[tuple[str, str]]) -> None:
    both, texts = told.both, told.texts
    words, parts = joined([_part(told, stems) for stems in exchange]), [*exchange[0], *exchange[1]]
    within, ends = [texts.token(0, stem).shown for stem in parts], {stems[-1] for stems in exchange}
    # Beside other words, one may only stand where the other did: "know the singer's sister", "the singer whose sister".
    words_of = [{t.stem for t in s if t.kind != "grammar"} for s in texts.tokens]
    frames = both.swaps(exchange) if words_of[0] != words_of[1] else [f for s, f in moved if s in parts]
    is_word = texts.token(0, parts[0]).kind == "word"  # "taller", not "Ann"
    frames = [frame for frame in frames if frame not in within and (frame or not is_word)]
    starts = [sorted(texts.token(side, stem).start for stem in ends) for side in (0, 1)]
    between = [[t for t in texts.tokens[side] if starts[side][0] < t.start < starts[side][-1]] for side in (0, 1)]
    adjoin = all(t.stem in parts or t.kind in {"link", "grammar", "quantity"} for t in between[0])
    adjoin &= len(parts) > 2 or any(t.stem in {"and", "or"} for t in between[0])  # a list: "heat and warmth"
    links = {t for chunk in texts.chunks for part in chunk for t in part if t.kind == "link" or t.lower in OF}
    moves_verb = not ends.isdisjoint(both.frame_stems)  # or an adjective
    alone = [{t.lower for t in links.intersection(side)} for side in between]
    passed = [t for side in between for t in side if t.has_content and t.stem not in parts]
    # "Load a cart with hay", "load hay on a cart"; "Ann wrote to Ben", "Ben wrote Ann" has a verb in between.
    in_place = all(alone) or (any(alone) and both.frame_stems.isdisjoint(t.stem for t in passed))
    frames = [] if moves_verb or in_place else frames
    # "Gave us a fish", "gave a fish to us"; "we were given a fish", "a fish was given to us".
    passive = all(any(t.stem == "be" for t in side) for side in between)
    is_dative = alone[0] ^ alone[1] in ({"to"}, {"for"})
    is_dative &= all(t.kind == "quantity" or (passive and t.may_be_participle) for t in passed)
    # "To Ann about Ben", "about Ben to Ann".
    before = [[t.lower for t in side if t.kind == "link" or t.lower == "to"] for side in between]
    keep_links = all(before) and before[0] != before[1] and both.frame_stems.isdisjoint(parts)
    keep_links &= not (passed or texts.differ_in_words())
    # "Drove because he was late".
    clauses = ends <= both.frame_stems
    in_list = all(both.lists(ends, [t for t in side if t.stem not in parts]) for side in between)
    if not clauses and (is_dative or keep_links or texts.is_genitive or in_list):
        told.add("form", (), f"{words} change places, not their roles")
    elif both.differ and frames and not adjoin:
        named = listed(filter(None, frames))
        told.add("role", ("srl",), f"{words} swap roles{f' in {named}' if named else ''}")
    else:
        joins = [t.shown for t in between[0] if t.lower in _CONJUNCTIONS & {other.lower for other in between[1]}]
        around = f" around {joins[0]}" if len(joins) == 1 else ""
        told.add("order" if both.differ or not texts.fronted else "form", ("srl",), f"{words} change places{around}")


def _moved_words(told: Told) -> None:
    both, texts = told.both, told.texts
    if texts.attribute or "role" in {difference.aspect for difference in told.differences}:
        return
    side, be, by, verb = texts.passive
    agents = [r.source for r in both.views[1 - side].forward if r.role == "arg0"]
    acting = {token.stem for node, token in both.anchors[1 - side].items() if node in agents}  # not "if indicted"
    if verb.stem in acting and not texts.voice and texts.turns(texts.shared):
        told.add("form", (), f"{verb.shown} is in the passive only in {SIDES[side]}")
    elif verb.stem in acting and not by:  # "he was denied a room", "he denied it"
        theirs = texts.token(1 - side, verb.stem)
        told.add_apart("role", ("srl",), [_by_side(side, [texts.tokens[side][be], verb], [theirs])])
    elif by and (texts.moved or not texts.voice):
        told.add("form", (), f"only {SIDES[side]} is in the passive")
    elif not (texts.exchange or texts.voice) and told.add_swap():
        return
    elif texts.moved:
        places = {stem: _place(both, stem) for stem in texts.moved}
        # Of two neighbours, the one that belongs to another word then has moved, rather than a verb.
        stem = min(places, key=lambda stem: (stem in both.frame_stems, not places[stem]))
        word = texts.token(0, stem).shown
        # Not "Ann and Bob saw Cy", "Ann saw Bob and Cy".
        if any(texts.turns([stem, other]) and both.lists([stem, other]) for other in texts.shared):
            told.add("form", (), f"{word} has another place in the list")
        elif roles := listed(frame for moved, frame in both.moved_arguments if moved == stem and frame):
            told.add("order", ("srl",), f"{word} has another place, and the parser reads another role in {roles}")
        else:
            aspect: Aspect = "order" if both.differ or not texts.fronted else "form"
            told.add(aspect, ("srl",), f"{word} has another place{places[stem] or texts.place(stem)}")
    elif texts.moved_links:
        words, single = listed(token.shown for token in texts.moved_links), len(texts.moved_links) == 1
        aspect = "form" if single and texts.moved_links[0].stem not in RELATIVE else "order"
        told.add(aspect, (), f"{words} {'has another place' if single else 'change places'}")


def _place(both: ComparedGraphs, stem: str) -> str:
    """Return what a word that has moved belongs to in each sentence; empty if the graphs do not show it."""
    heads = [both.head(side, both.texts.token(side, stem)) for side in (0, 1)]
    differ = all(heads) and len({stem_of((head or "").strip('"')) for head in heads}) == 2
    return f": the parser ties it to {heads[0]} in a, to {heads[1]} in b" if differ else ""


def _part(told: Told, stems: Sequence[str]) -> str:
    """Return a part of the first sentence in quotes."""
    tokens, first = told.texts.tokens[0], told.texts.token(0, stems[0])
    end = next(t.end for t in tokens if t.stem == stems[-1] and t.start >= first.start)
    # "Big cat" is the last of "a big dog saw the big cat".
    start = next(t for t in reversed(tokens) if t.stem == stems[0] and t.end <= end)
    return quoted(told.texts.sentences[0][start.start : end])


def _compounds(told: Told) -> None:
    ours, theirs = ([chunk[n] for chunk in told.texts.chunks if not chunk[1 - n]] for n in (0, 1))
    for chunk in [*told.texts.chunks, *product(ours, theirs)]:
        words = [[t for t in part if t.kind != "grammar"] for part in chunk]
        names = [[t for t in part if t.text[0].isupper()] for part in words]
        for a, b in (names, words, (words[0], chunk[1]), (chunk[0], words[1])):
            if abbreviates(a, b) or abbreviates(b, a):
                told.add_spelling(a, b, "may be one name" if a is names[0] else "may be the same")
                break
        left, right = ("".join(token.lower for token in part).replace("-", "") for part in chunk)
        if left == right and len(chunk[0]) != len(chunk[1]):  # not "resigned" and "re-signed"
            told.add_spelling(*chunk)


def _names(told: Told) -> None:
    places: list[Chunk] = []
    for left, right in told.chunks({*_WORDS, "grammar"}):
        # Neither a capital nor the parser makes a name: "FLOP for the Year", "Lol she left".
        names = [[token for token in part if token.kind == "name"] for part in (left, right)]
        if any(names):  # "this year" is not "last year"
            kinds = [{t.kind for t in part if t.has_content or t.stem == "this"} for part in (left, right)]
            chunk = [t for t in left if t.kind != "grammar"], [t for t in right if t.kind != "grammar"]
            # "Swedish" in front is none, "and" stands for none, and "Ann" does for "the Swedish minister".
            alone = all(names) and {"name"} not in kinds
            places.append((names[0], names[1]) if alone or (not all(kinds) and all(chunk)) else chunk)
    told.add_apart("name", ("named_entities",), places)


def _coreference(told: Told) -> None:
    kinds = [[t for t in side if t.kind == "pronoun" and "sel" in t.lower] for side in told.texts.tokens]
    if bool(kinds[0]) == bool(kinds[1]):
        return
    side = int(bool(kinds[1]))
    reflexive, tokens = kinds[side][0], told.texts.tokens[side]
    before, *behind = tokens[tokens.index(reflexive) - 1 :]
    if before.kind in {"word", "name"} and before.stem not in told.both.frame_stems and behind[1:]:
        return  # "the king himself opened it"
    text = f"{reflexive.shown} in {SIDES[side]} refers back"
    others = [t for t in told.texts.tokens[1 - side] if t.stem == reflexive.stem and t.lower in _OBJECTS][:1]
    text += f", {others[0].shown} in {SIDES[1 - side]} to someone else" if others else ""
    told.add("coreference", ("coreference",), text, _by_side(side, kinds[side], others))


def _moods(told: Told) -> None:
    asks = told.texts.asks
    if asks[0] != asks[1] and "?" not in told.texts.sentences[asks[0]]:  # not "Who will? Ann."
        told.add("mood", ("smatch",), f"{SIDES[asks[1]]} is a question, {SIDES[asks[0]]} is not")
    acts = [(v.labels[r.source], v.labels[r.target]) for v in told.both.views for r in v.forward if r.role == "arg0"]
    verbs = {SENSE.sub("", verb).partition("-")[0] for verb, actor in acts if actor == "you"}
    commands, unsure = [], []
    for view, tokens, text in zip(told.both.views, told.texts.tokens, told.texts.sentences, strict=True):
        first, *behind = [t.lower for t in tokens if t.lower not in _BEFORE_COMMANDS] or [""]
        asked = " ".join(t.lower for t in tokens[:2]).startswith(("do not", "please "))
        # Of others, the parser reads no "you": "Rain makes you wet", "Hope to see you", not always: "Trust you to go".
        commands.append((asked or first.replace("-", "") in verbs) and "you" not in behind[:1])
        frames = {SENSE.sub("", label).partition("-")[0] for label in view.labels if SENSE.search(label)}
        clauses = re.findall(r", (?:please )?(\w+)", text.lower())  # "If it rains, call" beside "Call if it rains"
        unsure.append(first in frames | {"be"} or not verbs.isdisjoint(clauses))  # "Sit" beside "Don't sit"
    side = int(commands[1])
    if commands[0] != commands[1] and not unsure[1 - side] and not any("?" in text for text in told.texts.sentences):
        told.add("mood", ("smatch",), f"{SIDES[side]} may be a command, {SIDES[1 - side]} is not")


def _words(told: Told) -> None:
    chunks = told.chunks({*_WORDS, "modal"})
    modals = [([t for t in a if t.kind == "modal"], [t for t in b if t.kind == "modal"]) for a, b in chunks]
    # "Can we" beside "How do you" is told as one.
    told.add_apart("modality", ("frames",), [m for m, c in zip(modals, chunks, strict=True) if all(m) or not all(c)])
    for left, right in told.chunks(_WORDS):
        for a, b in zip(left, right, strict=False) if len(left) == len(right) else ():
            if misspells(a, b):
                told.add_spelling([a], [b])
    read = zip(told.both.views, told.both.anchors, strict=True)  # "have" and "this" may be words of grammar or not
    with_node = {t for view, words in read for at, t in words.items() if not view.labels[at].endswith("-91")}
    places: list[Chunk] = []
    for chunk in told.chunks({*_WORDS, "modal", "grammar"}):
        alone = [len(part) for part in chunk] == [1, 1]
        kept = alone and all(token.kind == "link" or token.lower in OF for part in chunk for token in part)
        left, right = chunk if kept else ([t for t in part if t.kind != "grammar" or t in with_node] for part in chunk)
        kinds = [{token.kind for token in part} for part in (left, right)]
        apart = not kept and {"link"} in kinds and {"grammar"} in kinds  # "this year", "in the year"
        places += [(left, []), ([], right)] if apart else [(left, right)]
    told.add_apart("word", ("frames", "concepts"), places)


def _reordered(told: Told) -> None:
    """Tell which words have another place in the second sentence, if nothing told says so."""
    is_all, kinds = told.both.differ and len(told.differences) != 1, ("word", "name", "pronoun")
    words = [token for token in told.texts.shuffled(*kinds) if token.kind != "pronoun" or not told.differences]
    words = words or (told.texts.shuffled(*kinds, "quantity") if is_all else [])  # "May 3", "3 May": equal graphs
    if not words or not {each.aspect for each in told.differences}.isdisjoint({"role", "order", "form"}):
        return
    frames = listed(frame for _, frame in told.both.moved_arguments if frame and is_all)
    text = f"words that both have come in another order: {spans(told, 0, words)}"
    text += f", and the parser reads other roles in {frames}" if frames else ""
    if parts := told.both.switched:
        text = f"{joined([_part(told, stems) for stems in parts])} change places"
    told.add("order" if is_all or parts else "form", ("srl",), text)


def _forms(told: Told) -> None:
    """Tell words in another form, and those that graphs leave out, such as articles, if nothing else is told."""
    if told.differences:
        return
    left, right = ([t for chunk in told.chunks({"grammar"}) for t in chunk[side]] for side in (0, 1))
    forms = [(a, b) for a, b in told.texts.forms if a not in told.named[0]]
    told.add_apart("form", (), [(told.texts.led(0, a, left), told.texts.led(1, b, right)) for a, b in forms])
    told.add_apart("form", (), told.chunks({"grammar", "quantity"}))
    told.add_single()


def _unsure(told: Told) -> None:
    if told.both.differ and not told.differences:
        told.add("unsure", ("smatch",), "the parser puts the same words together differently: it is unsure here")


def _unread(told: Told) -> None:
    """Tell which words of the only difference the graphs lack."""
    if len(told.differences) > 1:
        return
    own = [[t for t in side if t.stem not in told.texts.shared] for side in told.named]
    lost = [[t for t in told.both.unread[side] if t in own[side]] for side in (0, 1)]
    if parts := [f"{spans(told, side, tokens)} in {SIDES[side]}" for side, tokens in enumerate(lost) if tokens]:
        told.add("unread", (), f"not in the graphs: {joined(parts)}")


_TELLERS: tuple[Callable[[Told], None], ...] = (
    _negations, _roles, tell_quantities, _names, _coreference, _moods, _words, Told.add_single, _moved_words,
)  # fmt: skip
