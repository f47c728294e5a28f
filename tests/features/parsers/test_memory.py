"""The minimum memory of stages, from the files of their models."""

from features.parsers.memory import models_of, total

from features.parsers import memory
from features.parsers.settings import AmrSettings, EmbeddingSettings, LabelVectorSettings


def test_models_are_counted_by_their_files_and_once(tiny_encoder):
    size = sum(file.stat().st_size for file in tiny_encoder.iterdir())
    embeddings = models_of("embeddings", EmbeddingSettings(model=str(tiny_encoder)))
    labels = models_of("label_vectors", LabelVectorSettings(model=str(tiny_encoder)))
    assert embeddings.bytes == labels.bytes == ((tiny_encoder.resolve(), size),)
    libraries = memory.LIBRARIES["torch"] + memory.LIBRARIES["sentence_transformers"]
    beside = memory.BESIDE["embeddings"] + memory.BESIDE["label_vectors"]
    both = {"embeddings": embeddings, "label_vectors": labels}
    assert total(both) == memory.PROCESS + libraries + size + beside


def test_stages_without_a_model_need_the_process_only(tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("x" * 1000)
    graphs = models_of("amr", AmrSettings(backend="penman", graphs=("a.amr",)))
    assert total({"amr": graphs, "metrics": models_of("metrics", None)}) == memory.PROCESS
    assert models_of("label_vectors", LabelVectorSettings(backend="glove", file=vectors)).own == 400


def test_the_embedded_parser_needs_its_weights_and_what_was_measured_beside_them():
    found = models_of("amr", AmrSettings())
    assert 20 << 20 < found.own - memory.BESIDE["amr"] < 30 << 20
    assert found.libraries == {"torch"}
