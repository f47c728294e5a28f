"""The training of a tagger on a toy language: it learns, resumes, and reports its result."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import save
from sentences import refused

from features.core.faults import FileEmpty, NotThisModel, OtherSettings
from features.parsers.settings import SrlSettings
from features.parsers.srl.frames import read_annotated
from features.parsers.srl.parser import load_tagger
from features.parsers.srl.scoring import evaluate
from features.parsers.wordpieces import Wordpieces
from training.jobs import read_parser_job
from training.loop.loop import Loop
from training.parsers.srl import train as srl_train
from training.parsers.srl.examples import IGNORED, batches, label_names, marked, stack, unmarked
from training.parsers.srl.settings import FrameSources, TaggerJob, TaggerSettings

ROW = "{0}\t{1}\t{1}\tX\t*\t{2}\t{2}\t{3}"
NOUNS, VERBS = ("cat", "dog", "boy", "girl"), ("sees", "hears", "likes")
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", "and", *NOUNS, "see", "##s", "hears", "likes"]


def toy_sentence(subject: str, verb: str, thing: str) -> str:
    words = (("the", "(ARG0*"), (subject, "*)"), (verb, "(V*)"), ("a", "(ARG1*"), (thing, "*)"))
    rows = [ROW.format(i + 1, word, verb if word == verb else "-", cell) for i, (word, cell) in enumerate(words)]
    return "\n".join(rows) + "\n\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "toy.conll"
    path.write_text("".join(toy_sentence(s, v, o) for s in NOUNS for v in VERBS for o in NOUNS if s != o))
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("base") / "tiny-uncased"
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(PIECES), max_position_embeddings=64, **sizes)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


@pytest.fixture
def job(base, corpus, tmp_path):
    """Return a function that makes a training of seconds in a folder."""

    def make(folder: str = "run", **loop: Any) -> TaggerJob:
        numbers = {"epochs": 3, "learning_rate": 5e-3, "warmup": 0.5, "warmup_steps": 6, "batch_size": 64}
        settings = TaggerSettings(
            backbone=str(base),
            head_learning_rate=2e-2,
            unmarked=1.0,
            loop={**numbers, "decay": 1 / 3, "checkpoint_every": 4, "threads": 1, "precision": "float32", **loop},
        )
        source = FrameSources(train=corpus, dev=corpus, licence="made up")
        return TaggerJob(source=source, settings=settings, output=tmp_path / folder)

    return make


def weights(folder: Path) -> bytes:
    return (folder / "weights.safetensors").read_bytes()


def test_it_learns_the_toy_language(job, corpus, tmp_path):
    folder = srl_train.train(job(epochs=12))
    scores = evaluate(load_tagger(folder, SrlSettings()), list(read_annotated(corpus)))
    assert scores["gold_predicates"]["f1"] == 1
    assert scores["own_predicates"]["f1"] == 1
    assert scores["predicates"]["f1"] == 1
    card = (folder / "README.md").read_text()
    assert "36 sentences, 36 predicates" in card
    assert "made up" in card
    assert "36 of the sentences trained on" in card
    assert "| arguments, own predicates | 1.0000 |" in card
    assert not (tmp_path / "run" / "checkpoint.pt").exists()


def test_the_same_seed_gives_the_same_tagger(job):
    first = srl_train.train(job("first"))
    second = srl_train.train(job("second"))
    other = srl_train.train(job("other", seed=1))
    assert weights(first) == weights(second) != weights(other)


def test_it_goes_on_after_an_interruption(job, interrupt):
    whole = srl_train.train(job("whole"))
    interrupt(9, srl_train.train, job("broken"))
    assert weights(srl_train.train(job("broken"))) == weights(whole)


@pytest.mark.slow
@pytest.mark.soak
def test_a_killed_process_goes_on_from_its_checkpoint(job, kill_at_a_checkpoint, tmp_path):
    whole, killed = srl_train.train(job("whole", epochs=12)), job("killed", epochs=12)
    (tmp_path / "job.json").write_text(killed.model_dump_json())
    kill_at_a_checkpoint("training.parsers.srl.train", tmp_path / "job.json", killed.output)
    assert weights(srl_train.train(killed)) == weights(whole)


def test_another_training_does_not_replace_a_finished_tagger(job):
    before = weights(srl_train.train(job()))
    with refused(OtherSettings):
        srl_train.train(job(seed=1))
    assert weights(srl_train.train(job())) == before


def test_its_length_may_change_while_it_is_stopped(job, interrupt):
    """Until the learning rate falls nothing depends on the number of epochs."""
    straight = srl_train.train(job("straight", epochs=2, decay=0.5))
    interrupt(5, srl_train.train, job("changed", epochs=3, decay=0.5))
    assert weights(srl_train.train(job("changed", epochs=2, decay=0.5))) == weights(straight)


def test_another_training_in_the_folder_is_refused(job, interrupt):
    interrupt(5, srl_train.train, job())
    with refused(OtherSettings):
        srl_train.train(job(seed=5))


def test_a_finished_training_is_left_alone(job, monkeypatch):
    folder = srl_train.train(job())
    monkeypatch.setattr(Loop, "run", lambda _: pytest.fail("it learns again"))
    assert srl_train.train(job()) == folder


def test_a_file_without_frames_is_refused(job, tmp_path):
    (tmp_path / "empty.conll").write_text("1\tYes\tyes\tUH\t*\t-\t-\n")
    empty = job().model_copy(update={"source": FrameSources(train=tmp_path / "empty.conll", dev=Path("none"))})
    with refused(FileEmpty):
        srl_train.train(empty)


def test_the_process_takes_a_job_whose_paths_start_from_its_folder(base, corpus, tmp_path, capsys):
    (tmp_path / "toy.conll").write_text(corpus.read_text())
    settings = {"backbone": str(base), "loop": {"epochs": 1, "threads": 1, "precision": "float32"}}
    content = {"source": {"train": "toy.conll", "dev": "toy.conll"}, "settings": settings, "output": "run"}
    file = tmp_path / "job.json"
    file.write_text(json.dumps(content))
    assert srl_train.main(["--settings", str(file)]) == 0
    report = json.loads((tmp_path / "run" / "tagger" / "training.json").read_text())
    assert report["settings"]["loop"]["epochs"] == 1
    for changes, said in (
        ({"loop": {"epochs": "none"}}, "settings.loop.epochs in"),
        ({"backbone": "missing"}, "error:"),
    ):
        file.write_text(json.dumps(content | {"settings": settings | changes}))
        assert srl_train.main(["--settings", str(file)]) == 1
        assert said in capsys.readouterr().err


def test_a_backbone_beside_the_settings_is_found_from_anywhere(base):
    source, file = {"train": "train.conll", "dev": "dev.conll"}, base.parent / "job.json"
    file.write_text(json.dumps({"source": source, "settings": {"backbone": base.name}, "output": "run"}))
    assert read_parser_job(TaggerJob, file).settings.backbone == str(base)


@pytest.mark.parametrize(
    ("name", "content"), [("model.safetensors", save({})), ("config.json", b"[]")], ids=["weights", "sizes"]
)
def test_a_backbone_that_is_no_bert_is_refused(base, tmp_path, name, content):
    folder = shutil.copytree(base, tmp_path / "other")
    (folder / name).write_bytes(content)
    with refused(NotThisModel):
        srl_train.start_network(TaggerSettings(), folder, 3)


def test_pieces_carry_the_tags_of_their_words(base, corpus):
    sentence = next(sentence for sentence in read_annotated(corpus) if "sees" in sentence.words)
    wordpieces = Wordpieces.of_vocabulary(base / "vocab.txt", lowercase=True)
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
    wordpieces = Wordpieces.of_vocabulary(base / "vocab.txt", lowercase=True)
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
    wordpieces = Wordpieces.of_vocabulary(base / "vocab.txt", lowercase=True)
    ids, types, mask, tags, predicates = stack([*marked(sentence, wordpieces, label_names([sentence]), 64)])
    assert ids.shape == types.shape == mask.shape == tags.shape == predicates.shape == (1, 8)
    size = int(mask.sum())
    assert (tags[0, size:] == IGNORED).all()
    assert (predicates[0, size:] == IGNORED).all()
