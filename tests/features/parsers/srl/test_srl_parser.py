"""From raw text to the rows of the table, with a tagger that was trained on a toy language."""

import json
import shutil
import sys
import tarfile

import numpy as np
import polars as pl
import pytest
from sentences import refused

from features.core.faults import LibraryMissing, ModelDamaged, ModelUnfit, NotThisModel
from features.core.types import RejectCode
from features.parsers.settings import SrlSettings
from features.parsers.srl.frames import Frame, Span
from features.parsers.srl.parser import load, load_tagger, predicates_by_tag, split_words
from features.schemas import SENTENCES, SRL
from features.sentences import sentence_id
from features.stages.srl import parse_srl, srl_recipe

CAT = Frame(2, (Span("ARG0", 0, 2), Span("V", 2, 3), Span("ARG1", 3, 5)))


def table(*texts: str) -> pl.DataFrame:
    return pl.DataFrame({"sentence_id": [sentence_id(text) for text in texts], "text": texts}, schema=SENTENCES)


def test_frames_of_a_sentence(toy_settings):
    parser = load(SrlSettings(**toy_settings))
    (parse,) = parser.parse(["The girl sees a cat"])
    assert parse.words == ("The", "girl", "sees", "a", "cat")
    assert parse.frames == (CAT,)
    assert parser.name == "srl_bert/tagger"


def test_rows_of_the_table(toy_settings):
    sentences = table("the dog hears a boy", "yes", "the cat likes a girl")
    output = parse_srl(sentences, load(SrlSettings(**toy_settings)))
    assert output.rows.schema == pl.Schema(SRL)
    assert output.rejects.is_empty()
    rows = output.rows.rows(named=True)
    assert [row["sentence_id"] for row in rows] == sentences["sentence_id"].to_list()
    assert rows[0]["predicates"] == [2]
    assert rows[0]["span_frames"] == [0, 0, 0]
    assert rows[0]["span_labels"] == ["ARG0", "V", "ARG1"]
    assert (rows[0]["span_starts"], rows[0]["span_ends"]) == ([0, 2, 3], [2, 3, 5])
    assert (rows[1]["predicates"], rows[1]["span_labels"]) == ([], [])


def test_each_sentence_gives_a_row_or_a_reject(toy_settings):
    long_words, long_pieces = "cat " * 20, "a," * 40 + "a"
    parser = load(SrlSettings(**toy_settings, max_words=19))
    output = parse_srl(table(long_words.strip(), "", "yes", long_pieces), parser)
    assert output.rows.height == 2
    assert output.rejects["code"].to_list() == [RejectCode.SENTENCE_TOO_LONG] * 2
    assert "max_words = 19" in output.rejects["message"][0]
    assert "83 word pieces, the tagger reads 64" in output.rejects["message"][1]


def test_no_sentences_at_all(toy_settings):
    assert parse_srl(table(), load(SrlSettings(**toy_settings))).rows.schema == pl.Schema(SRL)


def test_results_keep_their_order_across_batches(toy_settings):
    texts = [f"the {noun} sees a cat" + " and yes" * (i % 7) for i, noun in enumerate(("cat", "dog", "boy") * 20)]
    small = load(SrlSettings(**toy_settings, batch_pieces=64)).parse(texts)
    large = load(SrlSettings(**toy_settings)).parse(texts)
    assert small == large
    assert [parse.words for parse in small] == [tuple(text.split()) for text in texts]


def test_several_predicates_each_get_their_frame(toy_settings):
    tagger = load(SrlSettings(**toy_settings)).tagger
    words = ["the", "cat", "sees", "a", "dog"]
    frames = tagger.tag([words, [], words], [[2, 0, 2], [], [1]])
    assert [[frame.predicate for frame in of_sentence] for of_sentence in frames] == [[2, 0, 2], [], [1]]


