import json
import shutil
from pathlib import Path

import polars as pl
import pytest
import spacy
from sentences import refused

from features.core.faults import ModelNotLoaded, ModelUnfit, NotThisModel
from features.models import locate
from features.parsers.dependencies import DependencyParser, load
from features.parsers.settings import DependencySettings
from features.schemas import DEPENDENCIES
from features.stages.dependencies import parse_dependencies


@pytest.fixture(scope="module")
def parser(pipeline_name: str) -> DependencyParser:
    return load(DependencySettings(model=pipeline_name, max_words=20))


@pytest.mark.slow
def test_a_tree(parser: DependencyParser) -> None:
    (tree,) = parser.parse(["A boy wants to sleep."])
    assert tree == {
        "tokens": ["A", "boy", "wants", "to", "sleep", "."],
        "lemmas": ["a", "boy", "want", "to", "sleep", "."],
        "tags": ["DT", "NN", "VBZ", "TO", "VB", "."],
        "starts": [0, 2, 6, 12, 15, 20],
        "heads": [1, 2, 2, 4, 2, 2],
        "relations": ["det", "nsubj", "ROOT", "aux", "xcomp", "punct"],
    }


@pytest.mark.slow
def test_rows_have_the_columns_of_the_table(parser: DependencyParser, sentences: pl.DataFrame) -> None:
    output = parse_dependencies(sentences, parser)
    assert output.rows.schema == pl.Schema(DEPENDENCIES)
    assert output.rows["sentence_id"].to_list() == sentences["sentence_id"].to_list()
    assert output.rejects.height == 0
    assert output.rows["parser"].unique().to_list() == ["spacy/en_core_web_md-3.8.0"]
    for row, text in zip(output.rows.iter_rows(named=True), sentences["text"], strict=True):
        length = len(row["tokens"])
        assert all(len(row[name]) == length for name in ("lemmas", "tags", "starts", "heads", "relations"))
        assert all(text[start:].startswith(token) for start, token in zip(row["starts"], row["tokens"], strict=True))
        assert all(0 <= head < length for head in row["heads"])
        roots = [
            relation for i, (head, relation) in enumerate(zip(row["heads"], row["relations"], strict=True)) if head == i
        ]
        assert roots
        assert set(roots) == {"ROOT"}


@pytest.mark.slow
def test_the_batch_does_not_matter(parser: DependencyParser, sentences: pl.DataFrame, pipeline_name: str) -> None:
    alone = load(DependencySettings(model=pipeline_name, batch_size=1))
    assert list(parser.parse(sentences["text"])) == list(alone.parse(sentences["text"]))


@pytest.mark.slow
def test_a_sentence_that_is_too_long_is_rejected(parser: DependencyParser) -> None:
    texts = {"short": "Yes.", "long": " ".join(["word"] * 21), "one word": "a" * 1_000_001}
    shard = pl.DataFrame({"sentence_id": list(texts), "text": list(texts.values())})
    output = parse_dependencies(shard, parser)
    assert output.rows["sentence_id"].to_list() == ["short"]
    assert output.rejects.rows() == [
        ("long", "sentence_too_long", "the sentence has 21 words, more than max_words = 20"),
        ("one word", "sentence_too_long", "the sentence has 1,000,001 characters, more than parsers read"),
    ]


@pytest.mark.slow
def test_an_empty_shard(parser: DependencyParser) -> None:
    output = parse_dependencies(pl.DataFrame(schema={"sentence_id": pl.String, "text": pl.String}), parser)
    assert output.rows.columns == list(DEPENDENCIES)
    assert output.rows.height == 0


@pytest.mark.slow
def test_only_what_trees_need_is_loaded(parser: DependencyParser, pipeline_name: str) -> None:
    assert "ner" in spacy.load(locate(pipeline_name)).pipe_names
    assert parser.pipeline.pipe_names == ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer"]
    assert load(DependencySettings(model=pipeline_name, max_words=20)) is parser


def test_a_pipeline_without_a_parser(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path)
    with refused(ModelUnfit):
        load(DependencySettings(model=str(tmp_path)))


def test_a_folder_that_is_no_pipeline(tmp_path: Path) -> None:
    with refused(NotThisModel):
        load(DependencySettings(model=str(tmp_path)))
    (tmp_path / "meta.json").write_text(json.dumps({"lang": "en"}))
    with refused(NotThisModel):
        load(DependencySettings(model=str(tmp_path)))


@pytest.mark.slow
def test_damaged_weights_are_named(pipeline_name: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(locate(pipeline_name), tmp_path / "pipeline"))
    (folder / "config.cfg").write_text("[nlp")
    with refused(ModelNotLoaded):
        load(DependencySettings(model=str(folder)))
