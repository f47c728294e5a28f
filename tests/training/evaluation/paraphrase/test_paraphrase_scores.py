"""How judged pairs are scored: by which judge, in which order, next to what."""

import polars as pl
import pytest
from sentences import refused
from sklearn.metrics import accuracy_score, f1_score

from features.core.faults import EncoderDamaged
from features.metrics.bootstrap import FEWEST
from tests.training.evaluation.paraphrase.conftest import (
    alike,
    by_name,
    classifier,
    exported,
    pairs_of,
    scored,
    write_training,
)
from training.evaluation.models import Models
from training.evaluation.paraphrase.suite import ParaphraseSuite, _figure, _most_wrong, _tell_share, _trivial
from training.evaluation.suites import Subject, suites_of
from training.evaluation.tables import hundred


def test_an_encoder_of_any_kind_is_scored_where_there_are_judged_pairs_in_the_split(job):
    assert all("paraphrase" in suites_of(kind) for kind in ("", "s3bert", "rgcn", "aspect"))
    found = by_name(scored(job))
    assert {name: (each["pairs"], each["positives"]) for name, each in found.items()} == {
        "questions": (24, 16),
        "tweets": (24, 16),
    }
    assert found["questions"]["labels"] == {"positive": "duplicate", "negative": "other"}
    assert {each["scored_by"] for each in found.values()} == {"cosine"}
    assert {each["swapped"] for each in found.values()} == {0}  # a cosine knows no order
    for each in found.values():
        assert each["scores"]["f1"]["encoder"] == each["scores"]["f1"]["start"]
        assert each["scores"]["f1"]["difference"] == {"low": 0, "high": 0, "verdict": "unclear"}


@pytest.mark.parametrize("firsts", [FEWEST - 1, FEWEST])
def test_pairs_with_the_same_first_sentence_are_drawn_together(job, tmp_path, firsts):
    rows = [(*row[:4], f"the cat runs {n % firsts}", row[5]) for n, row in enumerate(pairs_of())]
    (each,) = scored(job, source=exported(tmp_path / "judged.parquet", rows))["rows"]
    assert (each["scores"]["f1"]["encoder_interval"] is None) == (firsts < FEWEST)


def test_a_classifier_decides_where_it_tells_both_labels_apart_and_the_cosine_elsewhere(job):
    classifier().save(job.encoder)
    found = by_name(scored(job))
    assert {name: each["scored_by"] for name, each in found.items()} == {"questions": "cosine", "tweets": "classifier"}
    suite = ParaphraseSuite.of(Subject(job))
    result = suite.score(Models(alike, None))
    suite.write(job.output)
    table = pl.read_parquet(job.output / ParaphraseSuite.file).filter(set="tweets")
    expected = classifier().probabilities(alike(table["text_a"]), alike(table["text_b"]))[:, 1]
    assert table["score"].to_numpy() == pytest.approx(expected)
    each = by_name(result)["tweets"]
    called = table["score"] >= each["thresholds"]["encoder"]["value"]
    assert (table["predicted"] == "1").to_list() == called.to_list()
    assert each["scores"]["f1"]["encoder"] == pytest.approx(f1_score(table["label"] == "1", called))
    assert table["start_score"].null_count() == table.height


def test_a_classifier_that_its_training_made_and_that_is_lost_is_no_reason_for_the_cosine(job):
    write_training(job.output, kind="pas")
    with refused(EncoderDamaged):
        ParaphraseSuite.of(Subject(job))
    write_training(job.output, kind="rgcn", objective="softmax")
    classifier().save(job.encoder)
    assert by_name(scored(job))["tweets"]["scored_by"] == "classifier"
    (job.encoder / "classifier.json").unlink()
    with refused(EncoderDamaged):
        ParaphraseSuite.of(Subject(job))


def test_of_more_labels_than_the_two_of_a_set_the_classifier_shares_the_probability_among_these(job):
    known = classifier(labels=("0", "1", "neutral"))
    known.save(job.encoder)
    left, right = alike(["the cat"]), alike(["the dog"])
    all_three, two = known.probabilities(left, right)[0], known.probabilities(left, right, ("1", "0"))[0]
    assert two == pytest.approx(
        [all_three[1] / (all_three[0] + all_three[1]), all_three[0] / (all_three[0] + all_three[1])]
    )
    assert by_name(scored(job))["tweets"]["scored_by"] == "classifier"


