"""Differences between two graphs, in words: one function for each aspect, the most telling aspects first.

Each difference names a facet that is below 1 for the pair, so that the words agree with the drawing.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from features.metrics.explanation.comparing import ComparedGraphs, Link
from features.metrics.explanation.naming import (
    MODALS,
    called,
    capped,
    described_by,
    joined,
    listed,
    plain,
    quoted,
)
from features.metrics.explanation.views import View
from features.metrics.readings import comparable
from features.metrics.relations import is_argument

Aspect = Literal[
    "negation",
    "quantity",
    "name",
    "role",
    "coreference",
    "mood",
    "modality",
    "frame",
    "concept",
    "focus",
    "connection",
    "relation",
]

_CONSTANTS: Mapping[Aspect, frozenset[str]] = {
    "negation": frozenset({"polarity"}),
    "name": frozenset({"name", "wiki"}),
    "mood": frozenset({"mode", "polarity"}),
}
"""Aspect → roles of the constants that it tells, in lower case."""
_OF_ARGUMENTS: frozenset[Aspect] = frozenset({"role", "coreference"})
"""Aspects that tell what is an argument of what."""
_UNKNOWN = "amr-unknown"
_SIDES = ("a", "b")


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two graphs differ.

    Args:
        facet: a metric that sees it: its value is below 1.
        aspect: the kind of difference.
        text: the difference in words; `a` and `b` are the two sentences.
    """

    facet: str
    aspect: Aspect
    text: str


def differences(both: ComparedGraphs) -> tuple[Difference, ...]:
    """Return the differences between two unequal graphs, at least one.

    Beside other differences, relations are told only of what both graphs have and attach differently.
    """
    found: list[Difference] = []
    for tell in _TELLERS:
        found += tell(both)
    # A different best-connected node is worth mentioning only if nothing else explains it.
    if not {difference.aspect for difference in found} & {"focus", "frame", "concept", "modality", "name"}:
        found += _one_node(both, "max_degree", "connection", "most is said of {} in a, of {} in b")
    return (*found, *_rest(both, frozenset(difference.aspect for difference in found)))


def _only(side: int, verb: str, words: Iterable[str], theirs: Iterable[str]) -> list[str]:
    """Return texts on what one graph has and the other lacks, or has less of.

    Args:
        side: side of the graph.
        verb: verb for the words, such as "names".
        words: what it has more of, in quotes.
        theirs: all that the other graph has of this kind.
    """
    known = set(theirs)
    both = [word for word in words if word in known]
    alone = [word for word in words if word not in known]
    texts = [f"only {_SIDES[side]} {verb} {listed(alone)}"] if alone else []
    return texts + ([f"{_SIDES[side]} {verb} {listed(both)} more often"] if both else [])


def _negations(both: ComparedGraphs) -> list[Difference]:
    facet = both.facets["negations"]
    negated = [
        [both.called(side, item.index) for item in items] for side, items in enumerate((facet.left, facet.right))
    ]
    texts = [
        text
        for side, nodes in enumerate(both.unmatched("negations"))
        for text in _only(side, "negates", [both.called(side, node) for node in nodes], negated[1 - side])
    ]
    return [Difference("negations", "negation", ", ".join(texts))] if texts else []


def _quantities(both: ComparedGraphs) -> list[Difference]:
    found: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, view in enumerate(both.views):
        for node in both.unmatched("quantifiers")[side]:
            heads = [r.source for r in view.forward if r.target == node and r.role in {"quant", "mod"}]
            heads += [r.target for r in view.forward if r.source == node and r.role == "domain"]
            found[called(view, heads[0])][side].append(both.quantity(side, node))
        for index in both.unmatched("quantifiers", "attribute")[side]:
            node, _, value = view.graph.attributes[index]
            heads = [r.source for r in view.forward if r.target == node and r.role == "quant"]
            measured = view.labels[node].endswith("-quantity")  # `3 hours` counts hours, whatever takes so long
            found[called(view, heads[0] if heads and not measured else node)][side].append(plain(value))
    texts = []
    for of, (left, right) in found.items():
        if left and right:
            texts.append(f'"{of}": {" ".join(left)} in a, {" ".join(right)} in b')
        else:
            texts.append(f'"{" ".join(left or right)}" of "{of}" has no counterpart in {"b" if left else "a"}')
    return [Difference("quantifiers", "quantity", capped(texts))] if texts else []


