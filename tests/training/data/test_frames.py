"""Semantic roles of training sentences: found, exported, identified, and read from a store."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from sentences import refused

from features.core.faults import ReleaseLacks, SeveralParsers
from features.stages.stage import Recipe
from training.data.parses import Frames
from training.jobs import Source

TAGGER = "srl_bert/embedded"
TEXTS = {"s1": "A man sleeps", "s2": "Men rest", "s3": "too long to be parsed"}
FRAMES = {
    "s1": {"words": ["A", "man", "sleeps"], "predicates": [2], "span_frames": [0, 0], "span_labels": ["ARG0", "V"]}
    | {"span_starts": [0, 2], "span_ends": [2, 3]},
    "s2": {"words": ["Men", "rest"], "predicates": [], "span_frames": [], "span_labels": []}
    | {"span_starts": [], "span_ends": []},
}
TAGGING = Recipe("srl", {"max_words": 77, "predicates": "spacy", "precision": "float32"}, weights="abc")


@pytest.fixture
def frames():
    rows = [{"text": TEXTS[name], **row} for name, row in FRAMES.items()]
    schema = {"span_frames": pl.List(pl.Int32), "predicates": pl.List(pl.Int32), "span_labels": pl.List(pl.String)}
    return Frames(pl.DataFrame(rows, schema_overrides=schema).sort("text"), TAGGER, "abc", "tagger", "auto", 512)


def rows_of(tagger):
    return [{"sentence_id": name, "parser": tagger if name == "s1" else TAGGER, **row} for name, row in FRAMES.items()]


def test_a_sentence_finds_its_frames_and_one_that_was_rejected_none(frames):
    # Without a predicate is no reject.
    assert frames.find([TEXTS["s2"], TEXTS["s3"], TEXTS["s1"]]) == [FRAMES["s2"], None, FRAMES["s1"]]
    assert (frames.tagger, frames.roles) == ("embedded", ["ARG0", "V"])


def test_an_export_is_read_as_it_was_for_the_sentences_that_are_asked_for(frames, tmp_path):
    frames.export(tmp_path / "frames.parquet")
    found = Source(frames=tmp_path / "frames.parquet").read_parses(Frames, list(TEXTS.values()))
    assert found.digest() == frames.digest()
    assert (found.weights, found.predicates_by, found.max_words) == ("abc", "tagger", 512)
    assert len(Frames.from_file(tmp_path / "frames.parquet", [TEXTS["s2"]])) == 1


def test_an_export_of_two_taggers_is_refused(frames, tmp_path):
    parts = [tmp_path / "one.parquet", tmp_path / "other.parquet"]
    for one, path in zip((frames, replace(frames, weights="def")), parts, strict=True):
        one.export(path)
    pl.concat(map(pl.read_parquet, parts)).write_parquet(tmp_path / "both.parquet")
    with refused(SeveralParsers):
        Frames.from_file(tmp_path / "both.parquet", list(TEXTS.values()))


def test_the_digest_changes_with_any_span_and_with_the_tagger(frames):
    changed = [
        frames.table.with_columns(span_ends=pl.Series([[1, 3], []], dtype=pl.List(pl.Int64))),
        frames.table.with_columns(predicates=pl.Series([[], [2]], dtype=pl.List(pl.Int32))),  # of the other sentence
        frames.table.with_columns(span_labels=pl.Series([["ARG1", "V"], []], dtype=pl.List(pl.String))),
    ]
    others = [replace(frames, table=table) for table in changed]
    others += [replace(frames, weights="d"), replace(frames, predicates_by="spacy"), replace(frames, max_words=1)]
    assert len({one.digest() for one in (frames, *others)}) == 7


def test_frames_of_a_release_are_those_of_its_table(make_parsed_store, tmp_path):
    store = make_parsed_store(tmp_path, TAGGING, rows_of(TAGGER))
    found = Source(store=Path(store.location)).read_parses(Frames, list(TEXTS.values()))
    assert (found.parser, found.weights, found.predicates_by) == (TAGGER, "abc", "spacy")
    assert (found.precision, found.max_words) == ("float32", 77)
    assert found.find(list(TEXTS.values())) == [FRAMES["s1"], FRAMES["s2"], None]
    with refused(ReleaseLacks):
        Frames.from_store(store.location, [TEXTS["s3"]])


def test_a_release_without_roles_or_with_those_of_two_taggers_is_refused(make_parsed_store, tmp_path):
    without = make_parsed_store(tmp_path / "without", TAGGING)
    mixed = make_parsed_store(tmp_path / "mixed", TAGGING, rows_of("srl_bert/other"))
    with refused(ReleaseLacks):
        Frames.from_store(without.location, [TEXTS["s1"]])
    with refused(SeveralParsers):
        Frames.from_store(mixed.location, list(TEXTS.values()))
