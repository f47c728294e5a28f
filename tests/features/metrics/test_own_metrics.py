"""A project's own metrics: what a file must provide, what is refused, and the effect of a failing function."""

import math
from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.errors import RowError
from features.core.faults import (
    FileEmpty,
    FileMissing,
    MetricWrong,
    NameNotAllowed,
    NameTaken,
    NotAFile,
    NotText,
)
from features.core.types import RejectCode
from features.graphs.batch import encode
from features.graphs.graph import decode
from features.metrics.items import items_of
from features.metrics.measurement import measure_own, measure_shard
from features.metrics.own import MetricFile, OwnMetrics, own_metric
from features.metrics.registry import METRIC_COLUMNS, METRIC_NAMES
from features.parsers.dependencies import DependencyTree
from features.parsers.srl.frames import Frame, Span, SrlParse
from features.schemas import DEPENDENCIES, LABEL_VECTORS, PAIRS, SENTENCES

HEAD = "from features.metrics.metric import f1\nfrom features.metrics.own import own_metric\n\n"
LENGTH = '@own_metric(reads="sentences")\ndef length(left, right):\n    """Alike in length."""\n    return {}\n'
TEXTS = {"s1": "a boy", "s2": "a small boy", "s3": "a cat"}


def file(body: str, path: str = "mine.py") -> MetricFile:
    return MetricFile(path=path, source=HEAD + body)


def load(*files: MetricFile):
    return OwnMetrics(files=files).load()


def one(body: str):
    (metric,) = load(file(body))
    return metric


# -- a file ----------------------------------------------------------------------------------------------------------


def test_a_function_becomes_a_metric_that_knows_itself():
    metric = one(LENGTH.format("min(len(left), len(right)) / max(len(left), len(right))"))
    assert (metric.name, metric.summary, metric.reads, metric.range) == (
        "length",
        "Alike in length.",
        "sentences",
        (0, 1),
    )
    assert metric.score("ab", "abcd") == metric("ab", "abcd") == 0.5
    assert metric.signature("1") == f"length|own:{metric.digest}|reads:sentences|version:1"


def test_any_edit_is_another_digest_and_the_same_file_is_run_once():
    before, same, after = file(LENGTH.format("1.0")), file(LENGTH.format("1.0")), file(LENGTH.format("0.5"))
    assert before.digest == same.digest != after.digest
    assert load(before)[0] is load(same)[0]
    assert [load(f)[0].score("a", "b") for f in (before, after)] == [1.0, 0.5]
    assert [load(f)[0].digest for f in (before, after)] == [before.digest, after.digest]


def test_counts_become_a_number_and_one_that_is_none_is_vacuous():
    counting = one('@own_metric(reads="sentences", number=f1)\ndef letters(left, right):\n    return 1, 2, 4\n')
    assert counting.score("", "") == pytest.approx(2 / 6)
    assert counting.counts("", "").tolist() == [1, 2, 4]
    assert one(LENGTH.format("None")).score("a", "b") == 1.0


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("x = 1\n", FileEmpty),
        ("def broken(:\n", MetricWrong),
        ("import not_installed_anywhere\n", MetricWrong),
        ("1 / 0\n", MetricWrong),
        ("raise SystemExit(3)\n", MetricWrong),
        (LENGTH.replace('"sentences"', '"pictures"'), MetricWrong),
        (LENGTH.replace("def length", "def smatch"), MetricWrong),
        (LENGTH.replace("def length", "def Length"), MetricWrong),
        (LENGTH.replace("def length", "def score"), MetricWrong),
        (LENGTH.replace("def length", "def my_optimal"), MetricWrong),
        (LENGTH.replace("left, right", "left"), MetricWrong),
        (LENGTH.replace('"sentences"', '"sentences", range=(0, 5)'), MetricWrong),
        (LENGTH.replace('"sentences"', '"sentences", range=(-2, 1)'), MetricWrong),
        (LENGTH.replace('"sentences"', '"sentences", range=(1, 1)'), MetricWrong),
        (LENGTH.replace('"sentences"', '"sentences", vacuous=2.0'), MetricWrong),
        ("assert not 1\n", MetricWrong),
        ("raise ValueError('no\\nnumber')\n", MetricWrong),
    ],
)
def test_a_wrong_file_is_one_sentence(body, fault):
    with refused(fault):
        load(file(body))


def test_a_file_that_is_not_there_and_two_metrics_of_one_name(tmp_path):
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9")
    for fault, path in ((FileMissing, "none.py"), (NotAFile, "."), (NotText, "latin.py")):
        with refused(fault):
            OwnMetrics.read([tmp_path / path])
    body = LENGTH.format("1.0")
    with refused(NameTaken):
        load(file(body), file(body + "\n", "other.py"))