def _names(both: ComparedGraphs) -> list[Difference]:
    names = [Counter(map(_read, nodes.values())) for nodes in both.named]
    written = {_read(name): quoted(name) for nodes in reversed(both.named) for name in nodes.values()}
    kinds = [
        dict.fromkeys((_read(name), view.labels[node]) for node, name in nodes.items())
        for view, nodes in zip(both.views, both.named, strict=True)
    ]
    only = (names[0] - names[1], names[1] - names[0])
    texts = [
        text
        for side, found in enumerate(only)
        for text in _only(side, "names", [written[name] for name in found], [written[name] for name in names[1 - side]])
    ]
    for side, (ours, theirs) in enumerate((kinds, kinds[::-1])):
        apart = [
            f"{written[name]} a {plain(kind)}"
            for name, kind in ours
            if name in names[1 - side] and (name, kind) not in theirs
        ]
        texts += [f"{_SIDES[side]} calls {listed(apart)}"] if apart else []
    return [Difference(both.facet("named_entities"), "name", ", ".join(texts))] if texts else []


def _read(name: str) -> str:
    """Return a name as metrics compare it, word by word."""
    return " ".join(map(comparable, name.split()))


def _roles(both: ComparedGraphs) -> list[Difference]:
    texts = []
    for left, right in both.same_frames():
        frame, ours, theirs = both.called(0, left), both.arguments(0, left), both.arguments(1, right)
        moved = {
            name: (roles, theirs[name]) for name, roles in ours.items() if name in theirs and not roles & theirs[name]
        }
        swapped = [
            name
            for name, (before, after) in moved.items()
            if any(other != name and roles == (after, before) for other, roles in moved.items())
        ]
        texts += [f"{joined(list(map(quoted, swapped)))} swap roles in {frame}"] if swapped else []
        texts += [
            f'"{name}" is {joined(sorted(before))} of {frame} in a, {joined(sorted(after))} in b'
            for name, (before, after) in moved.items()
            if name not in swapped
        ]
    return [Difference(both.facet("srl"), "role", capped(texts))] if texts else []


def _coreference(both: ComparedGraphs) -> list[Difference]:
    if not both.differ_in("coreference"):
        return []
    texts = []
    for side, view in enumerate(both.views):
        for node in range(len(view.labels)):
            # A place that the other graph lacks is reported as a concept; here are those that it has.
            partners = {
                link: link._replace(other=other)
                for link in both.links(side, node, written_above=True)
                if (other := both.partner(side, link.other)) is not None
            }
            if len(partners) > 1 and (apart := _apart(both, 1 - side, Counter(partners.values()))):
                elsewhere = [link for link, partner in partners.items() if partner in apart]
                together = [link for link in partners if link not in elsewhere]
                where = _places(both, side, [*together[:1], *elsewhere])
                texts.append(f"only in {_SIDES[side]} one and the same {both.called(side, node)} is {where}")
    return [Difference("coreference", "coreference", capped(texts, 2))] if texts else []


def _apart(both: ComparedGraphs, side: int, wanted: Counter[Link]) -> Counter[Link]:
    """Return some links without those of the node that has most of them."""
    nodes = range(len(both.views[side].labels))
    return min((wanted - both.links(side, node) for node in nodes), key=Counter.total)


def _places(both: ComparedGraphs, side: int, links: list[Link]) -> str:
    others = list(dict.fromkeys(link.other for link in links))
    if len(others) > 1:
        return f"in {listed(both.called(side, other) for other in others)}"
    return f"{joined(sorted(link.role.upper() for link in links))} of {both.called(side, others[0])}"


def _moods(both: ComparedGraphs) -> list[Difference]:
    moods = [_mood(view) for view in both.views]
    texts = [
        f"{_SIDES[side]} is {mood}, {_SIDES[1 - side]} is not"
        for side in (0, 1)
        for mood in sorted(moods[side] - moods[1 - side])
    ]
    return [Difference("smatch", "mood", ", ".join(texts))] if texts else []


