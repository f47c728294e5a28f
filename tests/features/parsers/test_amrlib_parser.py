import json
import shutil
from collections.abc import Callable
from pathlib import Path
from weakref import WeakSet

import polars as pl
import pytest
from sentences import refused

from features.core.errors import RowError
from features.core.faults import (
    Conflict,
    DeviceMissing,
    GpuFailed,
    ModelDamaged,
    ModelNotLoaded,
    NotThisModel,
)
from features.core.types import RejectCode
from features.graphs.graph import decode
from features.parsers import onednn
from features.parsers.amr import load
from features.parsers.amrlib_parser import AmrlibParser, load_amrlib
from features.parsers.settings import AmrSettings
from features.stages.amr import parse_amr

Parse = Callable[[list[str]], list[str | None]]


class Inference:
    """A parser with amrlib's interface that behaves as a test specifies and records its batches."""

    def __init__(self, parse: Parse) -> None:
        self.batches: list[list[str]] = []
        self._parse = parse

    def parse_sents(self, sents: list[str], *, add_metadata: bool = True) -> list[str | None]:
        assert not add_metadata
        self.batches.append(list(sents))
        return self._parse(sents)


def settings(**changes: object) -> AmrSettings:
    return AmrSettings.model_validate({"backend": "amrlib", "model": "tiny", "device": "cpu", **changes})


def parse_with(parse: Parse, texts: list[str], **changes: object) -> tuple[list[str | RowError], list[list[str]]]:
    inference = Inference(parse)
    return AmrlibParser(inference, settings(**changes)).parse(texts), inference.batches


def graph_of(text: str) -> str:
    return f"(x / {text})"


def test_batches_hold_sentences_of_like_length_and_results_keep_their_order() -> None:
    texts = ["a" * size for size in (3, 9, 1, 7, 5)]
    results, batches = parse_with(lambda sents: [graph_of(text) for text in sents], texts, batch_size=2)
    assert results == [graph_of(text) for text in texts]
    assert [[len(text) for text in batch] for batch in batches] == [[9, 7], [5, 3], [1]]


def test_no_sentence_is_no_work() -> None:
    assert parse_with(lambda _: [], []) == ([], [])


def test_a_batch_that_raises_loses_only_the_culprit() -> None:
    def parse(sents: list[str]) -> list[str | None]:
        if "bad" in sents:
            raise IndexError("index out of range in self\nand more")
        return [graph_of(text) for text in sents]

    results, batches = parse_with(parse, ["good", "bad", "fine"], batch_size=8)
    assert batches == [["good", "fine", "bad"], ["good"], ["fine"], ["bad"]]
    assert results[0] == graph_of("good")
    assert results[2] == graph_of("fine")
    why = "the parser failed with IndexError: index out of range in self; sentence: 'bad'"
    assert isinstance(results[1], RowError)
    assert (results[1].code, results[1].message) == (RejectCode.PARSER_FAILED, why)


@pytest.mark.parametrize(
    ("graph", "why"),
    [
        (None, "no well-formed graph"),
        ("()", "not well formed"),
        ("(w / want-01 :ARG0 (b / boy)", "not well formed"),
        ("", "not well formed"),
    ],
)
def test_what_is_no_graph_is_rejected(graph: str | None, why: str) -> None:
    (result,), _ = parse_with(lambda _: [graph], ["a"])
    assert isinstance(result, RowError)
    assert result.code == RejectCode.PARSER_FAILED
    assert why in result.message


def test_a_wrong_number_of_graphs_is_no_answer() -> None:
    results, _ = parse_with(lambda sents: [graph_of("x")] * (len(sents) + 1), ["a", "b"])
    assert [result.code for result in results if isinstance(result, RowError)] == [RejectCode.PARSER_FAILED] * 2


def test_a_lost_gpu_is_not_blamed_on_the_sentences() -> None:
    import torch

    def parse(_: list[str]) -> list[str | None]:
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")

    with refused(GpuFailed):
        parse_with(parse, ["a", "b"])


