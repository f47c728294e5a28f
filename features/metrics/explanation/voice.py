"""Sentences in the passive: its verb, its subject and its agent.

The boy was bitten by a dog.     be "was"     verb "bitten"     subject boy     agent dog
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from features.metrics.explanation.tokens import NO_TOKEN, Token

RELATIVE = frozenset({"who", "which", "that"})
NOUNS = frozenset({"word", "name", "pronoun"})
_ASKING = frozenset({"who", "what", "which"})


class Passive(NamedTuple):
    """A verb in the passive: "was bitten by a dog", "bitten by a dog", "was bitten"."""

    side: int  # the sentence
    be: int  # where it begins
    by: int  # where its agent begins; 0 without one
    verb: Token  # its participle


NO_PASSIVE = Passive(0, 0, 0, NO_TOKEN)


def is_active(passive: Passive, tokens: Sequence[Sequence[Token]]) -> bool:
    """Return whether the other sentence has a verb with its agent: "man shot by police", "police shoot man"."""
    rest = [t for t in tokens[1 - passive.side] if t.kind != "grammar" or t.lower in {"by", "to", "of"}]
    agent = next((t.stem for t in tokens[passive.side][passive.by + 1 :] if t.kind in NOUNS), "")
    at = next((n for n, t in enumerate(rest[:-1]) if t.stem == passive.verb.stem), 0)
    return at > 0 and rest[at + 1].has_content and agent in {t.stem for t in rest[: at + 2]}  # not "stood by a man"


def parties(passive: Passive, both: Sequence[Sequence[Token]], shared: set[str]) -> tuple[str, str] | None:
    """Return the stems of subject and agent of a passive, if both sentences have the two."""
    side, be, by, verb = passive
    if not by or verb.stem not in shared:
        return None  # "the dog was fed by Ann" beside "a dog of Ann"
    tokens, others = both[side], both[1 - side]
    before = [at for at, t in enumerate(tokens[: be or by - 1]) if t.kind in NOUNS or t.stem in _ASKING]
    subject = asked(tokens, before[-1]).stem if before else ""  # "was Ann bitten by", "has been bitten by"
    agent, beside = "", {(one.stem, other.stem) for one, other in pairwise(others)}
    for token in tokens[by + 1 :]:
        # "by the boy left", "by Ann today" beside "Ann left today"
        apart = {agent, token.stem} <= shared and (agent, token.stem) not in beside
        # Not "Mr Reed"; "by the guard leaving".
        is_verb = token.kind == "word" and (token.may_be_participle or token.lower.endswith("ing"))
        if agent and (is_verb or apart or not token.has_content):
            break
        agent = token.stem if token.has_content else ""
    known = {t.stem for t, behind in pairwise([*others, NO_TOKEN]) if behind.lower != "'s"}  # not "Ann's son"
    return (subject, agent) if subject != agent and {subject, agent} <= known & (shared | _ASKING) else None


def asked(tokens: Sequence[Token], at: int) -> Token:
    """Return the noun that a pronoun at a place stands for, "the boy" before "who"; the word there if there is none."""
    noun = [NO_TOKEN, *tokens[:at]][-1]
    return noun if tokens[at].stem in RELATIVE and noun.kind in {"name", "word"} else tokens[at]


def passives(side: int, tokens: Sequence[Token]) -> list[Passive]:
    """Return the verbs of a sentence in the passive, also in "was quickly shot" and "man shot by police"."""
    stops = [at for at, t in enumerate(tokens) if t.stem == "by" and at and tokens[at - 1].lower[-3:] != "ing"]
    found: dict[Token, Passive] = {}
    for be in [at for at, t in enumerate(tokens) if t.stem == "be" and t.lower.isalpha()]:  # not "John's car"
        by = next((at for at in stops if at > be), 0)
        end = by or next((at for at, t in enumerate(tokens) if at > be and t.lower in {"and", "but", "or"}), None)
        behind = [t for t in tokens[be + 1 : end] if t.kind != "grammar"][:3]  # "was it denied"
        if (verb := next((t for t in behind if t.may_be_participle), None)) and not (by and verb in found):
            found[verb] = Passive(side, be, by, verb)
    bare = [by for by in stops if tokens[by - 1].may_be_participle and tokens[by - 1] not in found]
    return [*found.values(), *(Passive(side, by - 1, by, tokens[by - 1]) for by in bare)]
