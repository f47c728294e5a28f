"""Leases in an object storage: one holder at a time, and a killed one, whatever the clocks say, loses its own."""

import threading

import pytest
from sentences import refused

from features.core.faults import AnotherProcess
from features.store import object_storage, storage
from features.store.object_storage import ObjectStorage


@pytest.fixture
def quick(monkeypatch):
    """Let leases beat quickly."""
    for module in (storage, object_storage):
        monkeypatch.setattr(module, "HEARTBEAT", 0.2)
    monkeypatch.setattr(object_storage, "EXPIRY", 1.0)


def test_one_process_at_a_time_holds_a_lease(url, place, quick):
    other = ObjectStorage(url)
    assert place.lease_of("lease") is None
    with place.lease("lease", "host:1", "A build works"):
        assert (place.lease_of("lease").holder, place.lease_of("lease").ended) == ("host:1", False)
        with (
            pytest.raises(AnotherProcess, match=r"A build works \(process host:1\)"),
            other.lease("lease", "h", "A build works"),
        ):
            pass
    assert place.lease_of("lease").ended
    with other.lease("lease", "host:2", "A build works"):
        assert place.lease_of("lease").holder == "host:2"


def test_a_lease_that_another_was_about_to_take_is_not_told_as_missing(server, place):
    server.fail(("PUT /bucket/some/prefix/lease", "409", 1))
    with pytest.raises(AnotherProcess), place.lease("lease", "host:1", "A build works"):
        pass


def test_a_lease_that_cannot_be_read_says_nothing_of_its_holder(server, place):
    with place.lease("lease", "host:1", "A build works"):
        server.fail(("GET /bucket/some/prefix/lease", "403", 1))
        with pytest.raises(OSError, match="403"):
            place.lease_of("lease")


def test_a_lease_whose_holder_was_killed_is_taken_over_whatever_the_clocks_say(place, quick):
    killed = object_storage._HeldLease(place, "lease", {"holder": "dead:1", "token": "x"})
    waits = []
    killed.take("A build works", waits.append)  # and never renewed
    assert waits == []
    with place.lease("lease", "host:2", "A build works", waits.append):
        assert place.lease_of("lease").holder == "host:2"
    (sentence,) = waits
    assert "Waiting up to 1 s to see whether the process dead:1" in sentence
    with place.lease("lease", "host:3", "A build works", waits.append):
        assert len(waits) == 1, "one that was given back needs no wait"


def test_a_holder_that_was_cut_off_learns_that_its_lease_is_gone(place, quick):
    def be_cut_off() -> None:
        with place.lease("lease", "host:1", "A build works"):
            place.put("lease", b'{"holder": "host:2", "token": "other", "beat": 1}')
            threading.Event().wait(1.0)

    with refused(AnotherProcess):
        be_cut_off()
    assert place.lease_of("lease").holder == "host:2", "what it lost, it does not give back"


def test_a_holder_that_lost_its_lease_since_it_last_renewed_it_learns_so_at_its_end(place):
    with pytest.raises(AnotherProcess), place.lease("lease", "host:1", "A build works"):
        place.put("lease", b'{"holder": "host:2", "token": "other", "beat": 1}')


def test_who_takes_a_lease_and_gets_no_answer_does_not_take_itself_for_another(server, place, monkeypatch):
    waits, put = [], ObjectStorage._put

    def unanswered(self, *given, **named):
        server.fail(("PUT", "lost", 1))
        return put(self, *given, **named)

    monkeypatch.setattr(ObjectStorage, "_put", unanswered)
    for _ in ("a new one", "one that was given back"):
        with place.lease("lease", "host:1", "A build works", waits.append):
            pass
        assert place.lease_of("lease").ended
    assert waits == []


def test_a_holder_whose_answers_get_lost_keeps_its_lease(server, place, quick):
    with place.lease("lease", "host:1", "A build works"):
        server.fail(("PUT /bucket/some/prefix/lease", "lost", 2))
        threading.Event().wait(1.5)
    assert place.lease_of("lease").ended
