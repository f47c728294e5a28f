"""Encoders are loaded whole or not at all."""

import json
import shutil
import sys
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense
from sentence_transformers.sentence_transformer.modules import Pooling
from sentences import refused

from features.core.faults import EncoderDamaged, LibraryMissing, ModelUnfit
from features.parsers.devices import resolve_device
from features.parsers.light import LightEncoder
from training.encoders.loading import load_encoder, load_reader, load_start
from training.encoders.running import sizes_of
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.parsing_transformer import ParsingTransformer

STORED = Path(__file__).parents[1] / "evaluation" / "stored"


@pytest.mark.parametrize(
    "missing",
    ["tokenizer.json", "1_Pooling/config.json"],
)
def test_an_encoder_that_lacks_a_file_is_one_sentence(tiny_encoder, tmp_path, missing):
    folder = shutil.copytree(tiny_encoder, tmp_path / "copied")
    (folder / missing).unlink()
    with refused(EncoderDamaged):
        load_encoder(folder)


@pytest.mark.parametrize(("kind", "lost"), [("", 0), ("", 1), ("rgcn", 1), ("pas", 1)])
def test_an_encoder_without_one_of_its_modules_is_one_sentence(tiny_encoder, tmp_path, kind, lost):
    folder = shutil.copytree(STORED / kind / "encoder" if kind else tiny_encoder, tmp_path / "copied")
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps(modules[:lost] + modules[lost + 1 :]))
    with refused(EncoderDamaged):
        load_encoder(folder)


@pytest.mark.parametrize(("file", "content"), [("config_sentence_transformers.json", "[]"), ("modules.json", "[{}]")])
def test_a_file_of_another_size_than_was_trained_is_told_where_loading_fails(tiny_encoder, tmp_path, file, content):
    folder = shutil.copytree(tiny_encoder, tmp_path / "copied")
    sizes = sizes_of(folder)
    (folder / file).write_text(content)
    with pytest.raises((AttributeError, KeyError)):  # an encoder whose sizes nobody knows is not blamed
        load_encoder(folder)
    (folder / "training.json").write_text(json.dumps({"settings": {}, "files": sizes}))
    with refused(EncoderDamaged):
        load_encoder(folder)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), LibraryMissing("spaCy is missing")])
def test_an_error_about_something_else_is_not_put_down_to_a_configuration_that_was_edited(
    tiny_encoder, tmp_path, monkeypatch, error
):
    folder = shutil.copytree(tiny_encoder, tmp_path / "copied")
    (folder / "training.json").write_text(json.dumps({"settings": {}, "files": sizes_of(folder)}))
    reconfigure(folder / "config_sentence_transformers.json", prompts={})
    assert load_encoder(folder).get_embedding_dimension()

    def refuse(*_):
        raise error

    monkeypatch.setattr("training.encoders.loading.require_complete", refuse)
    with pytest.raises(type(error), match=str(error)):
        load_encoder(folder)


@pytest.mark.parametrize("refusing", ["config.json", "tokenizer.json", "1_Pooling/config.json"])
def test_an_encoder_whose_files_the_system_refuses_is_not_damaged(tiny_encoder, tmp_path, refusing):
    folder = shutil.copytree(tiny_encoder, tmp_path / "copied")
    (folder / refusing).unlink()
    (folder / refusing).symlink_to(folder / refusing)
    with pytest.raises(OSError, match="symbolic links"):
        load_encoder(folder)


def test_without_the_libraries_of_encoders_the_user_is_told_what_to_install(tiny_encoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with refused(LibraryMissing):
        load_encoder(tiny_encoder)


def reconfigure(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("config.json", {"intermediate_size": 32}),
        ("3_Dense/config.json", {"out_features": 8}),
        ("config.json", {"num_hidden_layers": 4}),
        ("config.json", {"num_hidden_layers": 2}),
    ],
)
def test_weights_that_do_not_fit_their_configuration_are_one_sentence(tiny_encoder, tmp_path, file, change):
    folder = tmp_path / "copied"
    encoder = SentenceTransformer(str(tiny_encoder), device="cpu")
    SentenceTransformer(modules=[*encoder, Dense(48, 16)], device="cpu").save_pretrained(str(folder))
    assert load_encoder(folder).get_embedding_dimension() == 16
    reconfigure(folder / file, **change)
    with refused(EncoderDamaged):
        load_encoder(folder)


