import subprocess
import sys
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import NotThisModel
from features.models import digest
from features.parsers.settings import AmrSettings, DependencySettings, EmbeddingSettings, LabelVectorSettings
from features.stages.amr import amr_recipe
from features.stages.dependencies import dependency_recipe
from features.stages.embeddings import embedding_recipe
from features.stages.label_vectors import label_vector_recipe
from features.store.fingerprints import identity


def amrlib(folder: Path, **changes: object) -> AmrSettings:
    return AmrSettings.model_validate({"backend": "amrlib", "model": str(folder), **changes})


def test_speed_does_not_change_a_recipe(amr_parser_folder: Path, encoder_name: str, pipeline_name: str) -> None:
    slow, fast = {"batch_size": 1, "threads": 1}, {"batch_size": 64, "threads": 8}
    folder = amr_parser_folder
    amr = [amr_recipe(amrlib(folder, **speed)) for speed in (slow, fast | {"device": "cuda"})]
    trees = [dependency_recipe(DependencySettings(model=pipeline_name, **speed)) for speed in (slow, fast)]
    vectors = [embedding_recipe(EmbeddingSettings(model=encoder_name, **speed)) for speed in (slow, fast)]
    for one, other in (amr, trees, vectors):
        assert identity(one) == identity(other)


def test_what_changes_a_graph_changes_the_recipe(amr_parser_folder: Path, tmp_path: Path) -> None:
    tokenizer = tmp_path / "tokenizer"
    tokenizer.mkdir()
    (tokenizer / "tokenizer.json").write_text("{}")
    changes: list[dict[str, object]] = [{}, {"beams": 2}, {"max_words": 7}, {"tokenizer": str(tokenizer)}]
    identities = {identity(amr_recipe(amrlib(amr_parser_folder, **change))) for change in changes}
    identities.add(identity(amr_recipe(AmrSettings(backend="penman"))))
    assert len(identities) == len(changes) + 1


def test_a_parser_of_another_kind_is_named_with_the_backend_that_reads_it(amr_parser_folder: Path) -> None:
    with refused(NotThisModel):
        amr_recipe(AmrSettings(model=str(amr_parser_folder)))


def test_weights_change_the_recipe(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"1")
    before = embedding_recipe(EmbeddingSettings(model=str(tmp_path)))
    assert before.weights == digest(tmp_path)
    assert identity(embedding_recipe(EmbeddingSettings(model=str(tmp_path), precision="bfloat16"))) != identity(before)
    (tmp_path / "model.safetensors").write_bytes(b"2")
    assert identity(embedding_recipe(EmbeddingSettings(model=str(tmp_path)))) != identity(before)


def test_the_text_of_the_vectors_changes_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1\n")
    settings = LabelVectorSettings(backend="glove", file=path)
    before = identity(label_vector_recipe(settings))
    path.write_text("a 2\n")
    assert identity(label_vector_recipe(settings)) != before


def test_a_bank_is_no_part_of_the_recipe(tmp_path: Path) -> None:
    # Its graphs are hashed shard by shard, so that more files do not make every shard stale.
    with_bank = AmrSettings(graphs=("a.amr",), bank=tmp_path / "bank")
    assert identity(amr_recipe(with_bank)) == identity(amr_recipe(AmrSettings(backend="penman")))


@pytest.mark.slow
def test_no_recipe_loads_a_library_of_models(encoder_name: str, pipeline_name: str) -> None:
    program = f"""
import sys
from features.parsers import amr, bank, dependencies, label_vectors, sentence_encoder, texts
from features.stages.registry import STAGES
from features.parsers.settings import *
STAGES['dependencies'].recipe(DependencySettings(model={pipeline_name!r}))
STAGES['embeddings'].recipe(EmbeddingSettings(model={encoder_name!r}))
STAGES['label_vectors'].recipe(LabelVectorSettings(model={encoder_name!r}))
print([name for name in ("torch", "transformers", "sentence_transformers", "spacy", "amrlib", "prefect", "dask",
                         "deltalake") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