def test_a_sentence_longer_than_the_tagger_reads_has_no_predicates_and_no_spans(toy_settings):
    tagger = load(SrlSettings(**toy_settings)).tagger
    long = ["the", "cat", "sees"] * 30
    assert tagger.find_predicates([long]) == [[]]
    assert tagger.tag([long], [[2]]) == [(Frame(2, ()),)]


def test_predicates_by_part_of_speech(toy_settings, pipeline_name):
    parser = load(SrlSettings(**toy_settings, predicates="spacy", tags=pipeline_name))
    assert parser.find_predicates([["The", "girl", "has", "seen", "a", "cat", "."], []]) == [[2, 3], []]
    assert predicates_by_tag([["Dogs", "were", "barking"]], pipeline_name) == [[1, 2]]


def test_a_pipeline_that_is_replaced_is_loaded_anew(tmp_path):
    import spacy

    for part_of_speech, predicates in (("VERB", [0]), ("NOUN", [])):
        pipeline = spacy.blank("en")
        pipeline.add_pipe("tagger").add_label("X")
        pipeline.initialize()
        pipeline.add_pipe("attribute_ruler").add([[{"TEXT": "run"}]], {"POS": part_of_speech})
        pipeline.to_disk(tmp_path)
        assert predicates_by_tag([["run"]], str(tmp_path)) == [predicates]


def test_words_as_the_treebank_has_them():
    assert split_words(["She didn't see  John's cat.", ""]) == [
        ["She", "did", "n't", "see", "John", "'s", "cat", "."],
        [],
    ]


def test_a_line_of_signs_is_one_word_and_holds_no_shard():
    # Split off one by one, 20,000 take half a minute, and a million a day.
    assert split_words([f"Hi {'=' * 2_000} you."]) == [["Hi", "=" * 2_000, "you", "."]]


def test_a_tagger_without_the_head_needs_parts_of_speech(toy_tagger, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(toy_tagger, tmp_path / "tagger")
    weights = load_file(copy / "weights.safetensors")
    save_file(
        {name: tensor for name, tensor in weights.items() if "predicate_layer" not in name},
        copy / "weights.safetensors",
    )
    with refused(ModelUnfit):
        load(SrlSettings(model=str(copy)))
    assert not load_tagger(copy, SrlSettings()).finds_predicates


def test_an_archive_is_the_folder(toy_tagger, tmp_path):
    with tarfile.open(tmp_path / "tagger.tar.gz", "w:gz") as archive:
        for path in toy_tagger.rglob("*"):
            archive.add(path, str(path.relative_to(toy_tagger)))
    ours, theirs = load_tagger(toy_tagger, SrlSettings()), load_tagger(tmp_path / "tagger.tar.gz", SrlSettings())
    words = [["the", "cat", "sees", "a", "dog"]]
    for (_, left), (_, right) in zip(ours.scores(words, [[2]]), theirs.scores(words, [[2]]), strict=True):
        np.testing.assert_array_equal(left, right)


def test_only_what_differs_from_the_base_is_stored(toy_tagger):
    from safetensors.torch import load_file

    weights = load_file(toy_tagger / "weights.safetensors")
    assert "bert_model.embeddings.word_embeddings.weight" not in weights
    assert "bert_model.embeddings.position_embeddings.weight" not in weights
    assert "bert_model.encoder.layer.0.attention.self.query.weight" in weights
    assert {str(tensor.dtype) for tensor in weights.values()} == {"torch.float16"}


OURS = '{"model": {"type": "srl_bert"}, "facetflow": %s}'


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda folder: (folder / "config.json").unlink(), NotThisModel),
        (lambda folder: (folder / "config.json").write_text("[]"), NotThisModel),
        (lambda folder: (folder / "config.json").write_text('{"model": {"type": "crf_tagger"}}'), NotThisModel),
        (lambda folder: (folder / "config.json").write_text('{"model": []}'), NotThisModel),
        (lambda folder: (folder / "config.json").write_text(OURS % "[]"), NotThisModel),
        (lambda folder: (folder / "config.json").write_text(OURS % '{"predicate_threshold": []}'), NotThisModel),
        (lambda folder: (folder / "vocabulary/labels.txt").unlink(), ModelDamaged),
        (lambda folder: (folder / "vocabulary/labels.txt").write_text("O\n"), ModelDamaged),
        (lambda folder: (folder / "weights.safetensors").unlink(), ModelDamaged),
        (lambda folder: (folder / "weights.safetensors").write_bytes(b"nothing"), ModelDamaged),
    ],
)
def test_what_is_wrong_with_an_archive_is_named(toy_tagger, tmp_path, change, fault):
    folder = shutil.copytree(toy_tagger, tmp_path / "tagger")
    change(folder)
    with refused(fault):
        load_tagger(folder, SrlSettings())


