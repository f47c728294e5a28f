"""Splits that ingest draws for texts with labels: a pure function of the text, and no text in two of them."""

import random
import unicodedata
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import Conflict, EmptySetting, WrongValue
from features.core.types import SPLITS, RejectCode
from features.corpora.settings import CorpusSettings, DrawSettings, EvaluationSet, IngestSettings, LeakageSettings
from features.ingest.building import ingest
from features.ingest.known import Known
from features.sentences import sentence_id
from tests.features.ingest.ingests import run, stored

DRAW = {"dev": 0.2, "test": 0.3}


def table(*rows):
    return "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)


def texts(count, first=0):
    return [(f"Text number {number}.", "ab"[number % 2]) for number in range(first, first + count)]


def corpus(file="papers.tsv", *, draw=DRAW, name="papers", split="train", **given):
    return CorpusSettings(dataset="texts", name=name, files={split: file}, draw=draw, **given)


def splits_of(*parts, corpus="papers"):
    rows = pl.concat([rows for part in parts for rows in part.tables["labels"].values()]).filter(corpus=corpus)
    found = {}
    for sentence, split in rows.select("sentence", "split").iter_rows():
        found.setdefault(sentence, set()).add(split)
    assert all(len(splits) == 1 for splits in found.values()), "a text is in two splits"
    return {sentence: next(iter(splits)) for sentence, splits in found.items()}


def test_every_text_gets_a_split_in_about_the_shares_that_were_asked_for(tmp_path):
    (tmp_path / "papers.tsv").write_text(table(*texts(2000)))
    ingested = run(tmp_path, corpus())

    counts = Counter(splits_of(ingested).values())
    assert counts.total() == 2000
    assert abs(counts["dev"] - 400) < 60
    assert abs(counts["test"] - 600) < 60
    assert {split.split: split.new for split in ingested.report.splits} == counts


def test_a_text_keeps_its_split_when_the_corpus_grows_and_in_another_corpus(tmp_path):
    (tmp_path / "papers.tsv").write_text(table(*texts(60)))
    before = run(tmp_path, corpus())
    (tmp_path / "papers.tsv").write_text(table(*texts(40, first=200), *texts(60)))
    (tmp_path / "more.tsv").write_text(table(*texts(30, first=30)))
    after = run(tmp_path, corpus(), corpus("more.tsv", name="more"))

    assert splits_of(before).items() <= splits_of(after).items()
    assert splits_of(after, corpus="more").items() <= splits_of(after).items()


def test_another_seed_draws_other_texts(tmp_path):
    (tmp_path / "papers.tsv").write_text(table(*texts(100)))

    assert splits_of(run(tmp_path, corpus())) != splits_of(run(tmp_path, corpus(draw={**DRAW, "seed": 1})))


@given(st.text(min_size=1), st.integers(0, 9), st.floats(0.01, 0.45), st.floats(0.01, 0.45), st.floats(0.01, 0.09))
def test_larger_shares_take_texts_from_train_only(text, seed, dev, test, more):
    sentence = sentence_id(text)
    before = DrawSettings(dev=dev, test=test, seed=seed).split_of(sentence)
    after = DrawSettings(dev=dev + more / 2, test=test + more / 2, seed=seed).split_of(sentence)

    assert before in {after, "train"}


def test_a_text_with_other_blanks_or_composition_is_one_text_in_one_split(tmp_path):
    composed = "Das Café ist groß."
    (tmp_path / "papers.tsv").write_text(
        table((composed, "a"), (unicodedata.normalize("NFD", composed).replace(" ", "  "), "b"))
    )
    ingested = run(tmp_path, corpus(draw={"dev": 0.5}))

    assert len(splits_of(ingested)) == 1
    assert sum(len(rows) for rows in ingested.tables["labels"].values()) == 2


def spelt(text):
    return [text, text.lower(), text.upper(), text.replace(".", "!")]


