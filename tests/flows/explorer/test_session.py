"""What the explorer does meanwhile: one job at a time, its result kept, encoders loaded and given back."""

import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import click
import polars as pl
import pytest

from features.core.faults import (
    Unexpected,
)
from flows.console.explaining import Explainer
from flows.console.here import Here
from flows.explorer import sentence, session
from flows.explorer.session import Background, Working


def test_a_page_says_what_is_being_done():
    background, begun, may_end = Background(), threading.Event(), threading.Event()

    def job(tell):
        tell("Reading line 7")
        begun.set()
        may_end.wait(60)
        return 7

    with pytest.raises(Working):
        background.result_of(("a",), job, "Reading", patience=0)
    assert begun.wait(60)
    with pytest.raises(Working, match=r"^Reading line 7$"):
        background.result_of(("a",), job, "Reading", patience=0)
    with pytest.raises(Working, match=r"^Waiting, .*: Reading line 7$"):
        background.result_of(("b",), lambda _: 8, "Waiting", patience=0)
    may_end.set()
    assert background.result_of(("a",), job, "Reading") == 7
    assert background.result_of(("b",), lambda _: 8, "Waiting") == 8


def test_a_failed_job_is_tried_again():
    background, answers = Background(), iter([ValueError("no"), 3])

    def job(_):
        if isinstance(answer := next(answers), Exception):
            raise answer
        return answer

    with pytest.raises(ValueError, match="no"):
        background.result_of(("a",), job, "Trying")
    assert background.result_of(("a",), job, "Trying") == 3


def test_a_panic_in_rust_ends_neither_the_thread_nor_the_connection(in_project, monkeypatch):
    def panic(*_):
        raise pl.exceptions.PanicException("index out of bounds")

    background = in_project.session.background
    with pytest.raises(pl.exceptions.PanicException):
        background.result_of(("a",), panic, "Trying", patience=5)
    assert background.result_of(("b",), lambda _: 2, "Trying", patience=60) == 2
    monkeypatch.setattr(sentence, "_row", panic)
    assert in_project.json("/sentence?text=Two+cats+look.", 500)["error"]["code"] == Unexpected.code


def test_a_result_is_kept_without_what_made_it():
    background, vectors = Background(), {1.0}
    assert background.result_of(("search", "a"), partial(lambda searched, _: len(searched), vectors), "Searching") == 1
    background.result_of(("search", "b"), lambda _: 2, "Searching")
    kept = weakref.ref(vectors)
    del vectors
    assert kept() is None


def test_encoders_of_before_are_given_back(monkeypatch):
    class Model:
        def __init__(self, *_):
            self.card = [self]
            loaded.add(self)

    loaded = weakref.WeakSet()
    monkeypatch.setattr(session, "Explainer", Model)
    asked = session.Session(Here(), None, command=click.Context(click.Command("explore")))
    for name in "abcdefgh":
        asked.explainer_of(name)
    assert len(loaded) == 3


def test_requests_at_once_for_other_encoders_each_have_their_own(monkeypatch):
    class Model:
        def __init__(self, _, name):
            self.name = name
            together.wait()

    names = [f"encoder-{number}" for number in range(24)]
    together = threading.Barrier(len(names))
    monkeypatch.setattr(session, "Explainer", Model)
    asked = session.Session(Here(), None, command=click.Context(click.Command("explore")))
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(names)) as threads:
            assert [each.name for each in threads.map(asked.explainer_of, names)] == names
    finally:
        sys.setswitchinterval(usual)


def test_an_encoder_whose_words_have_shares_is_loaded_once(anywhere):
    explainer = Explainer(anywhere.session.here, None)
    explainer.explain([("Two cats look.", "A cat looks.")], measure=False, facet="sentence")
    assert explainer.reader is explainer.model