def test_a_file_may_have_dataclasses_and_travels_by_content(tmp_path):
    body = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "from features.metrics.own import own_metric\n"
        "@dataclass\nclass Size:\n    words: int\n"
        '@own_metric(reads="sentences")\ndef length(left, right):\n    return 1.0 if Size(1) == Size(1) else 0.0\n'
    )
    path = tmp_path / "my_metrics.py"
    path.write_text(body)
    shipped = OwnMetrics.model_validate_json(OwnMetrics.read([path]).model_dump_json())
    path.unlink()
    assert [metric.score("a", "b") for metric in shipped.load()] == [1.0]


def test_a_file_may_begin_with_a_byte_order_mark_and_give_a_metric_a_second_name(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HEAD + LENGTH.format("1.0") + "other = length\n", encoding="utf-8-sig")
    assert [metric.name for metric in OwnMetrics.read([path]).load()] == ["length"]


def test_a_function_may_be_cached():
    cached = LENGTH.format("1.0").replace("\ndef", "\n@functools.cache\ndef")
    assert one(f"import functools\n{cached}").score("a", "b") == 1.0


def test_a_metric_can_be_made_without_a_file():
    @own_metric(reads="graphs", symmetric=False)
    def first_in_second(left, right):
        return float(set(left.concepts) <= set(right.concepts))

    assert first_in_second.score(decode("(b / boy)"), decode("(s / see-01 :ARG0 (b / boy))")) == 1.0
    assert Path(first_in_second.file) == Path(__file__)


@pytest.mark.parametrize("name", ["id", "text", "sentence", "start"])
def test_the_name_of_a_column_beside_the_facets_is_refused(name):
    def metric(left, right):
        return 1.0

    metric.__name__ = name
    with pytest.raises(NameNotAllowed):
        own_metric(reads="graphs")(metric)


# -- a failing function ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["1 / 0", "float('nan')", "1.5", "-0.1", "'0.5'", "[1]", "exit()"])
def test_a_failure_names_the_metric_the_file_and_the_line(value):
    with refused(RowError) as raised:
        one(LENGTH.format(value)).score("a", "b")
    assert raised.value.code == RejectCode.METRIC_FAILED


@pytest.mark.parametrize("value", ["None", "'abc'", "(1, float('inf'), 2)", "()", "5"])
def test_what_is_no_counts_is_refused(value):
    body = f'@own_metric(reads="sentences", number=f1)\ndef letters(left, right):\n    return {value}\n'
    with refused(RowError):
        one(body).counts("a", "b")


def test_a_number_that_raises_is_a_failure_of_its_pair():
    with refused(RowError) as raised:
        one('@own_metric(reads="sentences", number=len)\ndef letters(left, right):\n    return 1, 2\n').score("a", "b")
    assert raised.value.code == RejectCode.METRIC_FAILED


def test_none_needs_a_vacuous_value():
    body = LENGTH.replace('"sentences"', '"sentences", vacuous=None').format("None")
    with refused(RowError):
        one(body).score("a", "b")


def test_rounding_is_no_failure():
    assert one(LENGTH.format("0.1 + 0.2 + 0.7")).score("a", "b") == 1.0
    assert one(LENGTH.format("0.3 - 0.2 - 0.1")).score("a", "b") == 0.0
    assert one(LENGTH.format("True")).score("a", "b") == 1.0


# -- pairs and shards ------------------------------------------------------------------------------------------------


def pairs_of(*sentences) -> pl.DataFrame:
    rows = [{"pair_id": f"p{n}", "sentence_a": a, "sentence_b": b} for n, (a, b) in enumerate(sentences)]
    return pl.DataFrame(rows, schema={name: PAIRS[name] for name in ("pair_id", "sentence_a", "sentence_b")})


def test_a_broken_promise_of_symmetry_is_told():
    metric = one(LENGTH.format("len(left) / max(len(left), len(right))"))
    with refused(MetricWrong):
        measure_own([metric], {"sentences": {"a": "ab", "b": "abcd"}}, [("a", "b")])


def test_a_metric_that_promises_no_symmetry_may_have_two_values():
    metric = one(LENGTH.replace('"sentences"', '"sentences", symmetric=False').format("1 / len(right)"))
    columns, _ = measure_own([metric], {"sentences": {"a": "ab", "b": "abcd"}}, [("a", "b"), ("b", "a")])
    assert columns["length"].to_list() == [1 / 4, 1 / 2]