def test_a_batch_that_does_not_fit_the_gpu_is_parsed_one_by_one_once_its_memory_is_free() -> None:
    import torch

    held = WeakSet[torch.Tensor]()

    def parse(sents: list[str]) -> list[str | None]:
        assert not held, "the states of a sentence before are still there"
        states = torch.zeros(len(sents))
        held.add(states)
        if len(sents) > 1 or "long" in sents:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return [graph_of(sents[0])]

    parsed, long, other = parse_with(parse, ["a", "long", "b"])[0]
    assert [parsed, other] == [graph_of("a"), graph_of("b")]
    assert isinstance(long, RowError)
    assert "out of memory" in long.message


# The real amrlib, with a tiny BART


@pytest.fixture(scope="module")
def parser(amr_parser_folder: Path) -> AmrlibParser:
    loaded = load(settings(model=str(amr_parser_folder), batch_size=2, beams=1, threads=1))
    assert isinstance(loaded, AmrlibParser)
    return loaded


def relations(penman: str | RowError) -> set[tuple[str, str, str]]:
    assert isinstance(penman, str), penman
    graph = decode(penman)
    return {(graph.concepts[a], role, graph.concepts[b]) for a, role, b in graph.relations} | {
        (graph.concepts[a], role, value) for a, role, value in graph.attributes
    }


@pytest.mark.slow
def test_amrlib_parses(parser: AmrlibParser) -> None:
    want, negated = parser.parse(["the boy wants to sleep", "the cat does not sleep"])
    assert relations(want) == {("want-01", "ARG0", "boy"), ("want-01", "ARG1", "sleep-01"), ("sleep-01", "ARG0", "boy")}
    assert relations(negated) == {("sleep-01", "ARG0", "cat"), ("sleep-01", "polarity", "-")}


@pytest.mark.slow
def test_a_graph_may_repeat_itself(parser: AmrlibParser) -> None:
    # BART's configuration forbids repeated trigrams, and transformers 5 obeys it where amrlib does not look.
    (graph,) = parser.parse(["no two dogs hunt no two cats"])
    expected = {("hunt-01", "ARG0", "dog"), ("hunt-01", "ARG1", "cat")}
    expected |= {(concept, *rest) for concept in ("dog", "cat") for rest in (("quant", "2"), ("polarity", "-"))}
    assert relations(graph) == expected


@pytest.mark.slow
def test_what_amrlib_cannot_read_back_is_rejected(parser: AmrlibParser) -> None:
    results = parser.parse(["nonsense", "the boy wants to sleep"])
    assert isinstance(results[0], RowError)
    assert results[0].code == RejectCode.PARSER_FAILED
    assert isinstance(results[1], str)


@pytest.mark.slow
def test_a_sentence_that_amrlib_would_cut_is_rejected(parser: AmrlibParser) -> None:
    long, short = parser.parse(["the " * 15, "the boy wants to sleep"])  # 17 tokens with <s> and </s>, of 16
    assert isinstance(long, RowError)
    assert long.code == RejectCode.SENTENCE_TOO_LONG
    assert isinstance(short, str)


@pytest.mark.slow
def test_the_stage_gives_every_sentence_once(parser: AmrlibParser) -> None:
    texts = ["the boy wants to sleep", "nonsense", "the " * 15 + "end", "the cat does not sleep"]
    output = parse_amr(pl.DataFrame({"sentence_id": ["1", "2", "3", "4"], "text": texts}), parser)
    assert output.rows["sentence_id"].to_list() == ["1", "4"]
    assert output.rows["parser"].unique().to_list() == ["amrlib/model_parse_xfm_tiny-v0_1_0"]
    assert dict(output.rejects.select("entity_id", "code").iter_rows()) == {
        "2": "parser_failed",
        "3": "sentence_too_long",
    }


