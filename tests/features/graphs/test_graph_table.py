import polars as pl
import pytest

from features.core.errors import RowError
from features.core.types import RejectCode
from features.graphs.batch import encode
from features.graphs.graph import MAX_ATTRIBUTES, MAX_NODES, MAX_RELATIONS, decode
from features.schemas import AMR, REJECTS


def test_rows_have_the_columns_of_the_table_and_the_decoded_graph():
    output = encode(["a"], ["(b / boy :quant 2 :ARG0-of (s / sleep-01))"], "by hand")
    assert output.rows.schema == pl.Schema(AMR)
    assert output.rows.row(0, named=True) == {
        "sentence_id": "a",
        "penman": "(b / boy :quant 2 :ARG0-of (s / sleep-01))",
        "parser": "by hand",
        "concepts": ["boy", "sleep-01"],
        "attribute_nodes": [0],
        "attribute_roles": ["quant"],
        "attribute_values": ["2"],
        "relation_sources": [0],
        "relation_roles": ["ARG0-of"],
        "relation_targets": [1],
    }
    assert output.rejects.is_empty()


def test_every_graph_comes_out_once_as_a_row_or_a_reject():
    many = "(x / thing" + "".join(f" :ARG0 (y{i} / thing)" for i in range(MAX_NODES)) + ")"
    output = encode(list("abcd"), ["(b / boy)", "(b / boy", "", many], "by hand")
    assert output.rows["sentence_id"].to_list() == ["a"]
    assert output.rejects.schema == pl.Schema(REJECTS)
    assert output.rejects["entity_id"].to_list() == ["b", "c", "d"]
    assert output.rejects["code"].to_list() == [
        RejectCode.UNBALANCED_PENMAN,
        RejectCode.NO_GRAPH,
        RejectCode.TOO_MANY_NODES,
    ]


@pytest.mark.parametrize(
    ("branch", "most", "what"), [(":op{} 1", MAX_ATTRIBUTES, "constants"), (":op{} x", MAX_RELATIONS, "relations")]
)
def test_branches_count_towards_the_size_of_a_graph(branch, most, what):
    small, large = (f"(x / thing {' '.join(map(branch.format, range(n)))})" for n in (most, most + 1))

    decode(small)
    with pytest.raises(RowError, match=f"the graph has {most + 1} {what}, more than {most}; check the parser's output"):
        decode(large)


def test_no_graphs_are_an_empty_table():
    output = encode([], [], "by hand")
    assert output.rows.schema == pl.Schema(AMR)
    assert output.rows.is_empty()
