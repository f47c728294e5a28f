"""The training of a tagger on a toy language: it learns, resumes, and says what it made."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from features.errors import InputError, SettingsError
from features.parsers.srl.conll import read_annotated
from features.parsers.srl.evaluation import evaluate
from features.parsers.srl.parser import load_tagger
from features.parsers.srl.wordpieces import Wordpieces
from training.parsers.srl import train as srl_train
from training.parsers.srl.examples import IGNORED, batches, label_names, marked, stack, unmarked
from training.parsers.srl.settings import SrlTrainingSettings
from training.process import reported

ROW = "{0}\t{1}\t{1}\tX\t*\t{2}\t{2}\t{3}"
NOUNS, VERBS = ("cat", "dog", "boy", "girl"), ("sees", "hears", "likes")
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", "and", *NOUNS, "see", "##s", "hears", "likes"]


def toy_sentence(subject: str, verb: str, thing: str) -> str:
    words = (("the", "(ARG0*"), (subject, "*)"), (verb, "(V*)"), ("a", "(ARG1*"), (thing, "*)"))
    rows = [ROW.format(i + 1, word, verb if word == verb else "-", cell) for i, (word, cell) in enumerate(words)]
    return "\n".join(rows) + "\n\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "toy.conll"
    path.write_text("".join(toy_sentence(s, v, o) for s in NOUNS for v in VERBS for o in NOUNS if s != o))
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("base") / "tiny-uncased"
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(PIECES), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


@pytest.fixture
def settings(base: Path) -> SrlTrainingSettings:
    return SrlTrainingSettings(
        falling=1.0,
        base=str(base),
        epochs=3,
        learning_rate=5e-3,
        head_learning_rate=2e-2,
        warm_up=5,
        batch_pieces=64,
        unmarked=1.0,
        threads=1,
        precision="float32",
        checkpoint_every=4,
        log_every=2,
    )


def weights(folder: Path) -> bytes:
    return (folder / "weights.safetensors").read_bytes()


def test_it_learns_the_toy_language(settings, corpus, tmp_path):
    folder = srl_train.train(settings.model_copy(update={"epochs": 12}), corpus, corpus, tmp_path / "run", "made up")
    scores = evaluate(load_tagger(folder), list(read_annotated(corpus)))
    assert scores["gold_predicates"]["f1"] == 1
    assert scores["own_predicates"]["f1"] == 1
    assert scores["predicates"]["f1"] == 1
    card = (folder / "README.md").read_text()
    assert "36 sentences, 36 predicates" in card
    assert "made up" in card
    assert "| arguments, own predicates | 1.0000 |" in card
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


def test_the_same_seed_gives_the_same_tagger(settings, corpus, tmp_path):
    first = srl_train.train(settings, corpus, corpus, tmp_path / "first", "")
    second = srl_train.train(settings, corpus, corpus, tmp_path / "second", "")
    other = srl_train.train(settings.model_copy(update={"seed": 1}), corpus, corpus, tmp_path / "other", "")
    assert weights(first) == weights(second) != weights(other)


class StoppedError(Exception):
    pass


def stop_after(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Let a training break off in its n-th step."""
    from training.parsers.srl.loop import Loop

    made, step = iter(range(steps)), Loop._step

    def counted(self, batch):
        if next(made, None) is None:
            raise StoppedError
        return step(self, batch)

    monkeypatch.setattr(Loop, "_step", counted)


def test_it_goes_on_after_an_interruption(settings, corpus, tmp_path, monkeypatch):
    whole = srl_train.train(settings, corpus, corpus, tmp_path / "whole", "")
    with monkeypatch.context() as patch:
        stop_after(patch, 9)
        with pytest.raises(StoppedError):
            srl_train.train(settings, corpus, corpus, tmp_path / "broken", "")
    assert weights(srl_train.train(settings, corpus, corpus, tmp_path / "broken", "")) == weights(whole)


def test_a_signal_waits_for_the_checkpoint_of_its_step(settings, corpus, tmp_path, monkeypatch):
    import torch

    from training.parsers.srl.loop import Loop

    steps = []
    step = Loop._step

    def ended(self, batch):
        steps.append(batch)
        if len(steps) == 7:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, batch)

    monkeypatch.setattr(Loop, "_step", ended)
    run = tmp_path / "run"
    assert reported(lambda: srl_train.train(settings, corpus, corpus, run, "")) == 128 + signal.SIGTERM
    assert torch.load(run / "checkpoint.pt", weights_only=True)["step"] == 7


def test_its_length_may_change_until_the_rate_falls(settings, corpus, tmp_path, monkeypatch):
    shorter = settings.model_copy(update={"epochs": 2})
    straight = srl_train.train(shorter, corpus, corpus, tmp_path / "straight", "")
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        with pytest.raises(StoppedError):
            srl_train.train(settings, corpus, corpus, tmp_path / "changed", "")
    assert weights(srl_train.train(shorter, corpus, corpus, tmp_path / "changed", "")) == weights(straight)