def test_a_failing_pair_does_not_hinder_the_others():
    metric = one(LENGTH.format("1 / len(left) / len(right)"))
    columns, failures = measure_own([metric], {"sentences": {"a": "a", "b": ""}}, [("a", "a"), ("a", "b"), ("a", "c")])
    assert columns["length"].to_list() == [1.0, None, None]
    assert [(failure.pair, failure.code) for failure in failures] == [
        (1, RejectCode.METRIC_FAILED),
        (2, RejectCode.MISSING_PARSE),
    ]


@pytest.fixture
def amr():
    penmans = ["(b / boy)", "(b / boy :mod (s / small))", "(c / cat)"]
    return encode(list(TEXTS), penmans, "by hand").rows


@pytest.fixture
def sentences():
    return pl.DataFrame({"sentence_id": list(TEXTS), "text": list(TEXTS.values())}, schema=SENTENCES)


def test_a_shard_has_a_column_for_each_own_metric(amr, sentences):
    own = load(
        file(
            LENGTH.format("len(set(left) & set(right)) / len(set(left) | set(right))")
            + '\n@own_metric(reads="graphs")\ndef nodes(left, right):\n'
            + "    return min(len(left.concepts), len(right.concepts)) / max(len(left.concepts), len(right.concepts))\n"
        )
    )
    output = measure_shard(
        pairs_of(("s1", "s2"), ("s1", "s1")), amr, pl.DataFrame(schema=LABEL_VECTORS), own, {"sentences": sentences}
    )
    assert output.rows.columns == [*METRIC_COLUMNS, "length", "nodes"]
    assert output.rows["nodes"].to_list() == [0.5, 1.0]
    assert output.rows["length"][1] == 1.0
    assert output.rejects.is_empty()


def test_a_pair_that_fails_is_rejected_once_and_the_shard_goes_on(amr, sentences):
    own = load(
        file(
            LENGTH.format("1.0 if left == right else math.nan").replace("@own", "import math\n@own", 1)
            + '\n@own_metric(reads="graphs")\ndef nodes(left, right):\n    return 1 / (left == right)\n'
        )
    )
    pairs = pairs_of(("s1", "s1"), ("s1", "s2"), ("s3", "lost"))
    output = measure_shard(pairs, amr, pl.DataFrame(schema=LABEL_VECTORS), own, {"sentences": sentences})
    assert output.rows["pair_id"].to_list() == ["p0"]
    assert dict(output.rejects.select("entity_id", "code").rows()) == {"p1": "metric_failed", "p2": "missing_parse"}
    message = output.rejects.filter(entity_id="p1")["message"][0]
    assert message == "metric 'length' of 'mine.py' returned nan, which is not a number in [0, 1]"
    assert math.isclose(output.rows[METRIC_NAMES[0]][0], 1.0)


# -- what a function is given ----------------------------------------------------------------------------------------


def test_graphs_are_what_was_decoded(amr):
    penman = '(w / want-01 :ARG0 (b / boy :name (n / name :op1 "Bob")) :polarity - :ARG1 (s / sleep-01 :ARG0 b))'
    rows = encode(["x"], [penman], "by hand").rows
    assert items_of("graphs", rows) == {"x": decode(penman)}
    assert items_of("graphs", amr)["s2"] == decode("(b / boy :mod (s / small))")


def test_trees_have_an_entry_for_each_token():
    row = {
        "sentence_id": "s1",
        "tokens": ["Boys", "sleep"],
        "lemmas": ["boy", "sleep"],
        "tags": ["NOUN", "VERB"],
        "starts": [0, 5],
        "heads": [1, 1],
        "relations": ["nsubj", "ROOT"],
    }
    found = items_of("dependencies", pl.DataFrame([row], schema=DEPENDENCIES))
    assert found == {
        "s1": DependencyTree(["Boys", "sleep"], ["boy", "sleep"], ["NOUN", "VERB"], [0, 5], [1, 1], ["nsubj", "ROOT"])
    }


def test_frames_have_their_spans():
    from features.schemas import SRL

    row = {
        "sentence_id": "s1",
        "words": ["The", "boy", "wants", "to", "sleep"],
        "predicates": [2, 4],
        "span_frames": [0, 0, 1],
        "span_labels": ["ARG0", "ARG1", "ARG0"],
        "span_starts": [0, 3, 0],
        "span_ends": [2, 5, 2],
    }
    frames = items_of("srl", pl.DataFrame([row], schema=SRL))["s1"]
    assert frames == SrlParse(
        row["words"],
        [Frame(2, (Span("ARG0", 0, 2), Span("ARG1", 3, 5))), Frame(4, (Span("ARG0", 0, 2),))],
    )
    assert [frames.text(span) for span in frames.frames[0].spans] == ["The boy", "to sleep"]
