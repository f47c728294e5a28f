"""The set of ratings that a model is chosen by: its score, its identity, and what is refused."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sentences import refused

from features.core.faults import FileMissing, NothingToLearn, UnknownName
from training.encoders.ratings import chosen_ratings
from training.encoders.settings import EncoderSettings
from training.jobs import Source, TrainingJob

ROWS = [("one", "two", 5), ("one", "three", 1), ("two", "two", 4), ("three", "four", 0)]


@pytest.fixture
def job(tmp_path):
    """Return a function that makes the job of an encoder that is chosen by a set of these rows."""

    def make(rows=ROWS, choose_by="mine", **described):
        lines = ["sentence_a\tsentence_b\tscore", *("\t".join(map(str, row)) for row in rows)]
        (tmp_path / "rated.tsv").write_text("\n".join(lines) + "\n")
        known = {"dataset": "pairs", "name": "mine", "split": "dev", "file": "rated.tsv", **described}
        settings = EncoderSettings(name="a", kind="toy", choose_by=choose_by)
        source = Source(pairs=tmp_path / "pairs.parquet")
        return TrainingJob(source=source, settings=settings, output=tmp_path / "run", base=tmp_path, ratings=(known,))

    return make


def test_the_score_is_spearmans_of_the_cosines_and_each_text_is_embedded_once(job):
    chosen = chosen_ratings(job())
    rows = np.random.default_rng(0).standard_normal((4, 3))
    vectors = dict(zip(chosen.texts, rows, strict=True))
    found = chosen.score(rows.astype(np.float32))
    cosines = [vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]) for a, b, _ in ROWS]
    assert found == pytest.approx(spearmanr(cosines, [score for *_, score in ROWS]).statistic)
    assert sorted(chosen.texts) == ["four", "one", "three", "two"]


def test_an_encoder_that_finds_all_sentences_equal_scores_0(job):
    assert chosen_ratings(job()).score(np.ones((4, 2), dtype=np.float32)) == 0


def test_an_encoder_whose_embeddings_are_not_numbers_has_no_score(job):
    assert np.isnan(chosen_ratings(job()).score(np.full((4, 3), np.nan, dtype=np.float32)))


def test_the_loss_needs_no_ratings(job):
    assert chosen_ratings(job(choose_by="loss")) is None


def test_ratings_are_known_by_sentences_and_scores_not_by_their_name(job):
    first = chosen_ratings(job())
    assert chosen_ratings(job(name="other", choose_by="other")).rated.digest == first.rated.digest
    assert chosen_ratings(job([*ROWS[:-1], ("three", "four", 1)])).rated.digest != first.rated.digest
    assert first.recorded() == {"set": "mine", "pairs": 4, "digest": first.rated.digest}


def test_a_set_that_the_job_does_not_bring_is_refused(job):
    with refused(UnknownName):
        chosen_ratings(job(choose_by="theirs"))


def test_ratings_that_order_nothing_are_refused(job):
    with refused(NothingToLearn):
        chosen_ratings(job([("one", "two", 3), ("two", "three", 3)]))


def test_a_file_that_is_missing_is_named(job):
    with refused(FileMissing):
        chosen_ratings(job(file="none.tsv"))