def test_a_classifier_without_an_order_changes_no_prediction_by_a_swap_and_another_is_counted(job):
    classifier(("|u-v|", "u*v")).save(job.encoder)
    each = by_name(scored(job))["tweets"]
    assert (each["swapped"], each["changed"]) == (0, 0)
    ordered = classifier(("v",), weight=1.0, bias=-1.5)  # counts the words of the second sentence
    ordered.save(job.encoder)
    each = by_name(scored(job))["tweets"]
    suite = ParaphraseSuite.of(Subject(job))
    result = suite.score(Models(alike, alike))
    suite.write(job.output)
    table = pl.read_parquet(job.output / ParaphraseSuite.file).filter(set="tweets")
    changed = (table["predicted"] != table["swapped_predicted"]).sum()
    assert changed == each["changed"] > 0
    assert each["swapped"] == changed / 24
    by_start = table["start_score"] >= each["thresholds"]["start"]["value"]
    assert (table["start_predicted"] == "1").to_list() == by_start.to_list() != (table["predicted"] == "1").to_list()
    swapped = ordered.probabilities(alike(table["text_b"]), alike(table["text_a"]))[:, 1]
    assert table["swapped_score"].to_numpy() == pytest.approx(swapped)
    assert each["reliability"]["said"] == pytest.approx(table["score"].mean()), "in the order of the pair"
    note = "\n".join(table.note for table in ParaphraseSuite.tables(result))
    assert f"Predictions that change when the sentences are swapped: tweets {changed} of 24." in note


def test_what_is_to_be_had_without_looking_at_the_pairs_is_shown_and_told(job):
    result = scored(job)
    each = by_name(result)["tweets"]
    f1 = f1_score([1] * each["positives"] + [0] * (each["pairs"] - each["positives"]), [1] * each["pairs"])
    _, measures = ParaphraseSuite.tables(result)[:2]
    (row,) = [row for row in measures.rows if row[0] == "tweets: every pair"]
    assert row == ("tweets: every pair", "66.7", f"{100 * f1:.1f}", "66.7", "0.0", "50.0", "")
    assert ("tweets: no pair", "33.3", "0.0", "66.7", "0.0", "50.0", "") in measures.rows
    assert ("tweets: most frequent label", *row[1:]) in measures.rows
    assert ("mean: most frequent label", *row[1:]) in measures.rows  # both sets have the same labels
    assert _trivial({"pairs": 4, "positives": 2})["most frequent label"]["f1"] > 0, "of two the positive one"
    told = f"tweets: F1 is not clearly above that of calling every pair a paraphrase ({100 * f1:.1f})"
    for low, said in ((f1 - 0.01, True), (f1 + 0.01, False)):
        each["scores"]["f1"]["encoder_interval"] = {"low": low, "high": 1.0}
        assert (told in ParaphraseSuite.tables(result)[0].note) == said


def test_the_more_probable_label_is_scored_beside_the_chosen_threshold(job):
    classifier(bias=4.0).save(job.encoder)
    suite = ParaphraseSuite.of(Subject(job))
    result = suite.score(Models(alike, alike))
    suite.write(job.output)
    each = by_name(result)["tweets"]
    table = pl.read_parquet(job.output / ParaphraseSuite.file).filter(set="tweets")
    positive, called = table["label"] == "1", table["score"] >= 0.5
    assert called.to_list() != (table["predicted"] == "1").to_list()  # dev chooses another threshold
    accuracy, f1 = accuracy_score(positive, called), f1_score(positive, called)
    assert (each["more_probable"]["accuracy"], each["more_probable"]["f1"]) == pytest.approx((accuracy, f1))
    rows = {row[0]: row[1:3] for row in ParaphraseSuite.tables(result)[1].rows}
    assert rows["tweets: encoder, more probable label"] == (f"{100 * accuracy:.1f}", f"{100 * f1:.1f}")
    of_dev = (each["scores"][name]["encoder"] for name in ("accuracy", "f1"))
    assert rows["tweets: encoder, chosen threshold"] == tuple(f"{100 * value:.1f}" for value in of_dev)
    assert by_name(result)["questions"]["more_probable"] is None  # a cosine is no probability
    assert "questions: encoder, more probable label" not in rows
    assert "mean: encoder, more probable label" not in rows
    assert "mean: start model, chosen threshold" in rows