def test_its_length_may_not_change_after_that(settings, corpus, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 22)
        with pytest.raises(StoppedError):
            srl_train.train(settings, corpus, corpus, tmp_path / "run", "")
    with pytest.raises(SettingsError, match="cannot go on with 2 epochs"):
        srl_train.train(settings.model_copy(update={"epochs": 2}), corpus, corpus, tmp_path / "run", "")


def test_another_training_in_the_folder_is_refused(settings, corpus, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 5)
        with pytest.raises(StoppedError):
            srl_train.train(settings, corpus, corpus, tmp_path / "run", "")
    with pytest.raises(SettingsError, match="made with other settings"):
        srl_train.train(settings.model_copy(update={"seed": 5}), corpus, corpus, tmp_path / "run", "")


def test_a_finished_training_is_left_alone(settings, corpus, tmp_path, monkeypatch):
    folder = srl_train.train(settings, corpus, corpus, tmp_path / "run", "")
    stop_after(monkeypatch, 0)
    assert srl_train.train(settings, corpus, corpus, tmp_path / "run", "") == folder


def test_a_file_without_frames_is_refused(settings, corpus, tmp_path):
    (tmp_path / "empty.conll").write_text("1\tYes\tyes\tUH\t*\t-\t-\n")
    with pytest.raises(InputError, match="no frame to learn from"):
        srl_train.train(settings, tmp_path / "empty.conll", corpus, tmp_path / "run", "")


def test_the_command(base, corpus, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    files = ["--train", str(corpus), "--dev", str(corpus), "--output", str(tmp_path / "run"), "--base", str(base)]
    assert srl_train.main([*files, "--epochs", "1", "--threads", "1", "--precision", "float32"]) == 0
    report = json.loads((tmp_path / "run" / "tagger" / "training.json").read_text())
    assert report["settings"]["epochs"] == 1
    assert srl_train.main([*files, "--epochs", "none"]) == 1
    assert "--epochs is wrong" in capsys.readouterr().err
    assert srl_train.main([*files, "--base", str(tmp_path / "missing")]) == 1
    assert "error: " in capsys.readouterr().err


def test_pieces_carry_the_tags_of_their_words(base, corpus):
    sentence = next(sentence for sentence in read_annotated(corpus) if "sees" in sentence.words)
    wordpieces = Wordpieces(base / "vocab.txt", lowercase=True)
    labels = label_names([sentence])
    assert labels == ("O", "B-ARG0", "I-ARG0", "B-ARG1", "I-ARG1", "B-V", "I-V")
    (example,) = marked(sentence, wordpieces, labels, 64)
    names = [labels[tag] for tag in example.tags]
    assert names == ["O", "B-ARG0", "I-ARG0", "B-V", "I-V", "B-ARG1", "I-ARG1", "O"]
    assert example.types.tolist() == [0, 0, 0, 1, 1, 0, 0, 0]
    assert example.predicates.tolist() == [IGNORED, 0, 0, IGNORED, IGNORED, 0, 0, IGNORED]
    nothing = unmarked(sentence, wordpieces, 64)
    assert nothing.predicates.tolist() == [IGNORED, 0, 0, 1, IGNORED, 0, 0, IGNORED]
    assert not nothing.types.any()
    assert (nothing.tags == IGNORED).all()


def test_long_sentences_keep_the_pieces_around_the_predicate(base, tmp_path):
    rows = [ROW.format(i + 1, "cat", "-", "*") for i in range(40)]
    rows[30] = ROW.format(31, "sees", "see", "(V*)")
    (tmp_path / "long.conll").write_text("\n".join(rows) + "\n")
    (sentence,) = read_annotated(tmp_path / "long.conll")
    wordpieces = Wordpieces(base / "vocab.txt", lowercase=True)
    (example,) = marked(sentence, wordpieces, label_names([sentence]), 16)
    assert len(example) == 16
    assert example.types.sum() == 2
    assert (PIECES[example.ids[0]], PIECES[example.ids[-1]]) == ("[CLS]", "[SEP]")
    assert len(unmarked(sentence, wordpieces, 16)) == 16


def test_every_sequence_is_in_one_batch_of_the_size():
    lengths = np.random.default_rng(0).integers(3, 60, 500)
    found = batches(lengths, batch_pieces=256, seed=(0, 1))
    assert sorted(np.concatenate(found).tolist()) == list(range(500))
    for batch in found:
        padded = -(-lengths[batch].max() // 8) * 8
        assert len(batch) == 1 or len(batch) * padded <= 256
    assert [batch.tolist() for batch in found] == [b.tolist() for b in batches(lengths, batch_pieces=256, seed=(0, 1))]
    assert [batch.tolist() for batch in found] != [b.tolist() for b in batches(lengths, batch_pieces=256, seed=(0, 2))]


def test_a_batch_is_padded_to_eight(base, corpus):
    sentence = next(read_annotated(corpus))
    wordpieces = Wordpieces(base / "vocab.txt", lowercase=True)
    ids, types, mask, tags, predicates = stack([*marked(sentence, wordpieces, label_names([sentence]), 64)])
    assert ids.shape == types.shape == mask.shape == tags.shape == predicates.shape == (1, 8)
    size = int(mask.sum())
    assert (tags[0, size:] == IGNORED).all()
    assert (predicates[0, size:] == IGNORED).all()