def _mood(view: View) -> set[str]:
    modes = {value.replace('"', "").lower() for _, role, value in view.graph.attributes if role.lower() == "mode"}
    asks = _UNKNOWN in view.labels or any(_UNKNOWN in value for _, _, value in view.graph.attributes)
    found = {"a question"} if asks or "interrogative" in modes else set()
    return found | ({"a command"} if "imperative" in modes else set())


def _modality(both: ComparedGraphs) -> list[Difference]:
    texts = []
    for side, nodes in enumerate(both.unmatched("frames")):
        modals = [both.called(side, node) for node in nodes if both.views[side].labels[node] in MODALS]
        texts += _only(side, "says", modals, both.words(1 - side))
    return [Difference("frames", "modality", ", ".join(texts))] if texts else []


def _concepts(both: ComparedGraphs) -> list[Difference]:
    frames = both.unmatched("frames")
    left, right = (_to_tell(both, side) for side in (0, 1))
    replaced = [(node, both.image[node]) for node in left if both.image.get(node) in right]
    only = [
        [node for node in nodes if node not in {ends[side] for ends in replaced}]
        for side, nodes in enumerate((left, right))
    ]
    for a in list(only[0]):
        # Unmatched nodes with the same name are two senses of a word: neither graph lacks it.
        if (b := next((b for b in only[1] if both.called(1, b) == both.called(0, a)), None)) is not None:
            replaced.append((a, b))
            only[0].remove(a)
            only[1].remove(b)
    found = []
    for is_frame in (True, False):
        texts = [_replaced(both, a, b) for a, b in replaced if (a in frames[0] and b in frames[1]) == is_frame]
        if texts:
            found.append(Difference(*(("frames", "frame") if is_frame else ("concepts", "concept")), capped(texts)))
    texts = []
    for side, nodes in enumerate(only):
        described = [described_by(both.views[side], node) for node in nodes]
        words = [both.called(side, node) for node in described if node not in {ends[side] for ends in replaced}]
        texts += _only(side, "has", words, both.words(1 - side))
    if texts:
        all_frames = all(node in frames[side] for side, nodes in enumerate(only) for node in nodes)
        found.append(Difference(*(("frames", "frame") if all_frames else ("concepts", "concept")), ", ".join(texts)))
    return found


def _replaced(both: ComparedGraphs, left: int, right: int) -> str:
    """Return that one graph has one node where the other has another; two of the same name are given by concept."""
    ours, theirs = both.called(0, left), both.called(1, right)
    if ours != theirs:
        return f"{ours} in a is {theirs} in b"
    concepts = (both.views[0].graph.concepts[left], both.views[1].graph.concepts[right])
    return f"{ours} is {concepts[0]} in a, {concepts[1]} in b"


def _to_tell(both: ComparedGraphs, side: int) -> list[int]:
    """Return the nodes whose concept is unmatched and that are reported only as a concept."""
    labels = both.views[side].labels
    named = {*both.named[side], *both.unmatched("quantifiers")[side]}
    return [
        node
        for node in both.unmatched("concepts")[side]
        if node not in named and labels[node] not in MODALS and labels[node] not in {"name", _UNKNOWN}
    ]


def _focus(both: ComparedGraphs) -> list[Difference]:
    return _one_node(both, "root", "focus", "a is about {}, b about {}")


def _one_node(both: ComparedGraphs, facet: str, aspect: Aspect, text: str) -> list[Difference]:
    """Name nodes that differ although each graph has both concepts; what one graph lacks is already reported."""
    if not both.differ_in(facet):
        return []
    nodes = [side[0].index for side in (both.facets[facet].left, both.facets[facet].right)]
    labels = [view.labels[node] for view, node in zip(both.views, nodes, strict=True)]
    if labels[0] not in both.views[1].labels or labels[1] not in both.views[0].labels:
        return []
    return [Difference(facet, aspect, text.format(*(both.called(side, node) for side, node in enumerate(nodes))))]


