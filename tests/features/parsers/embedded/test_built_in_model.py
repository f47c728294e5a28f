import json
import shutil
from pathlib import Path

import pytest

from features import models
from features.core.errors import RowError
from features.corpora import example
from features.graphs.graph import decode
from features.parsers.amr import load, model_folder
from features.parsers.embedded import parser
from features.parsers.embedded.parser import load_parser
from features.parsers.embedded.storage import Description, read_description
from features.parsers.settings import AmrSettings
from training.parsers.amr.corpus import Sentence, read_source
from training.parsers.amr.scoring import score_graphs
from training.parsers.amr.settings import GraphSource

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("encoder_name")]  # loads the model, which needs its base


@pytest.fixture(scope="module")
def gold() -> list[Sentence]:
    """Return the graphs of the built-in example, made by hand."""
    folder = Path(example.__file__).parent
    files = ("graphs_a.amr", "graphs_b.amr")
    return [sentence for file in files for sentence in read_source(GraphSource(path=folder / file))]


def test_the_graphs_of_the_example(gold: list[Sentence]) -> None:
    graphs = parse_example(gold, "float32")
    scores = score_graphs(graphs, [item.penman for item in gold])
    assert scores["smatch"].f1.value > 0.88
    assert scores["concepts"].f1.value > 0.9
    assert scores["coreference"].f1.value > 0.75
    some = parse_example(gold[::6], "bfloat16")  # a processor without bfloat16 takes six times as long
    assert score_graphs(some, graphs[::6])["smatch"].f1.value > 0.97


def parse_example(sentences: list[Sentence], precision: str) -> list[str]:
    parser = load(AmrSettings.model_validate({"backend": "embedded", "device": "cpu", "precision": precision}))
    parsed = parser.parse([item.text for item in sentences])
    return [graph for graph in parsed if isinstance(graph, str)]


def test_threads_and_batches_change_next_to_nothing(gold: list[Sentence]) -> None:
    texts = [item.text for item in gold]
    first, second = (
        load_parser(
            model_folder("embedded"), AmrSettings(device="cpu", precision="float32", batch_size=size, threads=threads)
        )
        for size, threads in ((64, 1), (5, 2))
    )
    differ = sum(left != right for left, right in zip(first.parse(texts), second.parse(texts), strict=True))
    assert differ <= 2  # sums in another order may turn what is as good as a tie


def test_odd_texts_give_a_graph_or_a_reject() -> None:
    texts = ["", "...", "!" * 600, "🙂🙂", '"(" / ):op1 "', "COME HERE", "word " * 400, "\u200b", "a" * 5000]
    parser = load(AmrSettings(backend="embedded", device="cpu"))
    for result in parser.parse(texts):
        assert isinstance(result, RowError) or decode(result).concepts


def test_the_model_belongs_to_its_base_encoder_and_is_small(encoder_name: str) -> None:
    folder = model_folder("embedded")
    description = read_description(folder, Description)
    assert description.base == encoder_name
    assert description.base_digest == models.digest(models.locate(encoder_name))
    assert sum(path.stat().st_size for path in folder.iterdir()) < 25e6
    assert "licence" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_base_encoder_that_is_replaced_is_loaded_anew(encoder_name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(model_folder("embedded"), tmp_path / "parser")
    base = shutil.copytree(models.locate(encoder_name), tmp_path / "base")
    description = json.loads((folder / "model.json").read_text(encoding="utf-8")) | {"base": str(base)}
    (folder / "model.json").write_text(json.dumps(description), encoding="utf-8")
    settings = AmrSettings(backend="embedded", model=str(folder), device="cpu")
    first = load(settings)
    assert load(settings) is first
    (base / "config.json").touch()
    assert load(settings) is not first


@pytest.mark.parametrize(
    ("precision", "device", "taken"),
    [("auto", "cpu", True), ("auto", "cuda", False), ("bfloat16", "cuda:1", True), ("float32", "cpu", False)],
)
def test_a_gpu_computes_in_bfloat16_only_where_that_is_asked_for(precision, device, taken, monkeypatch):
    monkeypatch.setattr(parser, "computes_in_bfloat16", lambda asked, _: asked != "float32")
    assert parser.takes_bfloat16(precision, device) == taken