def test_texts_that_differ_in_case_or_punctuation_alone_are_in_one_split_in_any_order_and_others_stay(tmp_path):
    rows = [(each, label) for text, label in texts(40) for each in spelt(text)] + texts(100, first=40)
    (tmp_path / "papers.tsv").write_text(table(*rows))
    found = splits_of(run(tmp_path, corpus()))

    by_itself = DrawSettings(**DRAW).split_of
    for text, _ in texts(40):
        ids = {sentence_id(each) for each in spelt(text)}
        assert {found[sentence] for sentence in ids} == {by_itself(min(ids))}, "in every store, by every version"
    assert {found[sentence_id(text)] for text, _ in texts(40)} == {"train", "dev", "test"}
    alone = [sentence_id(text) for text, _ in texts(100, first=40)]
    assert [found[sentence] for sentence in alone] == [by_itself(sentence) for sentence in alone]
    random.Random(1).shuffle(rows)
    (tmp_path / "papers.tsv").write_text(table(*rows))
    assert splits_of(run(tmp_path, corpus())) == found


@pytest.mark.parametrize("first_name", ["papers", "more"])
def test_a_text_is_in_the_same_split_in_corpora_drawn_alike_of_which_one_has_more_spellings_of_it(tmp_path, first_name):
    rows = texts(30)
    spellings = [(text.upper(), label) for text, label in rows]
    (tmp_path / "papers.tsv").write_text(table(*rows))
    (tmp_path / "more.tsv").write_text(table(*rows, *spellings))
    both = [corpus(), corpus("more.tsv", name="more")]
    together = run(tmp_path, *sorted(both, key=lambda each: each.name != first_name))

    assert splits_of(together).items() <= splits_of(together, corpus="more").items()
    (tmp_path / "papers.tsv").write_text(table(*rows[:15], *spellings[15:]))
    (tmp_path / "more.tsv").write_text(table(*rows, *spellings))
    first = run(tmp_path, corpus())
    later = run(tmp_path, *both, known=[first])
    of_papers, of_more = splits_of(first), splits_of(first, later, corpus="more")
    for (text, _), (spelt_so, _) in zip(rows, spellings, strict=True):
        (split,) = {of_papers[sentence] for sentence in map(sentence_id, (text, spelt_so)) if sentence in of_papers}
        assert of_more[sentence_id(text)] == of_more[sentence_id(spelt_so)] == split


def test_a_corpus_drawn_otherwise_does_not_follow_another(tmp_path):
    rows = texts(60)
    (tmp_path / "papers.tsv").write_text(table(*rows))
    (tmp_path / "more.tsv").write_text(table(*rows, *((text.upper(), label) for text, label in rows)))
    other = {**DRAW, "seed": 1}
    found = run(tmp_path, corpus(), corpus("more.tsv", name="more", draw=other))

    ids = [sentence_id(text) for text, _ in rows]
    assert splits_of(found) == {sentence: DrawSettings(**DRAW).split_of(sentence) for sentence in ids}
    assert splits_of(found, corpus="more") == splits_of(run(tmp_path, corpus("more.tsv", draw=other)))


def test_texts_of_punctuation_alone_are_texts_of_their_own(tmp_path):
    marks = ["?", "!", "...", "?!", "!!", ":-)", ";-)", "--", "(?)", "(!)", "*", "**"]
    (tmp_path / "papers.tsv").write_text(table(*((mark, "a") for mark in marks)))
    by_itself = DrawSettings(**DRAW).split_of
    ids = [sentence_id(mark) for mark in marks]
    assert splits_of(run(tmp_path, corpus())) == {sentence: by_itself(sentence) for sentence in ids}
    assert len({by_itself(sentence) for sentence in ids}) > 1


@pytest.mark.parametrize("then", [DRAW, {"dev": 0.45, "test": 0.1, "seed": 1}, None], ids=["same", "other", "no draw"])
def test_a_new_spelling_follows_the_stored_one_which_stays(tmp_path, then):
    (tmp_path / "papers.tsv").write_text(table(*texts(60)))
    first = run(tmp_path, corpus())
    (tmp_path / "papers.tsv").write_text(table(*((text.upper(), label) for text, label in texts(60)), *texts(60)))
    second = run(tmp_path, corpus(draw=then), known=[first])

    before, after = splits_of(first), splits_of(first, second)
    assert before.items() <= after.items()
    for text, _ in texts(60):
        assert after[sentence_id(text.upper())] == before[sentence_id(text)]
    again = run(tmp_path, corpus(draw=then), known=[first, second])
    assert again.tables == {"sentences": {}, "pairs": {}, "labels": {}}
    if then == DRAW:  # no setting has changed, so none of them is kept against the settings
        assert sum(split.kept for part in (second, again) for split in part.report.splits) == 0


