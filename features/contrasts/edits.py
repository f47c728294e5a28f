"""The edits of a sentence: rules over its dependency tree, each of which returns another sentence or None."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from features.contrasts.tree import Span, Tree, verb_form
from features.core.draws import share_of

_AUXILIARIES = ("aux", "auxpass")
_OTHER_QUANTIFIER = {
    "every": "no",
    "each": "no",
    "no": "every",
    "all": "no",
    "some": "all",
    "many": "few",
    "few": "many",
    "most": "few",
    "several": "no",
    "any": "all",
}
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ACTORS = {False: "one actor", True: "several actors"}  # a sentence whose arguments are exchanged agrees with its verb
_FEW = 5  # words
_SHORT_NOT = {"ca": "can", "wo": "will", "sha": "shall"}


Names = Mapping[str, Sequence[str]]
"""For each place in a sentence, as `name_place` and `actor` return it, the words that sentences have there, sorted."""
Edit = Callable[[Tree, Names], str | None]


@dataclass(frozen=True)
class _Clause:
    """The main clause: its verb, its auxiliaries, its subject and its object or agent, as heads of phrases."""

    verb: int
    auxiliaries: tuple[int, ...]
    subject: int
    subject_span: Span
    object: int
    object_span: Span


def swap(tree: Tree) -> str | None:
    """Exchange the subject with the object, the agent, or what the first preposition after the verb governs."""
    clause = _clause(tree, "nsubj", "dobj", "pobj") or _clause(tree, "nsubjpass", "agent", "pobj")
    if clause is None:
        return None
    finite = (*clause.auxiliaries, clause.verb)[0]
    agrees = tree.tags[finite] in ("VBZ", "VBP") or tree.tokens[finite].lower() in ("was", "were")
    if agrees and tree.plural(clause.subject) != tree.plural(clause.object):
        return None
    pieces = list(tree.pieces)
    apart = " " * pieces[clause.subject_span[1] - 1].endswith(" ")  # not from the verb of "we'll"
    _put(pieces, clause.subject_span, tree.phrase(clause.object_span, case="subject") + apart)
    _put(pieces, clause.object_span, tree.phrase(clause.subject_span, case="object") + _blank(tree, clause))
    return tree.written(pieces)


def voice(tree: Tree, *, exchanged: bool = False) -> str | None:
    """Turn an active clause with an object into the passive, and a passive one with an agent into the active.

    With arguments exchanged they stay where they are: The dog chased the cat. The dog was chased by the cat.
    """
    if clause := _clause(tree, "nsubj", "dobj"):
        form, link = _passive, " by "
    elif clause := _clause(tree, "nsubjpass", "agent"):
        form, link = _active, " "
    else:
        return None
    verb = form(tree, clause, plural=tree.plural(clause.subject if exchanged else clause.object))
    start, end = clause.object_span
    between = range(clause.subject_span[1], start)
    verbal = {*clause.auxiliaries, clause.verb, *tree.children(clause.verb, "agent")}
    others = [position for position in between if position not in verbal]
    if verb is None or any(tree.relations[position] not in ("prt", "advmod") for position in others):
        return None
    before = "".join(tree.pieces[: clause.subject_span[0]])
    particles = "".join(f" {tree.tokens[position]}" for position in others)
    if before:
        before = before[:1].upper() + before[1:]
    subject, object_ = (start, end), clause.subject_span
    if exchanged:
        subject, object_ = object_, subject
    first, second = tree.phrase(subject, case="subject"), tree.phrase(object_, case="object")
    if first == "I":
        verb = re.sub(r"^(were|are)\b", lambda form: {"were": "was", "are": "am"}[form[0]], verb)
    after = "".join(tree.pieces[end:])
    return tree.written((before, first, " ", verb, particles, link, second, _blank(tree, clause), after))


def negation(tree: Tree) -> str | None:
    """Negate the main clause of a statement, or lift its negation."""
    verb = tree.root
    if tree.tokens[-1] == "?" or "ai" in tree.tokens:  # ain't: is not, am not or has not
        return None
    if negations := tree.children(verb, "neg"):
        return _lifted(tree, negations[0])
    auxiliaries = tree.children(verb, *_AUXILIARIES)
    if not tree.tags[verb].startswith("VB"):  # a caption such as "A man playing a guitar"
        participles = [child for child in tree.children(verb, "acl") if tree.tags[child] == "VBG"]
        return _replaced(tree, participles[0], f"not {tree.tokens[participles[0]]}") if participles else None
    if auxiliaries or tree.lemmas[verb] == "be":
        finite = auxiliaries[0] if auxiliaries else verb
        is_word = tree.tokens[finite].isalpha() and tree.tags[finite] != "TO"
        return _replaced(tree, finite, f"{tree.tokens[finite]} not") if is_word else None
    support = {"VBZ": "does", "VBP": "do", "VBD": "did"}.get(tree.tags[verb])
    if support is None or tree.child(verb, "nsubj") is None:
        return None
    return _replaced(tree, verb, f"{support} not {tree.lemmas[verb]}")


def quantifier(tree: Tree) -> str | None:
    """Replace the first quantifier; an indefinite subject is quantified."""
    for position, token in enumerate(tree.tokens):
        word = token.lower()
        noun = tree.heads[position]
        subject = tree.relations[noun] in ("nsubj", "nsubjpass")
        if tree.relations[position] not in ("det", "amod", "neg") or (word in ("a", "an") and not subject):
            continue
        other = "no" if word in ("a", "an") else _OTHER_QUANTIFIER.get(word)
        if other == "every" and tree.plural(noun):
            other = "all"
        if other and tree.tokens[noun].lower() != "other":  # each other
            return _replaced(tree, position, other)
    return None


def number(tree: Tree) -> str | None:
    """Replace the first number above one."""
    for position, token in enumerate(tree.tokens):
        word = token.lower()
        if tree.tags[position] != "CD" or tree.relations[position] != "nummod":
            continue
        if word in _NUMBERS:
            others: Sequence[str] = [other for other in _NUMBERS if other != word]
        elif word.isdecimal() and len(word) < 4 and int(word) > 1:
            others = [str(int(word) + 1), str(int(word) * 2), str(int(word) * 10)]
        else:
            continue
        return _replaced(tree, position, _drawn(tree, others))
    return None


def name(tree: Tree, names: Names) -> str | None:
    """Replace the first name of one word by another that stands in the same place of another sentence."""
    for position in range(len(tree)):
        place = name_place(tree, position)
        others = [other for other in names.get(place, ()) if other != tree.tokens[position]] if place else []
        if others:
            return _replaced(tree, position, _drawn(tree, others))
    return None


def name_place(tree: Tree, position: int) -> str:
    """Return where in a sentence a name of one word stands: its relation, and its preposition; else nothing."""
    head, relation = tree.heads[position], tree.relations[position]
    longer = tree.children(position, "compound", "det", "amod", "nummod", "appos")
    if tree.tags[position] != "NNP" or not tree.tokens[position].isalpha() or longer:
        return ""
    if relation in ("nsubj", "nsubjpass", "dobj", "poss"):
        return relation
    return f"{tree.tokens[head].lower()} {relation}" if relation == "pobj" else ""


def patient(tree: Tree, names: Names) -> str | None:
    """Replace the object by who acts in another sentence, so that nothing but grammar tells who does what to whom."""
    clause = _clause(tree, "nsubj", "dobj")
    if clause is None:
        return None
    own = tree.tokens[clause.subject].lower()
    others = [other for other in names.get(_ACTORS[tree.plural(clause.subject)], ()) if own not in other.split()]
    if not others:
        return None
    pieces = list(tree.pieces)
    _put(pieces, clause.object_span, _drawn(tree, others) + _blank(tree, clause))
    return tree.written(pieces)


def actor(tree: Tree) -> tuple[str, str] | None:
    """Return the place and the words of the subject of a sentence with an object, if it is a noun with few words."""
    clause = _clause(tree, "nsubj", "dobj")
    if clause is None or tree.tags[clause.subject] not in ("NN", "NNS"):
        return None
    start, end = clause.subject_span
    return (_ACTORS[tree.plural(clause.subject)], tree.phrase((start, end))) if end - start <= _FEW else None


EDITS: dict[str, Edit] = {
    "patient": patient,
    "voice": lambda tree, _: voice(tree),
    "swap": lambda tree, _: swap(tree),
    "negation": lambda tree, _: negation(tree),
    "quantifier": lambda tree, _: quantifier(tree),
    "number": lambda tree, _: number(tree),
    "name": name,
}
"""The edits by name; all but `voice` change what a sentence says."""


def _clause(tree: Tree, subject_relation: str, object_relation: str, otherwise: str = "") -> _Clause | None:
    """Return the main clause of a statement if subject, verb and object follow each other."""
    verb = tree.root
    subject = tree.child(verb, subject_relation)
    object_ = tree.child(verb, object_relation)
    if object_ is None and otherwise:
        prepositions = [child for child in tree.children(verb, "prep") if child > verb]
        object_ = tree.child(prepositions[0], otherwise) if prepositions else None
    elif object_ is not None and object_relation == "agent":
        object_ = tree.child(object_, "pobj")
    if subject is None or object_ is None or not tree.tags[verb].startswith("VB") or tree.tokens[-1] == "?":
        return None
    subject_span, object_span = tree.span(subject), tree.span(object_)
    if subject_span is None or object_span is None or not subject_span[1] <= verb < object_span[0]:
        return None
    if any(tree.tags[head] not in ("NN", "NNS", "NNP", "NNPS", "PRP") for head in (subject, object_)):
        return None
    return _Clause(verb, tuple(tree.children(verb, *_AUXILIARIES)), subject, subject_span, object_, object_span)


def _passive(tree: Tree, clause: _Clause, *, plural: bool) -> str | None:
    lemma = tree.lemmas[clause.verb]
    if lemma == "have" or tree.children(clause.verb, "neg", "dative", "conj"):
        return None
    present, past, perfect = ("are", "were", "have") if plural else ("is", "was", "has")
    match [tree.tokens[position].lower() for position in clause.auxiliaries], tree.tags[clause.verb]:
        case [], "VBD":
            verb = past
        case [], "VBZ" | "VBP":
            verb = present
        case ["is" | "are" | "am"], "VBG":
            verb = f"{present} being"
        case ["was" | "were"], "VBG":
            verb = f"{past} being"
        case ["has" | "have"], "VBN":
            verb = f"{perfect} been"
        case [("can" | "could" | "will" | "would" | "may" | "might" | "must" | "should") as modal], "VB":
            verb = f"{modal} be"
        case _:
            return None
    return f"{verb} {verb_form(lemma, 'VBN')}"


def _active(tree: Tree, clause: _Clause, *, plural: bool) -> str | None:
    if tree.children(clause.verb, "neg", "conj"):
        return None
    lemma = tree.lemmas[clause.verb]
    verb: str | None
    match [tree.tokens[position].lower() for position in clause.auxiliaries]:
        case ["was" | "were"]:
            verb = verb_form(lemma, "VBD")
        case ["is" | "are"]:
            verb = verb_form(lemma, "VBP" if plural else "VBZ")
        case ["is" | "are", "being"]:
            verb = f"{'are' if plural else 'is'} {verb_form(lemma, 'VBG')}"
        case ["was" | "were", "being"]:
            verb = f"{'were' if plural else 'was'} {verb_form(lemma, 'VBG')}"
        case ["has" | "have", "been"]:
            verb = f"{'have' if plural else 'has'} {tree.tokens[clause.verb]}"
        case [modal, "be"]:
            verb = f"{modal} {lemma}"
        case _:
            verb = None
    return verb


def _lifted(tree: Tree, negation: int) -> str | None:
    pieces = list(tree.pieces)
    if tree.tokens[negation].lower() not in ("not", "n't", "n’t", "never"):
        return None
    blank = " " if pieces[negation].endswith(" ") else ""
    pieces[negation] = ""
    auxiliary = negation - 1
    if auxiliary < 0 or tree.relations[auxiliary] not in _AUXILIARIES:
        return tree.written(pieces)
    word = tree.tokens[auxiliary].lower()
    verb = tree.heads[auxiliary]
    pieces[auxiliary] = _SHORT_NOT.get(word, tree.tokens[auxiliary]) + (pieces[auxiliary][len(word) :] or blank)
    if tree.lemmas[auxiliary] == "do":
        form = verb_form(tree.lemmas[verb], tree.tags[auxiliary])
        pieces[auxiliary] = ""
        pieces[verb] = pieces[verb].replace(tree.tokens[verb], form)
    return tree.written(pieces)


def _blank(tree: Tree, clause: _Clause) -> str:
    """Return what stands between an object and what follows it: nothing before a punctuation mark."""
    end = clause.object_span[1]
    return " " if end < len(tree) and tree.tags[end] not in ".,:" else ""


def _put(pieces: list[str], span: Span, words: str) -> None:
    """Write words in place of a span."""
    start, end = span
    pieces[start:end] = [words, *[""] * (end - start - 1)]


def _replaced(tree: Tree, position: int, words: str) -> str:
    """Return a sentence with words in place of a token."""
    pieces = list(tree.pieces)
    pieces[position] = pieces[position].replace(tree.tokens[position], words)
    return tree.written(pieces)


def _drawn(tree: Tree, words: Sequence[str]) -> str:
    """Draw one of several words: always the same one for the same sentence."""
    return words[int(share_of(f"word {tree.text}") * len(words))]
