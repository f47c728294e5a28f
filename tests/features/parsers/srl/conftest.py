"""A tagger of a few thousand parameters, trained here on a toy language, and its base encoder."""

from pathlib import Path

import pytest

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
}
NOUNS = ("cat", "dog", "boy", "girl")
VERBS = ("sees", "hears", "likes")


def toy_sentence(subject: str, verb: str, thing: str) -> str:
    """Return an annotated sentence of five words: DET subject verb DET thing."""
    words = (("the", "(ARG0*"), (subject, "*)"), (verb, "(V*)"), ("a", "(ARG1*"), (thing, "*)"))
    rows = [
        f"{i + 1}\t{word}\t{word}\tX\t*\t{verb if word == verb else '-'}\t-\t{cell}"
        for i, (word, cell) in enumerate(words)
    ]
    return "\n".join(rows) + "\n\n"


def write_base(folder: Path) -> Path:
    """Write a BERT with random weights in the format of transformers."""
    import torch
    from transformers import BertConfig, BertModel

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "a", "and", "yes", *NOUNS, *VERBS]
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(pieces), **SIZES)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def toy_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("base") / "tiny-uncased")


@pytest.fixture(scope="session")
def toy_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "toy.conll"
    sentences = [toy_sentence(s, v, o) for s in NOUNS for v in VERBS for o in NOUNS if s != o]
    path.write_text("".join(sentences), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def toy_tagger(toy_base: Path, toy_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from training.parsers.srl.settings import FrameSources, TaggerJob, TaggerSettings
    from training.parsers.srl.train import train

    loop = {"epochs": 12, "learning_rate": 5e-3, "warmup_steps": 6, "batch_size": 64}
    settings = TaggerSettings(
        backbone=str(toy_base),
        head_learning_rate=2e-2,
        unmarked=1.0,
        dropout=0.0,
        loop={**loop, "threads": 1, "precision": "float32"},
    )
    source = FrameSources(train=toy_corpus, dev=toy_corpus, licence="made up")
    return train(TaggerJob(source=source, settings=settings, output=tmp_path_factory.mktemp("toy") / "run"))


@pytest.fixture
def toy_settings(toy_tagger: Path) -> dict[str, str]:
    return {"model": str(toy_tagger), "precision": "float32"}
