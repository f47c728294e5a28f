"""Suites: how an encoder of any kind is evaluated, how to add a suite, and reports on pairs seen in training."""

import json
import sys
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import CannotExplain, NoScores, NothingToScore, UnknownName
from features.core.pages import tell
from features.corpora.settings import EvaluationSet
from flows.console.tables import print_tables
from training import markdown
from training.evaluation import models
from training.evaluation.promotion import compare_scores, on_same_pairs
from training.evaluation.run import evaluate, metrics_file
from training.evaluation.seen import seen_part, tell_choice, tell_seen
from training.evaluation.settings import PromotionSettings
from training.evaluation.suites import SUITES, load_suite, score_tables, suites_of
from training.evaluation.tables import NOTES
from training.jobs import EvaluationJob
from training.kinds import KINDS

# The file of "How to add a suite" in docs/concepts/architecture.md: this and a line in SUITES is all.
LENGTHS = '''
"""Does the length of an embedding follow the number of words?"""

from training.evaluation.suites import Suite
from training.evaluation.tables import Column, hundred, table
from training.similarity import spearman

import numpy as np


class LengthSuite(Suite):
    name = "lengths"
    title = "Lengths <of> texts"
    needs = "human ratings: name a set under [[evaluation]]"

    def __init__(self, texts):
        self._texts = texts

    @classmethod
    def of(cls, subject):
        texts = [text for rated in subject.rating_sets for text in rated.texts_a]
        return cls(texts) if texts else None

    def score(self, models):
        found = np.abs(models.encoder(self._texts)).sum(axis=1)[:, None]
        words = np.array([len(text.split()) for text in self._texts])
        row = {"name": "spearman", "texts": len(self._texts), "encoder": spearman(found, words)[0]}
        return {"rows": [row], "data": self._texts}

    @classmethod
    def tables(cls, result):
        columns = Column("texts", "texts"), Column("Spearman × 100", "encoder", hundred)
        return [table(cls.title, columns, result["rows"])]
'''


@pytest.fixture
def ratings(tmp_path):
    file = tmp_path / "rated.tsv"
    file.write_text(
        "sentence_a\tsentence_b\tscore\n"
        "the cat sleeps\ta cat sleeps\t5\n"
        "a dog runs in the park\tthe red dog runs\t4\n"
        "no man\tthree horse in a park\t0\n"
        "two woman eats the horse not\ttwo child sees the house\t1.5\n"
    )
    return EvaluationSet(dataset="pairs", name="mine", split="test", file=str(file))


@pytest.fixture
def plain(tmp_path, tiny_encoder, ratings):
    """Return a job about an encoder that facetflow did not train."""
    return EvaluationJob(encoder=tiny_encoder, output=tmp_path / "out", ratings=(ratings,), resamples=100)


