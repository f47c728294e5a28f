"""The edits of a sentence: rules over its dependency tree, each of which returns another sentence or None."""

import calendar
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from features.contrasts.tree import Span, Tree, verb_form
from features.core.draws import share_of

_AUXILIARIES = ("aux", "auxpass")
_OTHER_QUANTIFIER = dict.fromkeys(("a", "an", "every", "each", "all", "several"), "no")
_OTHER_QUANTIFIER |= {"no": "every", "some": "all", "few": "many", "many": "few", "most": "few"}
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ACTORS = {False: "one actor", True: "several actors"}  # a sentence whose arguments are exchanged agrees with its verb
_FEW = 5  # words
_NEGATIVE = {"ai", "no", "nobody", "none", "nothing", "neither", "hardly", "barely", "scarcely"}
"""Words of a clause that is negative already; ain't: is not, am not or has not."""
_POLARITY_ITEMS = {"any", "anyone", "anybody", "anything", "anywhere", "ever", "either", "yet"}  # which need a negation
_FOCUS = _NEGATIVE | {"only", "just", "even", "also"}  # adverbs that say something else elsewhere
_DATES = (*calendar.day_name, *calendar.month_name)
_SHORT_NOT = {"ca": "can", "wo": "will", "sha": "shall"}


Names = Mapping[str, Sequence[str]]
"""Slot in a sentence, as `name_slot` and `actor` return it → the words that fill it in any sentence, sorted."""
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
    word, is_be = tree.tokens[finite].lower(), tree.lemmas[finite] == "be"
    several = {"VBZ": False, "VBP": True}.get(tree.tags[finite], {"was": False, "were": True}.get(word))
    heads = (clause.subject, clause.object)
    if any(several not in (None, tree.plural(head)) or (is_be and tree.tokens[head] in ("I", "me")) for head in heads):
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
    if verb is None or any(position >= end for position in tree.children(clause.verb, "prt")):  # took his hat off
        return None
    if any(tree.relations[each] not in ("prt", "advmod") or tree.tokens[each] in _FOCUS for each in others):
        return None
    before = "".join(tree.pieces[: clause.subject_span[0]])
    particles = "".join(f" {tree.tokens[position]}" for position in others)
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
    words = {token.lower() for token in tree.tokens}
    if tree.tokens[-1] == "?" or words & _NEGATIVE:
        return None
    curly = [child for child in tree.children(verb, "advmod", *_AUXILIARIES) if tree.tokens[child] == "n’t"]
    subjects = map(tree.span, tree.children(verb, "nsubj", "nsubjpass"))
    opening = [0 for span in subjects if span and span[0] == 0 and tree.relations[0] == "neg"]  # not every
    if negations := tree.children(verb, "neg") or curly or opening:
        return None if words & _POLARITY_ITEMS else _lifted(tree, negations[0])
    auxiliaries = tree.children(verb, *_AUXILIARIES)
    if not tree.tags[verb].startswith("VB"):  # a caption such as "A man playing a guitar"
        participles = [child for child in tree.children(verb, "acl") if tree.tags[child] == "VBG"]
        return _replaced(tree, participles[0], f"not {tree.tokens[participles[0]]}") if participles else None
    if auxiliaries or tree.lemmas[verb] == "be":
        finite = auxiliaries[0] if auxiliaries else verb
        word = tree.tokens[finite]
        is_word = word.isalpha() and tree.tags[finite] != "TO" and tree.lemmas[finite] != "get"
        negated = f"not {word}" if tree.tags[finite] == "VBG" else f"{word} not"
        return _replaced(tree, finite, negated) if is_word else None
    support = {"VBZ": "does", "VBP": "do", "VBD": "did"}.get(tree.tag(verb))
    subject = tree.child(verb, "nsubj")
    if support is None or subject is None or subject > verb or not tree.pieces[verb - 1].endswith(" "):
        return None  # said she; I've; the boys e-mailed
    return _replaced(tree, verb, f"{support} not {tree.infinitive(verb)}")


def quantifier(tree: Tree) -> str | None:
    """Replace the first quantifier; an indefinite subject is quantified."""
    for position, token in enumerate(tree.tokens):
        word = token.lower()
        noun = tree.heads[position]
        subject = tree.relations[noun] in ("nsubj", "nsubjpass")
        if tree.relations[position] not in ("det", "amod", "neg"):
            continue
        if word in ("a", "an") and (not subject or tree.children(noun, "conj")):
            continue
        beside = {token.lower() for token in tree.tokens[max(position - 1, 0) : position + 2]} - {word}
        if beside & {"not", "a", "few", "many"}:  # not every, a few, many a
            continue
        other = _OTHER_QUANTIFIER.get(word)
        if not subject:
            other = {"no": "some", "some": "no"}.get(word, other)  # there are no dogs
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
        if tree.tokens[tree.heads[position]] in _DATES or tree.tokens[max(position - 1, 0)].lower() in ("a", "an"):
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
    """Replace the first name of one word by another that fills the same slot of another sentence."""
    for position in range(len(tree)):
        slot = name_slot(tree, position)
        others = [other for other in names.get(slot, ()) if other != tree.tokens[position]] if slot else []
        if others:
            return _replaced(tree, position, _drawn(tree, others))
    return None


def name_slot(tree: Tree, position: int) -> str:
    """Return the slot that a name of one word fills: its relation, and its preposition; else nothing."""
    head, relation = tree.heads[position], tree.relations[position]
    longer = tree.children(position, "compound", "det", "amod", "nummod", "appos")
    word = tree.tokens[position]
    if tree.tags[position] != "NNP" or not word.isalpha() or longer or word in _DATES:
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
    """Return the slot and the words of the subject of a sentence with an object, if it is a noun with few words."""
    clause = _clause(tree, "nsubj", "dobj")
    if clause is None or tree.tags[clause.subject] not in ("NN", "NNS"):
        return None
    start, end = clause.subject_span
    words = tree.phrase((start, end))
    fits = end - start <= _FEW and _NEGATIVE.isdisjoint(words.lower().split()) and not tree.text.isupper()
    return (_ACTORS[tree.plural(clause.subject)], words) if fits else None


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
    nouns = all(tree.tags[head] in ("NN", "NNS", "NNP", "NNPS", "PRP") for head in (subject, object_))
    if not nouns or tree.tokens[object_].endswith(("self", "selves")):
        return None
    return _Clause(verb, tuple(tree.children(verb, *_AUXILIARIES)), subject, subject_span, object_, object_span)


def _passive(tree: Tree, clause: _Clause, *, plural: bool) -> str | None:
    lemma = tree.infinitive(clause.verb)
    if tree.children(clause.verb, "neg", "dative", "conj", "oprd") or lemma in ("have", "cost", "weigh", "resemble"):
        return None
    present, past, perfect = ("are", "were", "have") if plural else ("is", "was", "has")
    match [tree.tokens[position].lower() for position in clause.auxiliaries], tree.tag(clause.verb):
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
    lemma = tree.infinitive(clause.verb)
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
    blank = pieces[negation][len(tree.tokens[negation]) :]
    pieces[negation] = ""
    auxiliary = negation - 1
    if auxiliary < 0 or tree.relations[auxiliary] == "punct":  # "Not every dog barks."
        return tree.written(pieces)
    word = tree.tokens[auxiliary]
    verb = tree.heads[auxiliary]
    pieces[auxiliary] = _SHORT_NOT.get(word.lower(), word) + blank
    if tree.lemmas[auxiliary] == "do" and tree.relations[auxiliary] in _AUXILIARIES:
        form = verb_form(tree.infinitive(verb), tree.tags[auxiliary])
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
