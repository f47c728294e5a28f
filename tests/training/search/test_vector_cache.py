"""The cache of text vectors: each text is embedded once, whatever is killed when."""

import os
import time

import numpy as np
import pytest
from sentences import refused

from features.core.faults import EncoderDamaged
from training.search import vectors
from training.search.vectors import FOLDER, cached_vectors


class Embedder:
    """An encoder that counts what it embeds; a text's vector depends on its characters; two texts at a time."""

    def __init__(self, fails_at=None):
        self.asked = []
        self._fails_at = fails_at

    def __call__(self, texts):
        for start in range(0, len(texts), 2):
            if self._fails_at is not None and start >= self._fails_at:
                raise KeyboardInterrupt
            some = texts[start : start + 2]
            self.asked += some
            yield vectors_of(some)


def vectors_of(texts):
    """Return a vector for each text."""
    return np.array([[len(text), sum(map(ord, text))] for text in texts], dtype=np.float32)


def parts_in(runs):
    """Return the files of vectors."""
    return sorted((runs / FOLDER).rglob("*.npz"), key=lambda part: part.stat().st_mtime_ns)


@pytest.fixture
def search(tmp_path, word_encoder):
    """Return a function that embeds texts and returns those that were not cached."""

    def embed(*texts, task=None, runs=tmp_path, encoder=word_encoder, fails_at=None):
        embedder = Embedder(fails_at)
        found = cached_vectors(runs, encoder, task, texts, embedder)
        np.testing.assert_array_equal(found, vectors_of(texts))
        return embedder.asked

    return embed


def test_a_text_is_embedded_once_by_an_encoder_and_route(search, tmp_path):
    assert search("a", "b") == ["a", "b"]
    assert search("b", "a") == []
    assert search("b", "c", "a", "c", "ab") == ["c", "ab"]  # a file that has grown, with a text twice
    assert search("a", task="country") == ["a"]
    assert search("a", runs=tmp_path / "others") == ["a"]


def test_another_encoder_has_vectors_of_its_own(search, routed_encoder):
    assert search("a") == ["a"]
    assert search("a", encoder=routed_encoder) == ["a"]
    assert search("a") == []


def test_without_a_folder_or_where_none_can_be_made_all_is_embedded(search, tmp_path):
    (tmp_path / "file").write_text("")
    for runs in (None, tmp_path / "file"):
        assert search("a", "a", "b", runs=runs) == ["a", "b"]
        assert search("a", runs=runs) == ["a"]


def test_an_interrupted_search_goes_on_where_it_stopped(search):
    with pytest.raises(KeyboardInterrupt):
        search(*"abcdef", fails_at=4)
    assert search(*"abcdef") == ["e", "f"]


def test_vectors_are_written_while_they_are_computed(search, tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_WRITTEN_EVERY", -1.0)
    monkeypatch.setattr(vectors._Cache, "_tidy", lambda _: None)
    search(*"abcde")
    assert len(parts_in(tmp_path)) == 3  # a kill would have cost the two texts in work
    assert search(*"edcba") == []


@pytest.mark.parametrize("left", [0, 20, 200], ids=["empty", "cut", "cut late"])
def test_a_damaged_part_is_made_again(search, tmp_path, left):
    search("a", "b")
    (part,) = parts_in(tmp_path)
    part.write_bytes(part.read_bytes()[:left])
    assert search("a", "b") == ["a", "b"]
    assert len(parts_in(tmp_path)) == 1
    assert search("a", "b") == []


def test_a_flipped_bit_is_found(search, tmp_path):
    search("a", "b")
    (part,) = parts_in(tmp_path)
    content = bytearray(part.read_bytes())
    place = content.find(vectors_of(["a"]).tobytes())
    content[place] ^= 1
    part.write_bytes(content)
    assert search("c") == ["c"]
    assert part in parts_in(tmp_path)  # vectors that nobody wants are not read
    assert search("a", "b") == ["a", "b"]
    assert part not in parts_in(tmp_path)


def test_many_small_parts_become_one(search, tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_MOST_SMALL", 3)
    for text in "abc":
        search(text)
    assert len(parts_in(tmp_path)) == 3
    search("d")
    assert len(parts_in(tmp_path)) == 1
    assert search(*"abcd") == []


def test_parts_stay_where_there_is_no_space_for_all_in_one(search, tmp_path, monkeypatch):
    save = vectors._save
    monkeypatch.setattr(vectors, "_MOST_SMALL", 1)
    monkeypatch.setattr(
        vectors, "_save", lambda folder, keys, some: save(folder, keys, some) if len(keys) < 2 else set()
    )
    search("a")
    search("b")
    assert len(parts_in(tmp_path)) == 2
    assert search("a", "b") == []


def test_parts_that_were_unused_for_longest_go_when_there_is_too_much(search, tmp_path, monkeypatch):
    search("a")
    (first,) = parts_in(tmp_path)
    monkeypatch.setattr(vectors, "_MOST_BYTES", 2 * first.stat().st_size)
    now = time.time()
    os.utime(first, (now - 300, now - 300))
    search("b")
    (second,) = set(parts_in(tmp_path)) - {first}
    os.utime(second, (now - 200, now - 200))
    assert search("a") == []  # used again: the second is the next to go
    search("c")
    assert second not in parts_in(tmp_path)
    assert search("a", "c") == []


def test_what_one_search_needs_stays_also_above_the_limit(search, monkeypatch):
    monkeypatch.setattr(vectors, "_MOST_BYTES", 1)
    search("a")
    assert search("a", "b") == ["b"]
    assert search("a", "b") == []


def test_what_killed_searches_left_is_removed_and_what_others_write_is_not(search, tmp_path):
    search("a")
    folder = parts_in(tmp_path)[0].parent
    dead = folder / ".abc.npz.1f.tmp"
    dead.write_text("a search was killed here")
    search("b")
    assert not dead.exists()


def test_files_of_others_stay_where_the_folder_leads_to_theirs(search, tmp_path, monkeypatch):
    search("a")
    folder = parts_in(tmp_path)[0].parent
    theirs = [folder / "results.npz", folder / ".notes.tmp"]
    for file in theirs:
        file.touch()
    monkeypatch.setattr(vectors, "_MOST_BYTES", 1)
    search("b")
    assert all(file.exists() for file in theirs)


def test_embeddings_that_are_not_finite_are_refused_and_not_cached(tmp_path, word_encoder):
    with refused(EncoderDamaged):
        cached_vectors(tmp_path, word_encoder, None, ["a"], lambda _: [np.array([[np.nan, 1]], np.float32)])
    assert parts_in(tmp_path) == []