@pytest.mark.parametrize("then", [DRAW, {"dev": 0.45, "test": 0.1}, None], ids=["same", "other shares", "no draw"])
def test_a_text_that_the_store_has_keeps_its_split_whatever_the_settings_say(tmp_path, then):
    (tmp_path / "papers.tsv").write_text(table(*texts(60)))
    first = run(tmp_path, corpus())
    (tmp_path / "papers.tsv").write_text(table(*texts(60), ("Text number 1.", "c"), *texts(60, first=60)))
    second = run(tmp_path, corpus(draw=then), known=[first])

    splits = splits_of(first, second)
    assert splits_of(first).items() <= splits.items()
    new = {sentence_id(text) for text, _ in texts(60, first=60)}
    drawn = (lambda _: "train") if then is None else DrawSettings(**then).split_of
    assert {sentence: splits[sentence] for sentence in new} == {sentence: drawn(sentence) for sentence in new}
    kept = sum(splits_of(first)[sentence] != drawn(sentence) for sentence in splits_of(first))
    assert sum(split.kept for split in second.report.splits) == kept


def test_a_split_with_a_file_of_its_own_keeps_its_texts_which_are_no_spellings_of_those_that_are_drawn(tmp_path):
    drawn, held_out = texts(60), [(text.upper(), label) for text, label in texts(30)]
    (tmp_path / "papers.tsv").write_text(table(*drawn))
    (tmp_path / "test.tsv").write_text(table(*held_out))
    files = {"train": "papers.tsv", "test": "test.tsv"}
    found = splits_of(run(tmp_path, CorpusSettings(dataset="texts", name="papers", files=files, draw={"dev": 0.4})))

    assert {found[sentence_id(text)] for text, _ in held_out} == {"test"}
    by_itself = DrawSettings(dev=0.4).split_of
    assert [found[sentence_id(text)] for text, _ in drawn] == [by_itself(sentence_id(text)) for text, _ in drawn]


def test_spellings_that_the_store_has_in_several_splits_stay_there_and_a_new_one_follows_the_first_split(tmp_path):
    rows = texts(30)
    both = [(each, label) for text, label in rows for each in (text, text.upper())]
    (tmp_path / "papers.tsv").write_text(table(*both))
    apart = run(tmp_path, corpus(), spellings="apart")
    (tmp_path / "papers.tsv").write_text(table(*both, *((text.lower(), label) for text, label in rows)))
    found, stored = splits_of(apart, run(tmp_path, corpus(), known=[apart])), splits_of(apart)

    for text, _ in rows:
        of_both = {stored[sentence_id(each)] for each in (text, text.upper())}
        assert found[sentence_id(text.lower())] == next(split for split in SPLITS if split in of_both)


def test_a_text_follows_a_corpus_drawn_alike_that_the_store_has_it_in(tmp_path):
    for file in ("papers.tsv", "more.tsv"):
        (tmp_path / file).write_text(table(*texts(60)))
    before = run(tmp_path, corpus("more.tsv", name="more"))
    anew = DRAW | {"seed": 1}
    after = run(tmp_path, corpus(draw=anew), corpus("more.tsv", name="more", draw=anew), known=[before])

    assert splits_of(after) == splits_of(before, corpus="more")


def test_the_guard_keeps_evaluation_texts_out_of_the_train_that_was_drawn(tmp_path):
    (tmp_path / "papers.tsv").write_text(table(*texts(40)))
    (tmp_path / "guarded.tsv").write_text(table(*texts(40)))
    guard = LeakageSettings(evaluation=[EvaluationSet(dataset="texts", name="guarded", file="guarded.tsv")])
    drawn = splits_of(run(tmp_path, corpus()))

    guarded = run(tmp_path, corpus(), leakage=guard)
    assert splits_of(guarded) == {sentence: split for sentence, split in drawn.items() if split != "train"}
    assert {reject.code for reject in guarded.rejects} == {RejectCode.LEAKED}


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"draw": {"dev": 0.5, "test": 0.5}}, WrongValue),
        ({"draw": {"dev": 1.5}}, WrongValue),
        ({"draw": {}}, EmptySetting),
        ({"files": {"train": "a.tsv", "dev": "b.tsv"}}, Conflict),
        ({"files": {"test": "a.tsv", "dev": "b.tsv"}}, Conflict),
        ({"dataset": "example", "files": {}}, Conflict),
        ({"dataset": "mr"}, Conflict),
        ({"dataset": "pairs", "draw": None, "columns": {"group": "topic"}}, Conflict),
    ],
    ids=["nothing left", "share", "no share", "file of dev", "no train", "package", "classes", "group alone"],
)
def test_a_draw_that_makes_no_sense_is_refused(given, fault):
    with refused(fault):
        CorpusSettings.model_validate({"dataset": "texts", "files": {"train": "a.tsv"}, "draw": DRAW} | given)