@pytest.fixture
def lengths(tmp_path, monkeypatch):
    """Add a suite as the architecture page says: one file, one line."""
    (tmp_path / "lengths_suite.py").write_text(LENGTHS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(SUITES, "lengths", "lengths_suite:LengthSuite")
    yield "lengths"
    sys.modules.pop("lengths_suite", None)


def test_every_suite_loads_under_its_name_and_every_kind_names_suites_that_exist():
    for name in SUITES:
        suite = load_suite(name)
        assert suite.name == name
        assert suite.title
        assert suite.needs
    for kind in KINDS:
        assert set(KINDS[kind].suites) <= set(SUITES)


def test_a_suite_that_no_kind_names_is_one_of_all_kinds():
    assert suites_of("s3bert") == ("facets", "ratings", "transfer", "predictors", "paraphrase", "retrieval")
    assert suites_of("a kind of the future") == suites_of("") == ("ratings", "transfer", "paraphrase", "retrieval")


def test_an_encoder_of_no_kind_is_evaluated_by_human_ratings_alone(plain, capsys):
    scores = evaluate(plain)
    assert list(scores["suites"]) == ["ratings"]
    (rating,) = scores["suites"]["ratings"]["rows"]
    assert rating["encoder"] is not None
    assert rating["start"] is rating["difference"] is None
    report = (plain.output / "report.html").read_text()
    assert "Similarity against human ratings" in report
    assert "Start model" not in report
    print_tables(score_tables(scores))
    assert "unclear" not in capsys.readouterr().out  # there is nothing to compare it with
    assert not (plain.encoder / "README.md").exists()  # not ours to write into


def test_an_encoder_of_a_kind_of_the_future_is_compared_with_its_start_model(plain, tiny_encoder, tmp_path):
    import shutil

    encoder = tmp_path / "run" / "encoder"
    shutil.copytree(tiny_encoder, encoder)
    settings = {"kind": "hyperbolic", "backbone": str(tiny_encoder)}
    (encoder / "training.json").write_text(json.dumps({"settings": settings, "backbone_digest": "d"}))
    scores = evaluate(plain.model_copy(update={"encoder": encoder, "output": encoder.parent}))
    assert scores["kind"] == "hyperbolic"
    assert list(scores["suites"]) == ["ratings"]
    (rating,) = scores["suites"]["ratings"]["rows"]
    assert rating["encoder"] == rating["start"]
    assert (encoder / "README.md").read_text().startswith("## Scores\n\nSpearman × 100 with human ratings:")


def test_a_new_suite_is_one_file_and_one_line(plain, lengths, capsys, tmp_path):
    scores = evaluate(plain)
    assert list(scores["suites"]) == ["ratings", "lengths"]
    assert scores["suites"]["lengths"]["rows"][0]["texts"] == 4
    print_tables(score_tables(scores))
    assert "Lengths <of> texts" in capsys.readouterr().out
    assert "<h2>Lengths &lt;of&gt; texts</h2>" in (plain.output / "report.html").read_text()
    assert on_same_pairs(scores, scores)
    # What a project sets no limit for is no reason to promote, nor against it.
    assert len(compare_scores(scores, scores, PromotionSettings()).reasons) == 1


def test_suites_that_are_named_are_scored_beside_the_whole_evaluation_which_stays(plain, lengths):
    whole = evaluate(plain)
    before = {file.name: file.read_bytes() for file in plain.output.iterdir()}
    named = evaluate(plain.model_copy(update={"suites": (lengths,)}))
    assert list(named["suites"]) == ["lengths"]
    assert named["suites"]["lengths"] == whole["suites"]["lengths"]
    after = {file.name: file.read_bytes() for file in plain.output.iterdir()}
    assert after.pop("metrics-lengths.json")
    assert after == before
    assert metrics_file(plain.output, ["lengths"]).name == "metrics-lengths.json"
    assert metrics_file(plain.output).name == "metrics.json"


def test_a_text_is_embedded_once_for_all_suites(plain, lengths, monkeypatch):
    encoded = []
    load = models.load_encoder

    def counting(folder):
        model = load(folder)
        encode = model.encode
        model.encode = lambda texts, **options: encoded.extend(texts) or encode(texts, **options)
        return model

    monkeypatch.setattr(models, "load_encoder", counting)
    evaluate(plain)
    assert len(encoded) == len(set(encoded)) == 8


@pytest.mark.parametrize("name", ["facets", "predictors"])
def test_a_suite_that_does_not_fit_the_encoder_says_so(plain, name):
    with refused(CannotExplain):
        evaluate(plain.model_copy(update={"suites": (name,)}))


def test_an_unknown_suite_is_refused_with_those_that_there_are(plain):
    with refused(UnknownName):
        evaluate(plain.model_copy(update={"suites": ("rating",)}))


@pytest.mark.parametrize(
    "suites",
    [(), ("ratings",), ("transfer",), ("paraphrase",), ("retrieval",)],
    ids=["all", "ratings", "transfer", "paraphrase", "retrieval"],
)
def test_nothing_to_score_on_is_said_with_what_a_suite_needs(plain, suites):
    with refused(NothingToScore):
        evaluate(plain.model_copy(update={"ratings": (), "suites": suites}))


def test_the_average_of_several_sets_of_ratings_stands_below_them(plain, ratings, capsys):
    single = evaluate(plain)
    assert single["suites"]["ratings"]["mean"] is None
    other = ratings.model_copy(update={"name": "again"})
    scores = evaluate(plain.model_copy(update={"ratings": (ratings, other)}))
    found = scores["suites"]["ratings"]
    assert found["mean"]["encoder"] == pytest.approx(found["rows"][0]["encoder"])  # twice the same set
    print_tables(score_tables(scores))
    assert "average" in capsys.readouterr().out
    assert "average of 2 sets" in (plain.output / "report.html").read_text()


def test_a_table_that_a_chapter_shows_and_that_is_gone_is_an_error_that_says_what_to_do(tmp_path):
    from training.evaluation.facets.suite import FacetSuite

    with refused(NoScores):
        FacetSuite.chapter({"rows": []}, tmp_path)


def test_ratings_that_were_corrected_in_their_file_are_other_pairs(plain, ratings):
    before = evaluate(plain)
    assert on_same_pairs(before, evaluate(plain))
    file = Path(ratings.file)
    file.write_text(file.read_text().replace("\t5\n", "\t4\n"))
    after = evaluate(plain)
    assert not on_same_pairs(after, before)


def test_scores_by_other_suites_are_not_on_the_same_pairs():
    ratings = {"rows": [{"name": "sts", "pairs": 3, "encoder": 0.5}], "data": {"sts": "0"}}
    new = {"format": 3, "suites": {"ratings": ratings}}
    assert not on_same_pairs(new, {"format": 3, "suites": {}})
    assert not on_same_pairs(new, {"format": 3, "suites": {"ratings": {"rows": [], "data": {}}}})
    assert on_same_pairs(new, {"format": 3, "suites": {"ratings": ratings, "predictors": {}}})


RATED = {"set": "mine", "pairs": 1200, "digest": "0"}
TRAINED = {
    "settings": {"splits": ["train", "dev"], "loop": {"keep": "best"}},
    "corpora": {"stsb": {"train": 9, "dev": 5}, "sick": {"train": 9, "dev": 0}},
}


@pytest.mark.parametrize(
    ("split", "corpora", "part"),
    [
        ("dev", ["stsb", "sick"], {"part": "chosen", "corpora": ["stsb"]}),
        ("train", ["sick", "mrpc"], {"part": "learnt", "corpora": ["sick"]}),
        ("test", ["stsb"], None),
        ("dev", ["mrpc"], None),
        ("dev", ["sick"], None),
    ],
    ids=["dev", "train", "test", "other corpus", "no dev pairs"],
)
def test_which_part_the_pairs_had_in_the_training_is_known(split, corpora, part):
    assert seen_part(TRAINED, split, corpora) == part


@pytest.mark.parametrize(
    ("settings", "further"),
    [
        ({"loop": {"keep": "last"}}, {}),
        ({"choose_by": "stsb-dev"}, {"chosen_by": {"set": "stsb-dev"}}),
        ({}, {"dev": None}),
    ],
    ids=["last", "ratings", "nothing to score on dev"],
)
def test_a_model_that_was_not_chosen_by_its_dev_split_is_not_said_to_be(settings, further):
    training = TRAINED | {"settings": TRAINED["settings"] | settings} | further
    assert seen_part(training, "dev", ["stsb"]) is None
    calibrated = seen_part(training | {"calibration": {"pairs": 60}}, "dev", ["stsb"])
    assert calibrated == {"part": "calibrated", "corpora": ["stsb"]}
    assert tell_seen({"seen": calibrated, "split": "dev", "others": {}}).startswith(
        "The classifier was calibrated on the dev pairs of stsb: "
    )
    assert seen_part(training | {"calibration": {"pairs": 60}}, "test", ["stsb"]) is None


@pytest.mark.parametrize(
    ("keep", "dev", "chosen_by", "said"),
    [
        ("best", {"total": 1}, {}, "its loss on the dev pairs: the best model of the training"),
        ("best", None, {}, "nothing: there were no dev pairs"),
        ("last", {"total": 1}, RATED, "nothing: the model of the last step was kept"),
        ("average", {"total": 1}, {}, "its loss on the dev pairs: the best average of models of the training"),
        ("best", {"spearman": 1}, RATED, "its score on mine (1,200 rated pairs): the best model of the training"),
    ],
    ids=["loss", "no dev", "last", "average", "ratings"],
)
def test_it_is_said_by_what_the_model_was_chosen(keep, dev, chosen_by, said):
    training = TRAINED | {"settings": {"loop": {"keep": keep}}, "dev": dev, "chosen_by": chosen_by}
    assert tell_choice(training) == said
    assert tell_choice({}) == ""


def test_a_score_of_the_kinds_own_that_chose_the_model_is_named():
    settings = {"choose_by": "mrr", "loop": {"keep": "best"}}
    training = {"settings": settings, "dev": {"mrr": 0.5}, "corpora": {"papers": {"unit": "texts"}}}
    assert tell_choice(training) == "its MRR on the dev texts: the best model of the training"
    assert tell_choice(training | {"dev": None}) == "nothing: there were no dev texts"


def test_it_is_said_which_pairs_had_a_part_and_which_had_none():
    chosen = {"part": "chosen", "corpora": ["stsb", "sick"]}
    result = {"seen": chosen, "split": "dev", "others": {}}
    assert tell_seen(result | {"seen": None, "split": "test", "others": {"test": 3}}) == ""
    assert tell_seen(result | {"others": {"test": 1200}}, chosen="by its loss on") == (
        "The model was chosen by its loss on the dev pairs of stsb, sick: on pairs that its training did not use, "
        "its scores may be lower. To evaluate on others, use --split with test (1,200 pairs)."
    )
    assert tell_seen(result).endswith("No other split has pairs to evaluate on.")
    learnt = {"seen": chosen | {"part": "learnt"}, "split": "train"}
    assert tell_seen(result | learnt).startswith("The encoder was trained on the train pairs")
    assert tell(NOTES, "chosen_by", ["sts"]).startswith("The model was chosen by its score on sts: ")


def test_a_section_takes_the_place_of_the_one_before_and_leaves_the_rest():
    card = "# Card\n\n## Scores\n\nold\n\n## Licence\n\nApache\n"
    assert markdown.with_section(card, "Scores", ["new", ""]) == "# Card\n\n## Scores\n\nnew\n\n## Licence\n\nApache\n"
    assert markdown.with_section("# Card\n", "Scores", ["new"]) == "# Card\n\n## Scores\n\nnew\n"
    assert markdown.with_section("", "Scores", ["new"]) == "## Scores\n\nnew\n"
    again = markdown.with_section(card, "Scores", ["new"])
    assert markdown.with_section(again, "Scores", ["new"]) == again
