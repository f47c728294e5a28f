"""Which texts are trained on, and what is wrong with the others."""

import polars as pl
import pytest
from sentences import refused

from features.core.faults import (
    Conflict,
    NothingToLearn,
    NoTrainingData,
    RepeatedValue,
    SplitsOverlap,
    UnknownName,
    WrongValue,
)
from training.data.labelled_texts import LabelledTexts
from training.encoders.aspect.data import learnt_from, plan_lessons, resolved
from training.encoders.aspect.settings import AspectSettings

SCHEMA = ["text", "corpus", "split", "aspect", "label"]


def texts(*rows):
    table = pl.DataFrame(
        [(text, "papers", split, aspect, label) for text, split, aspect, label in rows], schema=SCHEMA, orient="row"
    )
    return LabelledTexts.from_table(table, source={"file": "made up"})


def settings(**given):
    return AspectSettings.model_validate({"name": "mine", "aspects": ["task"], "min_texts": 1} | given)


def many(count, labels, aspect="task", split="train"):
    return [(f"{aspect} {split} {n}", split, aspect, labels[n % len(labels)]) for n in range(count)]


def plan(data, chosen):
    chosen = resolved(data, chosen)
    return plan_lessons(learnt_from(data, chosen), chosen)


@pytest.mark.parametrize(
    ("rows", "given", "error"),
    [
        (many(4, "xy"), {"aspects": ["area"]}, UnknownName),
        (many(4, "xy"), {"corpora": ["wiki"]}, UnknownName),
        ([*many(4, "xy"), *many(4, "pq", "area")], {"aspects": []}, Conflict),
        (many(4, "xy"), {"aspects": [], "combine": "union"}, Conflict),
        (many(4, "x"), {}, NothingToLearn),
        (many(1, "x"), {}, NothingToLearn),
        (many(6, "xyzuvw"), {"min_texts": 2}, NothingToLearn),
        (many(4, "xxyz"), {"min_texts": 2}, NothingToLearn),
        (many(6, "xyz"), {"held_out_labels": 0.99}, NothingToLearn),
        (many(4, "wxyz"), {}, NothingToLearn),
        (many(4, "xy", split="test"), {}, NoTrainingData),
        ([("a", "train", "task", "x"), ("a", "train", "task", "y"), ("a", "dev", "task", "x")], {}, SplitsOverlap),
    ],
    ids=[
        "aspect",
        "corpus",
        "several aspects",
        "nothing to combine",
        "one label",
        "one text",
        "rare",
        "all but one rare",
        "held out",
        "all alone",
        "no training split",
        "all in another split",
    ],
)
def test_what_cannot_be_learnt_is_said_in_one_sentence(rows, given, error):
    with refused(error):
        plan(texts(*rows), settings(**given))


def test_the_only_aspect_needs_no_name_and_several_are_all_that_there_are():
    one, two = texts(*many(4, "xy")), texts(*many(4, "xy"), *many(4, "pq", "area"))

    assert resolved(one, settings(aspects=[])).aspects == ("task",)
    assert resolved(two, settings(aspects=[], combine="union")).aspects == ("area", "task")


def test_a_text_of_another_split_is_not_learnt_from_and_that_is_told(caplog):
    rows = [*many(6, "xy"), ("task train 0", "test", "task", "x"), ("task train 1", "dev", "task", "y")]
    learnt = learnt_from(texts(*rows), settings())

    assert learnt.labels.filter(split="train").height == 4
    assert learnt.labels.filter(split="dev").height == 1, "the model is chosen on it"
    assert "also in another split: 2 texts of split 'train'" in caplog.text


def test_a_text_of_a_corpus_that_is_not_learnt_from_is_not_counted(caplog):
    data = texts(*many(6, "xy"), ("both", "train", "task", "x"), ("both", "dev", "task", "x"))
    of_other = pl.col("text") == data.texts.index("both")
    rows = data.labels.with_columns(corpus=pl.when(of_other).then(pl.lit("other")).otherwise("corpus"))
    learnt_from(LabelledTexts(data.texts, rows, data.source), settings(corpora=["papers"]))
    assert "also in another split" not in caplog.text


def test_a_text_of_another_split_of_a_corpus_that_is_not_learnt_from_is_not_learnt_from_either():
    data = texts(*many(6, "xy"), *many(1, "x", split="test"), ("task train 0", "test", "task", "x"))
    rows = data.labels.with_columns(corpus=pl.when(split="test").then(pl.lit("other")).otherwise("corpus"))
    learnt = learnt_from(LabelledTexts(data.texts, rows, data.source), settings(corpora=["papers"]))
    assert {learnt.texts[text] for text in learnt.labels["text"]} == {f"task train {number}" for number in range(1, 6)}


def test_a_text_of_another_split_in_another_spelling_is_not_learnt_from_either(caplog):
    elsewhere = [("Task, train 0!", "test", "task", "x"), ("task train 1", "dev", "task", "y")]
    marks = [("?!", "train", "task", "x"), ("...", "test", "task", "x")]
    learnt = learnt_from(texts(*many(6, "xy"), *elsewhere, *marks), settings())

    of_train = {learnt.texts[position] for position in learnt.labels.filter(split="train")["text"]}
    assert of_train == {*(f"task train {number}" for number in range(2, 6)), "?!"}
    assert [message.partition(": ")[2] for message in caplog.messages] == [
        "2 texts of split 'train' (1 with other case or punctuation)"
    ]