def test_keys_that_nothing_reads_are_told_where_their_rows_lack_one_that_is_read(tmp_path):
    rows = [
        '{"id": 1, "title": "We parse.", "task": "parsing", "area": "NLP"}',
        '{"id": 2, "title": "We tag.", "tasks": "tagging", "area": "ASR"}',
        '{"id": 3, "title": "We see.", "task": "tagging"}',  # that a row leaves out a key is no fault
        '{"id": 4, "titel": "We hear.", "task": "tagging", "area": "ASR"}',
        '{"id": 5, "title": "We know.", "tasks": "tagging"}',
        '{"id": 6, "title": "We rest."}',  # nor does this one have keys that nothing reads but the id
        '["We sing."]',  # a reject
    ]
    (tmp_path / "papers.jsonl").write_text("\n".join(rows) + "\n")
    papers = corpus("papers.jsonl", text="title", aspects={"task": "task", "area": "area"})

    report = run(tmp_path, papers).report
    title, key, task, area = map(str, report.faults)
    assert title.startswith("1 row of 'papers' lacks the key 'title', and there are keys that nothing reads and no row")
    assert "has: 'titel' (1), first in " in title
    assert key == (
        "3 rows of 'papers' lack the key 'task', and there are keys that nothing reads and no row with 'task' has: "
        "'tasks' (2), first in papers.jsonl:2. If one of them is 'task' misspelt, rename it in the file and build "
        "again."
    )
    # The fourth row has no text, the fifth and the sixth no label: they are rejects, and counted as such.
    assert task.startswith(
        "1 text has no label in the aspect 'task' among the 3 in the files of 'papers': what learns from it"
    )
    assert area.startswith("1 text has no label in the aspect 'area' among the 3 in the files of 'papers'")


def test_a_single_labelled_text_is_told_in_the_singular(tmp_path):
    (tmp_path / "papers.tsv").write_text("text\ttask\nText.\tparsing\n")
    (told,) = run(tmp_path, corpus(aspects={"task": "task"})).report.faults
    assert str(told).startswith("The only text of 'papers' with a label in the aspect 'task' has the label 'parsing': ")


def test_odd_labels_are_told_with_counts_and_examples(tmp_path):
    rows = ["text\tcountry\ttask\tarea"]
    rows += [f"Text {number}.\t{['USA|usa', 'usa', 'U SA', 'Japan'][number % 4]}\tparsing\t" for number in range(40)]
    (tmp_path / "papers.tsv").write_text("\n".join(rows) + "\n")
    aspects = {"country": "country", "task": "task", "area": "area"}

    spelt, single, none = map(str, run(tmp_path, corpus(aspects=aspects)).report.faults)
    assert spelt == (
        "3 labels of 'papers' in the aspect 'country' (given 40 times) differ from another only in case, spaces or a "
        "final .0, such as 'U SA' (10) and 'USA' (10) and 'usa' (20): they count as different labels. If they mean the "
        "same, write them alike in the file and build a new store; stored rows do not change."
    )
    assert single == (
        "All 40 texts of 'papers' with a label in the aspect 'task' have the same, 'parsing': there is nothing to "
        "learn; check the column, or leave the aspect out."
    )
    assert none == (
        "No text of 'papers' has a label in the aspect 'area': check the column that `aspects` names for it, or leave "
        "the aspect out."
    )