def test_an_answer_that_only_the_first_set_has_has_no_mean(job, tmp_path):
    classifier().save(job.encoder)
    source = exported(tmp_path / "two.parquet", pairs_of(), pairs_of("zoo", labels=("duplicate", "other")))
    rows = [row[0] for row in ParaphraseSuite.tables(scored(job, source=source))[1].rows]
    assert "tweets: encoder, more probable label" in rows
    assert "mean: encoder, more probable label" not in rows


def test_the_figure_at_the_head_is_the_mean_or_says_that_there_is_none(job):
    result = scored(job)
    text = f"mean F1 of paraphrases over 2 sets. Start model: {hundred(result['mean']['start'])}."
    figure = _figure(result)
    assert (figure.number, figure.text.partition(" This encoder")[0]) == (hundred(result["mean"]["encoder"]), text)
    assert _figure(result | {"mean": None}).number == "–"
    result["rows"][0] |= {"swapped": 0.25, "changed": 6}
    assert "Swapping the sentences changes 12.5 % of the predictions." in _figure(result).text


def test_the_worst_mistakes_of_each_kind_come_first():
    columns = {"predicted": [*"1111000"], "label": [*"0010110"], "score": [0.6, 0.9, 1.0, 0.7, 0.4, 0.1, 0.0]}
    rows = pl.DataFrame(columns).with_columns(text_a=pl.lit("a"), text_b=pl.lit("b"))
    row = {"labels": {"positive": "1", "negative": "0"}}
    assert [_most_wrong(row, rows, label)["score"].to_list() for label in "10"] == [[0.9, 0.7, 0.6], [0.1, 0.4]]


def test_only_of_sets_that_are_scored_it_is_said_that_they_chose_the_model(job, monkeypatch):
    monkeypatch.setattr("training.evaluation.paraphrase.suite.sets_chosen_by", lambda *_: ["tweets", "rated"])
    assert scored(job)["chosen_by"] == ["tweets"]


@pytest.mark.parametrize(
    ("share", "told"), [(None, "–"), (0.0, "0.0 %"), (0.0004, "< 0.1 %"), (0.0005, "0.1 %"), (0.25, "25.0 %")]
)
def test_a_share_that_is_not_zero_is_not_shown_as_zero(share, told):
    assert _tell_share(share) == told


def test_pairs_of_one_label_leave_what_compares_two_undefined_and_say_so(job, tmp_path):
    ones = [row for row in pairs_of() if row[2] != "test" or row[3] == "1"]
    result = scored(job, source=exported(tmp_path / "ones.parquet", ones))
    (each,) = result["rows"]
    assert each["scores"]["auroc"]["encoder"] is None
    assert each["scores"]["f1"]["encoder"] > 0
    assert "All 16 pairs of tweets have the label '1': AP, MCC and AUROC" in ParaphraseSuite.tables(result)[0].note
    assert not [row for row in ParaphraseSuite.tables(result)[1].rows if row[0].startswith("mean")], "of one set"
    (row,) = [row for row in ones if row[2] == "test"][:1]
    result = scored(job, source=exported(tmp_path / "one.parquet", [*(r for r in ones if r[2] != "test"), row]))
    assert "The only pair of tweets has the label '1': AP, MCC and AUROC" in ParaphraseSuite.tables(result)[0].note


def test_a_classifier_that_knows_one_of_two_labels_decides_nothing(job, tmp_path):
    classifier().save(job.encoder)
    (row,) = scored(job, source=exported(tmp_path / "no.parquet", pairs_of(labels=("1", "no"))))["rows"]
    assert (row["scored_by"], row["more_probable"], row["reliability"]) == ("cosine", None, None)
