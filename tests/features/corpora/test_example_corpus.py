"""The example corpus keeps its format, its counts, and the rules of AMR."""

import gzip
import re
import tarfile
from collections import Counter
from importlib.resources import files
from pathlib import Path

import penman
import pytest
from penman.models import amr

EXAMPLE = files("features.corpora.example")
COLUMNS = ("id", "split", "sentence_a", "sentence_b", "difference")
COUNTS = {  # difference: (train, dev)
    "paraphrase": (8, 4),
    "negation": (8, 4),
    "quantity": (8, 4),
    "roles": (6, 3),
    "names": (6, 3),
    "coreference": (7, 4),
    "modality": (5, 2),
    "tense": (2, 1),
    "modifier": (4, 2),
    "root": (4, 2),
    "specificity": (3, 1),
    "frames": (3, 2),
}
# The AMR 1.2.6 specification, part II.
ROLES = re.compile(
    "ARG[0-6]|accompanier|age|beneficiary|concession|condition|consist-of|degree|destination|direction|domain|duration"
    "|example|extent|frequency|instrument|location|manner|medium|mod|mode|name|ord|part|path|polarity|polite|poss"
    "|purpose|quant|range|scale|source|subevent|time|topic|unit|value|day|dayperiod|month|season|weekday|year|op[1-9]"
)
QUANTIFYING = {"all", "every", "each", "some", "no", "both", "any", "many", "few", "several", "most"}
IS_FRAME = re.compile(r"-\d\d$")
IS_CONSTANT = re.compile(r'-|imperative|\d+|"[^"\s]+"')