def test_a_transformer_alone_is_an_encoder_of_the_mean_of_its_words(tiny_encoder, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copy(tiny_encoder / name, folder)
    assert [type(module).__name__ for module in load_encoder(folder, device="cpu")] == ["Transformer", "Pooling"]
    reconfigure(folder / "config.json", num_hidden_layers=4)
    with refused(EncoderDamaged):
        load_encoder(folder)


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_weights_saved_in_half_precision_are_loaded_to_be_trained(tiny_encoder, tmp_path, precision):
    SentenceTransformer(str(tiny_encoder), device="cpu").to(precision).save_pretrained(str(tmp_path))
    assert SentenceTransformer(str(tmp_path)).dtype == precision
    encoder = load_encoder(tmp_path, device="cpu")
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    near = load_encoder(tiny_encoder, device="cpu").encode("a cat")
    np.testing.assert_allclose(encoder.encode("a cat"), near, atol=0.05)


def test_auto_is_the_device_that_the_commands_take(tiny_encoder, monkeypatch):
    # Left to itself the library takes an Apple GPU, too, which has no double precision: no probabilities, no shares.
    monkeypatch.setattr("sentence_transformers.base.model.get_device_name", lambda: "meta")
    assert load_encoder(tiny_encoder).device.type == resolve_device("auto")


def test_the_private_call_of_sentence_transformers_takes_classes_that_exist_here(tiny_encoder, tmp_path):
    class Own(Dense):
        """A module that no package has."""

    SentenceTransformer(modules=[*SentenceTransformer(str(tiny_encoder)), Own(48, 16)]).save_pretrained(str(tmp_path))
    listed = json.loads((tmp_path / "modules.json").read_text())
    listed[-1]["type"] = "nowhere.to.be.imported.Own"
    (tmp_path / "modules.json").write_text(json.dumps(listed))
    load = SentenceTransformer._load_with_module_classes
    encoder = load(str(tmp_path), {"nowhere.to.be.imported.Own": Own}, device="cpu", local_files_only=True)
    assert isinstance(encoder[-1], Own)
    assert encoder.encode("a cat").shape == (16,)


def test_a_start_model_that_cuts_its_embeddings_is_refused(tiny_encoder, tmp_path):
    SentenceTransformer(str(tiny_encoder), device="cpu", truncate_dim=16).save_pretrained(str(tmp_path))
    assert load_encoder(tmp_path, device="cpu").encode("a cat").shape == (16,)
    with refused(ModelUnfit):
        load_start(tmp_path, "mine", device="cpu")


@pytest.mark.parametrize("kind", ["pas", "rgcn"])
def test_a_backbone_that_reads_trees_or_spans_is_refused(kind):
    with refused(ModelUnfit):
        load_start(STORED / kind / "encoder", "mine", device="cpu")


def words_below(start, folder):
    """Save an encoder whose graph has words of the layer below the last one."""
    transformer = ParsingTransformer(start, words_below=1, parser="toy", parser_identity="toy", labels=["ROOT", "dep"])
    modules = [transformer, Pooling(48), GraphPooling(48, labels=3, width=8), NodeCombination(48, 8)]
    SentenceTransformer(modules=modules, device="cpu").save_pretrained(str(folder))
    return folder


@pytest.mark.parametrize("kind", ["rgcn", "pas", "words below"])
def test_an_encoder_of_trees_or_spans_is_read_without_sentence_transformers(kind, tiny_encoder, tmp_path, monkeypatch):
    stored = STORED / kind / "encoder"
    folder = stored if stored.exists() else words_below(str(tiny_encoder), tmp_path / "encoder")
    texts = ["the cat  sees a dog", "", "a dog eats in the park", "cat " * 300, "\u732b", "cat " * 600]
    with run_path(str(STORED / "make.py"))["patched"]():
        expected = load_encoder(folder).encode(texts)
        monkeypatch.delitem(sys.modules, "sentence_transformers")
        reader = load_reader(folder)
        assert isinstance(reader, LightEncoder)
        assert not reader.structure.parses  # its parser is loaded with the first sentence
        np.testing.assert_allclose(reader.encode(texts, batch_size=4), expected, atol=1e-5)


@pytest.mark.parametrize("changed", [{"labels": None}, {"words_below": 9}, {"further": 1}], ids=str)
def test_an_encoder_whose_structure_cannot_be_read_is_left_to_the_library(changed, tmp_path, monkeypatch):
    folder = shutil.copytree(STORED / "rgcn" / "encoder", tmp_path / "encoder")
    reconfigure(folder / "sentence_bert_config.json", **changed)
    monkeypatch.delitem(sys.modules, "sentence_transformers")
    monkeypatch.setattr("training.encoders.loading.load_encoder", lambda *_, **__: "the library's")
    with run_path(str(STORED / "make.py"))["patched"]():
        assert load_reader(folder) == "the library's"