def _rest(both: ComparedGraphs, told: frozenset[Aspect]) -> list[Difference]:
    """Describe constants that no other difference tells, and relations: all if there is none, else those that moved."""
    facet = both.facets["smatch"]
    kinds = {"attribute"} if told else {"relation", "attribute"}
    sides = [[i for i in items if i.kind in kinds] for items in (facet.left, facet.right)]
    # What reads the same on both sides is not missing: it is attached to other nodes.
    unmatched = [
        Counter(i.text for i in items if not i.matched and not (told and _is_told(both, side, i.index, told)))
        for side, items in enumerate(sides)
    ]
    texts = []
    for side, items in enumerate(reversed(sides)):
        words = list(map(quoted, unmatched[side] - unmatched[1 - side]))
        texts += _only(side, "has", words, (quoted(item.text) for item in items))
    texts += _moved(both, told) if told or not texts else []
    if not texts and not told:
        texts = ["the same things are put together differently"]
    return [Difference("smatch", "relation", ", ".join(texts))] if texts else []


def _moved(both: ComparedGraphs, told: frozenset[Aspect]) -> list[str]:
    """Return texts on what both graphs have, under the same concept, but attach to another node or by another role."""
    apart = [_unmatched_below(both, side, told) for side in (0, 1)]
    texts = []
    for target, left in list(apart[0].items()):
        partner = both.partner(0, target)
        if partner is None or partner not in apart[1]:
            continue
        ours, theirs = both.views[0].forward[left[0]], both.views[1].forward[apart[1][partner][0]]
        del apart[0][target], apart[1][partner]
        name, head, other = both.called(0, target), both.called(0, ours.source), both.called(1, theirs.source)
        same_head = both.partner(0, ours.source) == theirs.source
        if name in {head, other} or (head == other and not same_head):
            continue  # two nodes of one name: the words would not tell them apart
        role, other_role = (found.upper() if is_argument(found) else f":{found}" for found in (ours.role, theirs.role))
        there = f"{other_role} in b" if same_head else f"{other_role} of {other} in b"
        texts.append(f"{name} is {role} of {head} in a, {there}")
    for side, items in enumerate((both.facets["smatch"].left, both.facets["smatch"].right)):
        # What the other graph attaches in a way of its own, to a node that is told, is not missing there.
        view, others = both.views[1 - side], both.unmatched("smatch", "relation")[1 - side]
        elsewhere = {view.forward[index].target for index in others}
        rest = {node: found for node, found in apart[side].items() if both.partner(side, node) not in elsewhere}
        alone = {index for indices in rest.values() for index in indices}
        words = [quoted(item.text) for item in items if item.kind == "relation" and item.index in alone]
        texts += [f"only {_SIDES[side]} has {listed(words)}"] if words else []
    return [capped(texts)] if texts else []


def _unmatched_below(both: ComparedGraphs, side: int, told: frozenset[Aspect]) -> defaultdict[int, list[int]]:
    """Return node → positions of relations that attach it, if the other graph has both of their nodes and not them.

    A node that the other graph lacks is a difference of concepts; what other differences tell is left out, too.
    """
    view, other = both.views[side], both.views[1 - side]
    counted = set(both.unmatched("quantifiers")[side])
    found: defaultdict[int, list[int]] = defaultdict(list)
    for index in both.unmatched("smatch", "relation")[side]:
        source, role, target, _ = view.forward[index]
        partners = [both.partner(side, node) for node in (source, target)]
        labels = [None if partner is None else other.labels[partner] for partner in partners]
        is_told = (
            view.labels[target] == "name"
            or target in counted
            or (is_argument(role) and not told.isdisjoint(_OF_ARGUMENTS))
            or ("coreference" in told and len(both.links(side, target, written_above=True)) > 1)
        )
        if labels == [view.labels[source], view.labels[target]] and not is_told:
            found[target].append(index)
    return found


def _is_told(both: ComparedGraphs, side: int, index: int, told: Collection[Aspect]) -> bool:
    """Return whether other differences tell a constant, be it as a part of a name or of a node that one graph lacks."""
    node, role, _ = both.views[side].graph.attributes[index]
    return (
        both.partner(side, node) is None
        or both.views[side].labels[node] == "name"
        or index in both.unmatched("quantifiers", "attribute")[side]
        or any(role.lower() in _CONSTANTS.get(aspect, ()) for aspect in told)
    )


_TELLERS: tuple[Callable[[ComparedGraphs], list[Difference]], ...] = (
    _negations,
    _quantities,
    _names,
    _roles,
    _coreference,
    _moods,
    _modality,
    _concepts,
    _focus,
)