def test_without_transformers_the_user_is_told_what_to_install(toy_tagger, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", None)
    with refused(LibraryMissing):
        load_tagger(toy_tagger, SrlSettings())


def test_an_archive_with_code_in_it_is_refused(toy_tagger, tmp_path):
    import torch

    folder = shutil.copytree(toy_tagger, tmp_path / "tagger")
    (folder / "weights.safetensors").unlink()
    torch.save({"weight": tmp_path}, folder / "weights.th")  # a path is an object, which only code can make
    with refused(ModelDamaged):
        load_tagger(folder, SrlSettings())


def test_a_cased_tagger_must_bring_its_word_pieces(toy_tagger, tmp_path):
    folder = shutil.copytree(toy_tagger, tmp_path / "tagger")
    configuration = json.loads((folder / "config.json").read_text())
    configuration["dataset_reader"]["bert_model_name"] = "bert-base-cased"
    del configuration["facetflow"]
    (folder / "config.json").write_text(json.dumps(configuration))
    with refused(ModelDamaged):
        load_tagger(folder, SrlSettings())


def test_sizes_of_a_named_encoder_follow_from_its_weights():
    """As in the official archive, whose configuration only says bert-base-uncased."""
    import torch
    from transformers import BertConfig, BertModel

    from features.parsers.srl.network import encoder_config

    sizes = {"hidden_size": 128, "num_hidden_layers": 3, "intermediate_size": 32, "vocab_size": 11}
    bert = BertModel(BertConfig(**sizes, num_attention_heads=2, max_position_embeddings=24))
    config = encoder_config({f"bert_model.{name}": torch.as_tensor(w) for name, w in bert.state_dict().items()}, {})
    assert {name: getattr(config, name) for name in sizes} == sizes
    assert (config.max_position_embeddings, config.type_vocab_size, config.num_attention_heads) == (24, 2, 2)


def test_the_recipe_names_all_that_decides(toy_settings, toy_tagger, pipeline_name):
    recipe = srl_recipe(SrlSettings(**toy_settings))
    assert recipe == srl_recipe(SrlSettings(**toy_settings, batch_pieces=8, threads=2))
    assert recipe != srl_recipe(SrlSettings(**toy_settings, max_words=9))
    assert recipe.weights != srl_recipe(SrlSettings(**toy_settings, predicates="spacy", tags=pipeline_name)).weights


def test_frames_of_another_base_encoder_have_another_recipe(toy_tagger, toy_base, tmp_path):
    folder, base = shutil.copytree(toy_tagger, tmp_path / "tagger"), shutil.copytree(toy_base, tmp_path / "base")
    described = (folder / "config.json").read_text()
    (folder / "config.json").write_text(described.replace(str(toy_base), str(base)))
    settings = SrlSettings(model=str(folder))
    recipe, parser = srl_recipe(settings), load(settings)
    (base / "config.json").write_text((base / "config.json").read_text() + " ")
    assert srl_recipe(settings) != recipe
    assert load(settings) is not parser
