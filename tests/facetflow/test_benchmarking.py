"""An encoder, or one facet of it, is a model of MTEB: a task made from a local file gives its similarities."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sentences import refused

import facetflow
from features.core.faults import UnknownName

mteb = pytest.importorskip("mteb", reason="`make mteb` installs it and runs these tests")
from datasets import Dataset  # noqa: E402 (comes with mteb)
from mteb.abstasks import AbsTaskSTS  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402

pytestmark = pytest.mark.slow  # loads an encoder

PAIRS = [
    ("Two cats look.", "A cat looks.", 3.0),
    ("The boy did not eat.", "The boy ate.", 1.0),
    ("It rains.", "It is raining.", 5.0),
    ("A dog runs in the park.", "Three children sleep.", 0.0),
    ("The man sees the woman.", "The woman sees the man.", 2.0),
]


class Local(AbsTaskSTS):
    metadata = TaskMetadata(
        name="Local",
        description="Pairs of a file.",
        reference=None,
        dataset={"path": "local", "revision": "1"},
        type="STS",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="cosine_spearman",
        date=None,
        domains=None,
        task_subtypes=None,
        license=None,
        annotations_creators=None,
        dialect=None,
        sample_creation=None,
        bibtex_citation=None,
    )

    def load_data(self, *_, **__):
        a, b, scores = zip(*PAIRS, strict=True)
        self.dataset = {"test": Dataset.from_dict({"sentence1": a, "sentence2": b, "score": scores})}
        self.data_loaded = True


@pytest.fixture(scope="module")
def encoder(encoder_model: str) -> facetflow.Encoder:
    return facetflow.load_encoder(device="cpu")


@pytest.mark.parametrize("facet", [None, "quantifiers"])
def test_a_task_of_a_local_file_is_evaluated(encoder: facetflow.Encoder, facet: str | None) -> None:
    result = mteb.evaluate(encoder.for_mteb(facet), Local(), cache=None, show_progress_bar=False)
    (scores,) = result.task_results[0].scores["test"]
    a, b, rated = zip(*PAIRS, strict=True)
    own = encoder.similarity(a, b, facet)
    assert scores["cosine_spearman"] == pytest.approx(spearmanr(own, rated)[0], abs=1e-6)
    assert result.model_name.endswith("-quantifiers" if facet else encoder.folder.resolve().name)


def test_similarities_are_cosines_of_the_facet(encoder: facetflow.Encoder) -> None:
    model = encoder.for_mteb("smatch")
    vectors = model.encode([{"text": ["Two cats look.", "A cat looks."]}, {"text": ["It rains."]}])
    assert vectors.shape == (3, 32)
    assert model.similarity(vectors[0], vectors[1:]).shape == (1, 2)
    expected = encoder.similarity("Two cats look.", "A cat looks.", "smatch")
    assert model.similarity_pairwise(vectors[0], vectors[1]) == pytest.approx([expected], abs=1e-6)
    np.testing.assert_allclose(np.diag(model.similarity(vectors, vectors)), 1, atol=1e-6)


def test_a_facet_that_is_not_there_is_refused(encoder: facetflow.Encoder) -> None:
    with refused(UnknownName):
        encoder.for_mteb("smach")