@pytest.mark.parametrize(("texts", "told"), [(9, 0), (10, 1)])
def test_labels_that_are_all_different_are_told_unless_they_are_few(tmp_path, texts, told):
    rows = [f"Text {number}.\tlabel {number}\n" for number in range(texts)]
    (tmp_path / "papers.tsv").write_text("text\ttask\n" + "".join(rows))
    assert len(run(tmp_path, corpus(aspects={"task": "task"})).report.faults) == told


def test_a_text_without_labels_is_a_reject_and_the_others_stay(tmp_path):
    (tmp_path / "papers.tsv").write_text("text\tlabel\nOne.\ta\nTwo.\t \nThree.\tb\n")
    ingested = run(tmp_path, corpus(draw=None))

    (reject,) = ingested.rejects
    assert reject.code == RejectCode.NO_LABEL
    assert reject.message == "papers.tsv:3: the text has no label in 'label'"
    assert ingested.report.splits[0].new == 2


def test_texts_that_are_in_train_and_test_are_told(tmp_path):
    (tmp_path / "papers.tsv").write_text(table(*texts(10)))
    both = CorpusSettings(dataset="texts", name="papers", files={"train": "papers.tsv"})
    again = CorpusSettings(dataset="texts", name="again", files={"test": "papers.tsv"})

    first = run(tmp_path, both, again)
    (overlap,) = first.report.faults
    assert str(overlap) == (
        "All 10 texts of test of 'again' are also in train of 'papers': encoders that learn from train leave these "
        "out; give each split its own texts."
    )
    known, names = Known(*stored(first)), ["papers", "again"]
    other = ingest([], LeakageSettings(), IngestSettings(), tmp_path, known, unread=names)
    assert other.report.shrunk == [], "of what is not read again nothing is missing"
    for split in ("train", "test"):
        (tmp_path / split).write_text("1 a film\n0 a bore\n")
    reviews = CorpusSettings(dataset="mr", files={"train": "train", "test": "test"})
    assert run(tmp_path, reviews).report.faults == [], "texts with one class may be repeated"


def test_texts_that_are_in_train_and_dev_in_whatever_spelling_are_told(tmp_path):
    (tmp_path / "train.tsv").write_text(table(*texts(10)))
    (tmp_path / "dev.tsv").write_text(table(*texts(30, first=9)))
    files = {"train": "train.tsv", "dev": "dev.tsv"}
    both = CorpusSettings(dataset="texts", name="papers", files=files)
    (overlap,) = run(tmp_path, both).report.faults
    assert str(overlap) == (
        "1 of 30 texts of dev of 'papers' is also in train of 'papers': encoders that learn from train leave it out; "
        "give each split its own texts."
    )

    (tmp_path / "dev.tsv").write_text(table(*texts(30, first=9), ("TEXT, number 1", "b"), ("TEXT, number 12", "a")))
    report = run(tmp_path, both).report
    overlap, fault = report.faults
    assert str(overlap) == (
        "2 of 32 texts of dev of 'papers' are also in train of 'papers' (1 with other case or punctuation): encoders "
        "that learn from train leave these out; give each split its own texts."
    )
    assert str(fault) == (
        "4 texts of 'papers' differ from another only in case or punctuation, such as 'Text number 1.' and 'TEXT, "
        "number 1': they count as different texts, and 2 have a spelling in another split. If they are the same, "
        "write them alike in the file and build a new store; stored rows do not change."
    )


def test_texts_in_several_spellings_are_told_with_the_place_where_they_differ(tmp_path):
    long = f"{'A long beginning, ' * 4}then a word and {'a long end ' * 4}"
    rows = [*texts(5), (long, "a"), (long.replace("word", "Word"), "b"), *texts(5)]
    (tmp_path / "papers.tsv").write_text(table(*rows))
    first = run(tmp_path, corpus())
    for each in (first, run(tmp_path, corpus(), known=[first])):
        (fault,) = each.report.faults
        assert str(fault) == (
            "2 texts of 'papers' differ from another only in case or punctuation, such as '…g beginning, then a "
            "word and a long end…' and '…g beginning, then a Word and a long end…': they count as different "
            "texts, and stay in one split. If they are the same, write them alike in the file and build a new store; "
            "stored rows do not change."
        )
    (tmp_path / "papers.tsv").write_text(table(*texts(5)))
    assert run(tmp_path, corpus()).report.faults == []