def read_graphs(side: str) -> list[penman.Graph]:
    return penman.loads((EXAMPLE / f"graphs_{side}.amr").read_text(encoding="utf-8"), model=amr.model)


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, str]]:
    header, *rows = (EXAMPLE / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert tuple(header.split("\t")) == COLUMNS
    return [dict(zip(COLUMNS, row.split("\t"), strict=True)) for row in rows]


@pytest.fixture(scope="module")
def graphs() -> dict[str, penman.Graph]:
    both = [graph for side in "ab" for graph in read_graphs(side)]
    by_id = {graph.metadata["id"]: graph for graph in both}
    assert len(by_id) == len(both)
    return by_id


def concepts(graph: penman.Graph) -> dict[str, str]:
    return {instance.source: instance.target for instance in graph.instances()}


def root(graph: penman.Graph) -> str:
    return concepts(graph)[graph.top]


def reused_variables(graph: penman.Graph) -> set[str]:
    """Variables that are written again after their node: reentrancies of the text, relative clauses not counted."""
    variables = graph.variables()
    branches = [branch for _, branch in penman.configure(graph, model=amr.model).walk()]
    return {target for role, target in branches if role != "/" and isinstance(target, str) and target in variables}


def quantifies(graph: penman.Graph) -> bool:
    label = concepts(graph)
    modifiers = {label[edge.target] for edge in graph.edges(role=":mod")}
    return bool(QUANTIFYING & modifiers) or any(triple[1] == ":quant" for triple in graph.triples)


def negates(graph: penman.Graph) -> bool:
    return bool([attribute for attribute in graph.attributes(role=":polarity") if attribute.target == "-"])


def on_either_side(pair: dict[str, str], graphs: dict[str, penman.Graph], has) -> bool:
    return any(has(graphs[f"{pair['id']}.{side}"]) for side in "ab")


def test_pairs_are_numbered_and_every_sentence_occurs_once(pairs):
    assert [pair["id"] for pair in pairs] == [f"example-{number:03d}" for number in range(1, 97)]
    sentences = [pair[f"sentence_{side}"] for pair in pairs for side in "ab"]
    assert len(set(sentences)) == 192
    for sentence in sentences:
        assert 4 <= len(sentence.split()) <= 20, sentence
        assert sentence == " ".join(sentence.split()), sentence
        assert re.fullmatch(r"[A-Z].*[.?!]", sentence), sentence


def test_the_differences_are_as_many_as_documented(pairs):
    counts = Counter((pair["difference"], pair["split"]) for pair in pairs)
    assert counts == {
        (difference, split): number
        for difference, numbers in COUNTS.items()
        for split, number in zip(("train", "dev"), numbers, strict=True)
    }
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \|", readme, flags=re.MULTILINE)
    assert {difference: (int(train), int(dev)) for difference, train, dev in documented} == COUNTS


@pytest.mark.parametrize("side", ["a", "b"])
def test_graphs_follow_the_order_and_the_sentences_of_the_pairs(side, pairs):
    blocks = read_graphs(side)
    assert [(graph.metadata["id"], graph.metadata["snt"]) for graph in blocks] == [
        (f"{pair['id']}.{side}", pair[f"sentence_{side}"]) for pair in pairs
    ]


def test_every_graph_is_connected_and_names_each_node_once(graphs):
    for name, graph in graphs.items():
        variables = [instance.source for instance in graph.instances()]
        assert len(variables) == len(set(variables)), name
        assert graph.top in variables, name
        neighbours: dict[str, set[str]] = {variable: set() for variable in variables}
        for edge in graph.edges():
            neighbours[edge.source].add(edge.target)
            neighbours[edge.target].add(edge.source)
        reached, ahead = {graph.top}, [graph.top]
        while ahead:
            new = neighbours[ahead.pop()] - reached
            reached |= new
            ahead.extend(new)
        assert reached == set(variables), name


def test_roles_and_constants_are_those_of_amr(graphs):
    for name, graph in graphs.items():
        label = concepts(graph)
        for role, target in [(edge.role, None) for edge in graph.edges()] + [
            (attribute.role, attribute.target) for attribute in graph.attributes()
        ]:
            assert ROLES.fullmatch(role.removeprefix(":")), f"{name} {role}"
            assert target is None or IS_CONSTANT.fullmatch(target), f"{name} {role} {target}"
        for edge in graph.edges(role=":name"):
            assert label[edge.target] == "name", name
        for attribute in graph.attributes(role=":mode"):
            addressee = [label[edge.target] for edge in graph.edges(source=attribute.source, role=":ARG0")]
            assert addressee == ["you"], name


def test_every_numbered_argument_belongs_to_a_frame(graphs):
    for name, graph in graphs.items():
        label = concepts(graph)
        for edge in graph.edges() + graph.attributes():
            if edge.role.startswith(":ARG"):
                assert IS_FRAME.search(label[edge.source]), f"{name} {edge}"


def test_frames_and_their_arguments_are_in_propbank(graphs, shared: Path):
    listed = shared / "data" / "propbank_frames" / "propbank-amr-frames-arg-descr.txt.gz"
    with gzip.open(listed, "rt", encoding="utf-8") as lines:
        arguments = {line.split()[0]: set(re.findall(r"(ARG\d):", line)) for line in lines if line.strip()}
    frames = 0
    for name, graph in graphs.items():
        label = concepts(graph)
        for variable, concept in label.items():
            if IS_FRAME.search(concept):
                frames += 1
                assert concept in arguments, f"{name} {concept}"
                for edge in graph.edges(source=variable) + graph.attributes(source=variable):
                    role = edge.role.removeprefix(":")
                    assert not role.startswith("ARG") or role in arguments[concept], f"{name} {concept} {role}"
    assert frames > 300


def test_frames_are_in_the_propbank_of_today(graphs, shared: Path):
    rolesets: set[str] = set()
    with tarfile.open(shared / "data" / "propbank_frames" / "propbank-frames.tar.gz") as archive:
        for member in archive:
            if member.name.endswith(".xml"):
                text = archive.extractfile(member).read().decode("utf-8")
                rolesets.update(re.findall(r'<roleset[^>]*\bid="([^"]+)"', text))
    used = {concept for graph in graphs.values() for concept in concepts(graph).values() if IS_FRAME.search(concept)}
    # take-on-09 is take_on.09 there.
    missing = {frame for frame in used if re.sub(r"_(\d\d)$", r".\1", frame.replace("-", "_")) not in rolesets}
    assert {frame for frame in missing if not frame.endswith("-91")} == set()


def test_dev_has_enough_of_every_phenomenon(pairs, graphs):
    dev = [pair for pair in pairs if pair["split"] == "dev"]
    named = [pair for pair in dev if on_either_side(pair, graphs, lambda graph: graph.edges(role=":name"))]
    assert sum(on_either_side(pair, graphs, negates) for pair in dev) >= 4
    assert sum(on_either_side(pair, graphs, quantifies) for pair in dev) >= 6
    assert len(named) >= 5
    assert sum(on_either_side(pair, graphs, reused_variables) for pair in dev) >= 6
    roots = [tuple(root(graphs[f"{pair['id']}.{side}"]) for side in "ab") for pair in dev]
    assert sum(left != right for left, right in roots) >= 6


def test_swapped_roles_and_moved_focus_keep_the_concepts(pairs, graphs):
    kept = [pair for pair in pairs if pair["difference"] in {"roles", "root"}]
    assert len(kept) == 15
    for pair in kept:
        left, right = (graphs[f"{pair['id']}.{side}"] for side in "ab")
        assert Counter(concepts(left).values()) == Counter(concepts(right).values()), pair["id"]
        assert (root(left) == root(right)) == (pair["difference"] == "roles"), pair["id"]


def test_amr_has_no_tense(pairs, graphs):
    for pair in pairs:
        if pair["difference"] == "tense":
            assert graphs[f"{pair['id']}.a"].triples == graphs[f"{pair['id']}.b"].triples, pair["id"]
