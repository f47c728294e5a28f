"""What decides whether a corpus is read again: everything that its rows depend on, and nothing that is unknown."""

import os
from types import SimpleNamespace

import pytest

from features.core.types import RejectCode
from features.corpora.settings import CorpusSettings, EvaluationSet, IngestSettings, LeakageSettings
from features.corpora.sources import Digests
from features.ingest import unread
from features.ingest.report import IngestReport, SplitReport
from features.ingest.unread import Memory, drawn_from, keys_of, rejects_of, state_of
from features.schemas import Reject

ROWS = "sentence_a\tsentence_b\nA cat.\tA dog.\n"


@pytest.fixture
def keys(tmp_path):
    """Return a function that returns the keys of two corpora, the files of one of which a pattern names."""
    (tmp_path / "one-1.tsv").write_text(ROWS)
    (tmp_path / "two.tsv").write_text(ROWS)
    (tmp_path / "held.tsv").write_text(ROWS)
    corpora = [
        CorpusSettings(dataset="pairs", name=name, files={"train": file})
        for name, file in (("one", "one*.tsv"), ("two", "two.tsv"))
    ]

    def of(mode="drop", max_words=4):
        guard = LeakageSettings(mode=mode, evaluation=(EvaluationSet(dataset="pairs", name="held", file="held.tsv"),))
        return keys_of(corpora, guard, IngestSettings(max_words=max_words), tmp_path, Digests({}))

    return of


def test_all_corpora_are_read_again_where_what_they_share_has_changed(keys, tmp_path, monkeypatch):
    found = [keys(), keys(mode="report"), keys(max_words=5)]
    (tmp_path / "held.tsv").write_text(ROWS.replace("dog", "bird"))
    found.append(keys())
    monkeypatch.setattr(unread.importlib.metadata, "version", lambda _: "another")
    found.append(keys())
    for name in ("one", "two"):
        assert len({each[name] for each in found}) == 5


def test_a_corpus_alone_is_read_again_where_its_rows_or_the_name_of_their_file_have_changed(keys, tmp_path):
    before = keys()
    (tmp_path / "two.tsv").write_text(ROWS.replace("dog", "bird"))
    (tmp_path / "one-1.tsv").rename(tmp_path / "one-2.tsv")  # as messages say it
    after = keys()
    assert all(before[name] != after[name] for name in ("one", "two"))
    (tmp_path / "one-2.tsv").rename(tmp_path / os.fsdecode(b"one-\xff.tsv"))
    assert keys()["two"] == after["two"]
    (tmp_path / os.fsdecode(b"one-\xff.tsv")).unlink()
    assert keys().keys() == {"two"}, "the other cannot be read"


def test_a_corpus_that_cannot_be_read_is_read_again_which_says_why():
    corpus = CorpusSettings(dataset="pairs", name="one", files={"train": "one.tsv"})
    assert Memory().unchanged([corpus], {}) == []
    assert Memory(keys={"one": "key"}).unchanged([corpus], {"one": "key"}) == ["one"]


def test_rejects_are_those_of_the_corpora_in_their_order():
    rejects = [Reject(f"row {number}", RejectCode.LEAKED, "why") for number in range(4)]
    splits = [SplitReport(corpus="one", split="train", rejected=1, dropped=1), SplitReport(corpus="two", split="dev")]
    splits += [SplitReport(corpus="one", split="test", joining=1), SplitReport(corpus="two", split="train", dropped=1)]
    report = IngestReport(splits=splits)
    assert rejects_of(report, ["one", "two"], rejects) == {"one": rejects[:3], "two": rejects[3:]}


def test_a_store_has_another_state_where_any_shard_or_reject_of_ingest_is_another():
    def stores(mark="a", rejected="b", of_a_stage="c"):
        def file(fingerprint):
            return SimpleNamespace(fingerprint=fingerprint)

        rejects = {("ingest", "ingest"): file(rejected), ("amr", "sentences-00000"): file(of_a_stage)}
        return SimpleNamespace(committed=lambda _: {"shard-00000": file(mark)}, rejected=lambda: rejects)

    assert len({state_of(stores()), state_of(stores(mark="d")), state_of(stores(rejected="d"))}) == 3
    assert state_of(stores(of_a_stage="d")) == state_of(stores())
    drawn = {drawn_from(stores(), ["one"]), drawn_from(stores(), ["two"]), drawn_from(stores(mark="d"), ["one"])}
    assert len(drawn) == 3
