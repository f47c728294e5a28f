"""The minimum memory of stages, from the files of their models."""

from features.parsers.settings import AmrSettings, EmbeddingSettings, LabelVectorSettings
from features.stages.amr import AMR_STAGE
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.label_vectors import LABEL_VECTOR_STAGE
from features.stages.metrics import METRIC_STAGE, MetricSettings
from features.stages.stage import LIBRARIES, PROCESS, total


def test_models_are_counted_by_their_files_and_once(tiny_encoder):
    size = sum(file.stat().st_size for file in tiny_encoder.iterdir())
    teacher = EMBEDDING_STAGE.models(EmbeddingSettings(model=str(tiny_encoder)))
    words = LABEL_VECTOR_STAGE.models(LabelVectorSettings(model=str(tiny_encoder)))
    assert teacher.bytes == words.bytes == ((tiny_encoder.resolve(), size),)
    libraries = LIBRARIES["torch"] + LIBRARIES["sentence_transformers"]
    beside = teacher.beside + words.beside
    assert total({"embeddings": teacher, "label_vectors": words}) == PROCESS + libraries + size + beside


def test_stages_without_a_model_need_the_process_only(tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("x" * 1000)
    graphs = AMR_STAGE.models(AmrSettings(backend="penman", graphs=("a.amr",)))
    assert total({"amr": graphs, "metrics": METRIC_STAGE.models(MetricSettings())}) == PROCESS
    words = LABEL_VECTOR_STAGE.models(LabelVectorSettings(backend="glove", file=vectors))
    assert (words.own, words.files) == (400, (vectors,))


def test_the_embedded_parser_needs_its_weights_and_what_was_measured_beside_them():
    needs = AMR_STAGE.models(AmrSettings())
    assert 20 << 20 < needs.own - needs.beside < 30 << 20
    assert (needs.libraries, needs.names) == ({"torch"}, ()), "its files come with the package"