@pytest.mark.slow
def test_a_parser_is_loaded_once_per_process(parser: AmrlibParser, amr_parser_folder: Path) -> None:
    again = load(settings(model=str(amr_parser_folder), batch_size=2, beams=1, threads=1))
    assert again is parser


@pytest.mark.slow
def test_graphs_are_the_same_with_linear_layers_by_onednn(
    amr_parser_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = {}
    for slow in (False, True):
        monkeypatch.setattr(onednn, "mkl_is_slow", lambda slow=slow: slow)
        parser = load_amrlib(settings(model=str(amr_parser_folder), beams=1))
        layers = {type(module) for module in parser._inference.model.modules()}  # type: ignore[attr-defined]
        assert (onednn.OneDnnLinear in layers) == slow
        graphs[slow] = parser.parse(["the boy wants to sleep", "the cat does not sleep"])
    assert graphs[True] == graphs[False]


def test_torch_computes_with_the_threads_of_the_settings(amr_parser_folder: Path) -> None:
    import torch

    before = torch.get_num_threads()
    try:
        load_amrlib(settings(model=str(amr_parser_folder), threads=before + 1))
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


@pytest.fixture
def damaged(amr_parser_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(amr_parser_folder, tmp_path / "parser"))


def test_a_folder_that_is_no_parser(tmp_path: Path) -> None:
    with refused(NotThisModel):
        load(settings(model=str(tmp_path)))


GENERATOR = json.dumps({"model_type": "gtos", "inference_module": ".generate_xfm"})
FOREIGN_CODE = json.dumps(
    {"inference_module": "torch.hub", "inference_class": "load", "model_fn": "f", "kwargs": {"source": "local"}}
)


@pytest.mark.parametrize(
    ("description", "fault"),
    [(GENERATOR, NotThisModel), (FOREIGN_CODE, NotThisModel), ("{", ModelDamaged)],
    ids=["a generator", "code of the folder", "no JSON"],
)
def test_what_is_described_as_no_parser_is_refused(damaged: Path, description: str, fault: type) -> None:
    (damaged / "amrlib_meta.json").write_text(description)
    (damaged / "hubconf.py").write_text("def f(**_): pass")
    with refused(fault):
        load(settings(model=str(damaged)))


@pytest.mark.slow
def test_a_missing_tokenizer_says_what_to_do(damaged: Path) -> None:
    # As in amrlib's own releases: no tokenizer in the folder, its Hub name in the configuration, and no network.
    (damaged / "tokenizer_config.json").unlink()
    config = json.loads((damaged / "config.json").read_text())
    config["task_specific_params"]["parse_amr"]["model_name_or_path"] = "facebook/bart-large"
    (damaged / "config.json").write_text(json.dumps(config))
    with refused(ModelNotLoaded):
        load(settings(model=str(damaged)))


@pytest.mark.slow
def test_a_tokenizer_of_its_own(damaged: Path, tmp_path: Path) -> None:
    other = tmp_path / "tokenizer"
    other.mkdir()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (damaged / name).rename(other / name)
    chosen = settings(model=str(damaged), tokenizer=str(other), beams=1)
    parser = load(chosen)
    (graph,) = parser.parse(["the cat does not sleep"])
    assert ("sleep-01", "polarity", "-") in relations(graph)
    assert load(chosen) is parser
    (other / "tokenizer.json").touch()
    assert load(chosen) is not parser, "a tokenizer that was replaced is read"


@pytest.mark.slow
def test_damaged_weights_are_named(damaged: Path) -> None:
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with refused(ModelNotLoaded):
        load(settings(model=str(damaged)))


def test_a_gpu_that_is_not_there(amr_parser_folder: Path) -> None:
    import torch

    missing = f"cuda:{torch.cuda.device_count()}"
    with refused(DeviceMissing):
        load(settings(model=str(amr_parser_folder), device=missing))


def test_graphs_do_not_go_with_a_model() -> None:
    with refused(Conflict):
        settings(graphs=["a.amr"])
