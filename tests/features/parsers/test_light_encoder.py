import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

from features.models import locate
from features.parsers.light import LightEncoder
from features.parsers.sentence_encoder import FULL_PRECISION, load, load_light
from features.parsers.settings import EmbeddingSettings

_SENTENCES = ["the boy wants sleep", "", "The GIRL, naïve\tdoctor雪", "xyz [SEP] not", "boy " * 60, "see"]
_BY_DEFAULT = ("do_lower_case", "tokenize_chinese_chars")


@pytest.fixture(scope="module")
def mapped(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an encoder with a map, as sentence-transformers saves it."""
    transformer = Transformer(str(tiny_encoder), max_seq_length=24, config_args={"local_files_only": True})
    width = transformer.get_embedding_dimension()
    modules = [Pooling(width), Normalize(), Dense(width, 7, bias=True, activation_function=torch.nn.Identity())]
    folder = tmp_path_factory.mktemp("mapped")
    SentenceTransformer(modules=[transformer, *modules], device="cpu").save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def pulled(encoder_name: str) -> Path:
    """Return the folder of an encoder as an early version of sentence-transformers saved it."""
    return locate(encoder_name)


def _library(folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs=FULL_PRECISION)


@pytest.mark.parametrize("name", ["mapped", pytest.param("pulled", marks=pytest.mark.slow)])
def test_embeddings_are_those_of_the_library(name: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(name)
    light, library = LightEncoder(folder), _library(folder)
    for settings in ({"batch_size": 2}, {"normalize_embeddings": True}):
        expected = library.encode(_SENTENCES, **settings)
        np.testing.assert_allclose(light.encode(_SENTENCES, **settings), expected, atol=1e-6)
    assert light.get_embedding_dimension() == library.get_embedding_dimension()
    assert light.max_seq_length == library.max_seq_length
    assert light.tokenizer.unk_token_id == library.tokenizer.unk_token_id
    assert light.tokenizer.num_special_tokens_to_add() == library.tokenizer.num_special_tokens_to_add()
    for texts in (_SENTENCES, _SENTENCES[2]):
        pieces = library.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        assert light.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"] == pieces


def _edit(file: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        described = json.loads((folder / file).read_bytes())
        change(described)
        (folder / file).write_text(json.dumps(described))

    return edit


def _set(file: str, **values: Any) -> Callable[[Path], None]:
    return _edit(file, lambda described: described.update(values))


def _halve(folder: Path) -> None:
    weights = {name: weight.half() for name, weight in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


@pytest.mark.parametrize(
    "edit",
    [
        _set("tokenizer_config.json", do_lower_case=False),
        _set("tokenizer_config.json", strip_accents=False, tokenize_chinese_chars=False),
        _edit("tokenizer_config.json", lambda described: [described.pop(key) for key in _BY_DEFAULT]),
        _edit("3_Dense/config.json", lambda described: described.pop("bias")),
        _set("sentence_bert_config.json", max_seq_length=64),  # as many as it has positions
        _edit("modules.json", lambda modules: modules.__delitem__(slice(2, None))),  # the mean, of any length
        _halve,
    ],
)
def test_embeddings_are_those_of_the_library_where_a_file_differs(
    edit: Callable[[Path], None], mapped: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(mapped, tmp_path / "encoder")
    edit(folder)
    np.testing.assert_allclose(LightEncoder(folder).encode(_SENTENCES), _library(folder).encode(_SENTENCES), atol=1e-6)


def _retype(number: int, kind: str) -> Callable[[Path], None]:
    return _edit("modules.json", lambda modules: modules[number].update(type=kind))


@pytest.mark.parametrize(
    "edit",
    [
        _set("config.json", model_type="mpnet"),
        _set("config.json", hidden_act="relu"),
        _set("config.json", position_embedding_type="relative_key"),
        _set("config.json", is_decoder=True),
        _set("config.json", num_attention_heads=7),
        _set("config.json", num_hidden_layers=1),
        _set("config.json", num_hidden_layers=3),
        _set("config_sentence_transformers.json", default_prompt_name="query"),
        _set("config_sentence_transformers.json", truncate_dim=4),
        _set("sentence_bert_config.json", do_lower_case=True),
        _set("sentence_bert_config.json", processing_kwargs={"text": {"max_length": 5}}),
        _set("1_Pooling/config.json", pooling_mode="cls"),
        _set("1_Pooling/config.json", pooling_mode="", pooling_mode_mean_tokens=True, pooling_mode_max_tokens=True),
        _set("2_Normalize/config.json", module_input_name="token_embeddings"),
        _set("3_Dense/config.json", activation_function="torch.nn.modules.activation.Tanh"),
        _set("3_Dense/config.json", use_residual=True),
        _set("3_Dense/config.json", module_output_name="mapped"),
        _set("3_Dense/config.json", in_features=3),
        _set("3_Dense/config.json", bias=False),
        _edit("3_Dense/config.json", lambda described: described.pop("activation_function")),
        _set("tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast"),
        _set("tokenizer_config.json", padding_side="left"),
        _set("tokenizer_config.json", truncation_side="left"),
        _edit("tokenizer.json", lambda described: described["post_processor"]["single"].pop()),
        _set("tokenizer_config.json", model_max_length=10**30),
        _retype(0, "training.modules.parsing_transformer.Transformer"),
        _retype(1, "sentence_transformers.sentence_transformer.modules.WeightedLayerPooling"),
        _retype(3, "sentence_transformers.sentence_transformer.modules.router.Router"),
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: (folder / "3_Dense" / "model.safetensors").write_bytes(b"damaged"),
    ],
)
def test_what_another_encoder_would_compute_is_left_to_the_library(
    edit: Callable[[Path], None], mapped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "sentence_transformers")
    folder = shutil.copytree(mapped, tmp_path / "encoder")
    assert load_light(folder, "cpu") is not None
    assert load_light(folder, "cuda") is None
    edit(folder)
    assert load_light(folder, "cpu") is None


def test_a_light_encoder_has_the_threads_of_its_settings(mapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sentence_transformers")
    threads: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    encoder = load(EmbeddingSettings(model=str(mapped), device="cpu", threads=3), light=True)
    assert isinstance(encoder.model, LightEncoder)
    assert threads == [3]
