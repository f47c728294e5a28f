import json
import sys
import tracemalloc
from pathlib import Path

import pytest
from sentences import refused

from features.core.faults import LibraryMissing, ModelDamaged
from features.models import locate
from features.parsers.wordpieces import Wordpieces

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cat", "##s", "me", "##ow", "##owed", "the", "The", "e", "##-", "##mail"]


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return path


def names(wordpieces: Wordpieces, *words: str) -> list[str]:
    return [PIECES[i] for i in wordpieces.cut(words).ids]


def test_longest_pieces_come_first(vocabulary):
    assert names(Wordpieces.of_vocabulary(vocabulary, lowercase=True), "The", "cats", "meowed") == [
        *("[CLS]", "the", "cat", "##s", "me", "##owed", "[SEP]")
    ]


def test_positions_of_words(vocabulary):
    pieces = Wordpieces.of_vocabulary(vocabulary, lowercase=True).cut(["The", "cats", "meowed"])
    assert (pieces.starts, pieces.ends) == ((1, 2, 4), (1, 3, 5))


def test_a_cased_model_keeps_case(vocabulary):
    assert names(Wordpieces.of_vocabulary(vocabulary, lowercase=False), "The", "CAT") == [
        "[CLS]",
        "The",
        "[UNK]",
        "[SEP]",
    ]


def test_a_word_is_not_split_at_its_punctuation(vocabulary):
    wordpieces = Wordpieces.of_vocabulary(vocabulary, lowercase=True)
    assert names(wordpieces, "e-mail") == ["[CLS]", "e", "##-", "##mail", "[SEP]"]
    assert names(wordpieces, "cat.") == ["[CLS]", "[UNK]", "[SEP]"]


def test_a_very_long_word_is_unknown(vocabulary):
    assert names(Wordpieces.of_vocabulary(vocabulary, lowercase=True), "cat" + "s" * 98) == ["[CLS]", "[UNK]", "[SEP]"]


def test_words_of_white_space_have_no_piece(vocabulary):
    pieces = Wordpieces.of_vocabulary(vocabulary, lowercase=True).cut(["the", " ", "cat"])
    assert len(pieces.ids) == 4


def test_the_words_of_a_large_corpus_are_not_all_kept(vocabulary, monkeypatch):
    monkeypatch.setattr("features.parsers.wordpieces._KEPT", 10)
    wordpieces = Wordpieces.of_vocabulary(vocabulary, lowercase=True)
    tracemalloc.start()
    for number in range(1000):
        wordpieces.cut([f"{number:0>1000}"])
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000


def test_a_file_that_is_no_vocabulary_is_refused(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    with refused(ModelDamaged):
        Wordpieces.of_vocabulary(tmp_path / "vocab.txt", lowercase=True)
    with refused(ModelDamaged):
        Wordpieces.of_vocabulary(tmp_path / "none.txt", lowercase=True)
    with refused(ModelDamaged):
        Wordpieces.of_encoder(tmp_path)
    other = {"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "a", "max_input_chars_per_word": 9}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": other | {"continuing_subword_prefix": "##"}}))
    with refused(ModelDamaged):
        Wordpieces.of_encoder(tmp_path)


def test_words_without_punctuation_are_cut_as_bert_does(encoder_name):
    """The library's tokenizer splits at punctuation first; on plain words both must agree."""
    from transformers import BertTokenizerFast

    folder = locate(encoder_name)
    theirs = BertTokenizerFast.from_pretrained(folder)
    ours = Wordpieces.of_vocabulary(folder / "vocab.txt", lowercase=True)
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = [f"{word}{ending}" for word in list(vocabulary)[2000:24000:97] for ending in ("", "s", "ising")]
    words = [word for word in words if word.isascii() and word.isalpha()]
    assert len(words) > 300
    assert list(ours.cut(words).ids) == theirs(" ".join(words), truncation=False)["input_ids"]


def test_an_encoder_cuts_words_as_its_own_tokenizer_does(tiny_encoder):
    pieces = Wordpieces.of_encoder(tiny_encoder)
    letters = [pieces.vocabulary[piece] for piece in ("e", "-", "m")]
    assert pieces.cut(["É-m"]).ids[1:-1] == tuple(letters)
    assert pieces.cut([" "]).ids[1:-1] == ()


def test_of_a_word_so_many_pieces_are_taken_and_one_without_any_is_unknown(vocabulary):
    wordpieces = Wordpieces.of_vocabulary(vocabulary, lowercase=True)
    pieces = wordpieces.cut(["e-mail", " ", "the"], most=2)
    assert [PIECES[i] for i in pieces.ids] == ["[CLS]", "e", "##-", "[UNK]", "the", "[SEP]"]
    assert (pieces.starts, pieces.ends) == ((1, 3, 4), (2, 3, 4))


def test_without_tokenizers_the_user_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)  # as where torch alone was added
    with refused(LibraryMissing):
        Wordpieces.of_encoder(tmp_path)