@pytest.mark.parametrize("objective", ["info_nce", "simcse"])
def test_labels_that_are_held_out_are_named_and_no_text_of_them_is_seen(objective):
    data = texts(
        *many(200, [f"label {n}" for n in range(20)]), *many(40, [f"label {n}" for n in range(20)], split="dev")
    )
    made = plan(data, settings(held_out_labels=0.3, objective=objective))

    held = set(made.chosen.held_out["task"])
    assert 0 < len(held) < 20
    labels = dict(data.labels.select("text", "label").iter_rows())
    (lesson,) = made.lessons
    assert {labels[text] for text in (*lesson.maker.texts, *lesson.dev.texts, *made.texts)} == {
        f"label {n}" for n in range(20)
    } - held
    assert set(plan(data, settings(held_out_labels=0.3, held_out_seed=1)).chosen.held_out["task"]) != held


def test_dev_texts_that_are_all_alike_are_not_said_to_be_unlike(caplog):
    plan(texts(*many(12, "xy"), *many(5, "x", split="dev")), settings())
    assert "all texts of split 'dev' that share a label share one with every other: there is nothing" in caplog.text
    caplog.clear()
    plan(texts(*many(12, "xy"), *many(2, "xy", split="dev")), settings())
    assert (
        "no two texts of split 'dev' are alike: there is nothing to choose the best model by, the last" in caplog.text
    )
    assert "few texts to train on: 12, less than one batch (32)" in caplog.text


def test_simcse_learns_from_texts_whose_labels_are_rare_or_missing():
    rows = [*many(6, "uvwxyz"), *many(3, "p", "area")]
    learnt = plan(texts(*rows), settings(objective="simcse"))
    assert len(learnt.texts) == 9


def test_the_texts_of_an_intersection_are_those_with_a_label_in_each_aspect():
    rows = [*many(12, "xy"), *(("task train " + str(n), "train", "area", "pq"[n % 2]) for n in range(8))]
    rows += [(f"dev {n}", "dev", aspect, "x") for n in range(4) for aspect in ("task", "area")[: 1 + n % 2]]
    made = plan(texts(*rows), settings(aspects=["task", "area"], combine="intersection"))
    assert (len(made.texts), len(made.dev)) == (8, 2)


def test_negatives_are_drawn_as_the_settings_say_and_share_not_even_a_rare_label():
    rows = [(f"{label} {n}", "train", "task", label) for label in "xy" for n in range(4)]
    rows += [(text, "train", "task", "rare") for text in ("x 0", "y 0")]
    rows += [(text, "train", "area", "p") for text in ("x 0", "y 0", "y 1")]
    data = texts(*rows)

    def negatives(**given):
        (lesson,) = plan(data, settings(min_texts=3, **given)).lessons
        drawn = lesson.maker.draw(seed=0, epoch=0, each=20)
        return {data.texts[negative] for negative in drawn.negatives[drawn.anchors == data.texts.index("x 0")]}

    assert negatives() == {"y 1"}, "of those that are like it in another aspect, that without its rare label"
    assert negatives(negatives="any") == {"y 1", "y 2", "y 3"}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"aspects": ["a", "b"]}, Conflict),
        ({"combine": "union"}, Conflict),
        ({"aspects": ["a", "a"]}, RepeatedValue),
        ({"loop": {"batch_size": 1}}, WrongValue),
        ({"objective": "simcse", "masked": False}, Conflict),
        ({"objective": "simcse", "dropout": False}, Conflict),
        ({"objective": "simcse", "aspects": ["a", "b"], "combine": "routes"}, Conflict),
        ({"preset": "large"}, WrongValue),
        ({"layers_tuned": -1}, WrongValue),
        ({"objective": "simcse", "layers_tuned": 0}, Conflict),
        ({"route_learning_rate": 0.01}, Conflict),
        ({"layers_tuned": 0, "search": {"learning_rate": [1e-3, 1e-2]}}, Conflict),
        ({"layers_tuned": 0, "search": {"weight_decay": [0.0, 0.1]}}, Conflict),
        ({"choose_by": "sts-dev"}, Conflict),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_settings_that_contradict_each_other_are_refused(given, fault):
    with refused(fault):
        settings(**given)


@pytest.mark.parametrize(
    "given",
    [
        {"layers_tuned": 0, "route_learning_rate": 0.01},
        {"layers_tuned": 0, "search": {"route_learning_rate": [1e-3, 1e-2]}},
        {"aspects": ["a", "b"], "combine": "routes", "route_learning_rate": 0.01},
        {"search": {"learning_rate": [1e-3, 1e-2]}},
        {"objective": "multiple_negatives", "masked": False, "dropout": False},
        {"objective": "simcse", "aspects": ["a", "b"], "combine": "union"},
        {"loop": {"batch_size": 2}},
    ],
    ids=["linear layer", "search of its rate", "routes", "search", "not masked", "simcse", "two texts"],
)
def test_settings_that_go_together_are_taken(given):
    made = settings(**given)
    assert AspectSettings.model_validate_json(made.model_dump_json()) == made


def test_a_preset_gives_the_numbers_and_a_key_beside_it_changes_one():
    paper = settings(preset="paper", loop={"epochs": 2})

    assert (paper.pooling, paper.layers_tuned, paper.temperature, paper.max_tokens) == ("cls", "all", 0.05, 320)
    assert (paper.loop.epochs, paper.loop.batch_size, paper.loop.learning_rate) == (2, 14, 5e-5)
