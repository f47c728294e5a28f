"""Run the real AllenNLP 2.10.1 to tag and score, and write its output as a fixture (see README.md).

    srl_bert.tar.gz       an archive with a tiny BERT and random weights, saved by AllenNLP, with its word pieces added
    srl_bert.json         the tags and logits that AllenNLP predicts with it
    srl_viterbi.json      the best paths that AllenNLP's decoder found through random likelihoods
    srl_eval.json         columns of brackets, and the counts that srl-eval.pl printed for them

Runs under Python 3.9, so it uses nothing from the project.
"""

import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import allennlp_models
import numpy as np
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.models.archival import archive_model, load_archive
from allennlp.nn.util import viterbi_decode
from allennlp_models.structured_prediction.dataset_readers.srl import SrlReader
from allennlp_models.structured_prediction.models.srl_bert import SrlBert  # noqa: F401 - registers the model
from spacy.tokens import Doc
from spacy.vocab import Vocab

SEED = 13
NAME = "tiny-bert-uncased"  # "uncased" in the name is what makes the reader lower-case
SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "type_vocab_size": 2,
}
ROLES = ("ARG0", "ARG1", "ARG2", "ARGM-TMP", "ARGM-LOC", "ARGM-NEG", "R-ARG0", "C-ARG1", "V")
SENTENCES = """
The cat chased a mouse .
She did n't give him the book yesterday .
Running late , they skipped breakfast .
Who broke the window in the kitchen ?
I 'd rather walk .
Go !
The report , which nobody read , was published in May .
Él bebió CAFÉ in Köln .
A 3.5 % rise surprised e-mail users at www.example.org .
Unbelievably , the quick brown foxes outran seventeen dogs and eleven horses .
He said that she thinks that they know .
It rained .
The destruction of the city by the army lasted days .
Do not touch the “ wet ” paint — please …
Mary wants John to promise Sue to sing .
Colourless green ideas sleep furiously in xylophonists' minds
What did the teacher tell the children about the stars last night ?
To err is human , to forgive divine .
supercalifragilisticexpialidocious words happen
Dogs bark , cats meow , and birds sing .
""".strip().splitlines()
# Positions in each sentence, not always of verbs.
PREDICATES = """
2 | 3 1 | 0 4 | 1 | 3 | 0 | 4 8 | 1 | 3 2 | 7 0 | 1 4 7 | 1 | 1 8 | 2 | 1 4 7 | 3 | 4 1 | 1 2 6 | 2 | 1 4 8
"""


def main(target: Path) -> None:
    """Write the fixture to a folder."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_wordpieces(Path(NAME))
        reader = SrlReader(bert_model_name=NAME)
        make_archive()
        with tarfile.open("model.tar.gz") as archive:
            archive.extractall("unpacked")  # noqa: S202 - made three lines above
        with tarfile.open(target / "srl_bert.tar.gz", "w:gz") as archive:
            for path in sorted(Path("unpacked").rglob("*")):
                if path.is_file():
                    archive.add(path, str(path.relative_to("unpacked")))
            archive.add(f"{NAME}/vocab.txt", "vocab.txt")
        model = load_archive("model.tar.gz").model.eval()  # otherwise dropout stays on
        (target / "srl_bert.json").write_text(json.dumps(tag(model, reader), indent=0, ensure_ascii=False) + "\n")
        (target / "srl_viterbi.json").write_text(json.dumps(decode(), indent=0) + "\n")
        (target / "srl_eval.json").write_text(json.dumps(score(), indent=0) + "\n")


def write_wordpieces(folder: Path) -> None:
    """Write a small vocabulary: all letters, every second word, and some of the others in two pieces."""
    words = sorted({word.lower() for sentence in SENTENCES for word in sentence.split()})
    letters = sorted({letter for word in words for letter in word if letter.isascii()})
    whole = words[::2]
    halves = [piece for word in words[1::4] for piece in (word[: len(word) // 2], f"##{word[len(word) // 2 :]}")]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    pieces += [piece for piece in dict.fromkeys([*whole, *halves]) if piece.strip("#") and piece not in pieces]
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces))
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", "vocab_size": len(pieces), **SIZES}))


def make_archive() -> None:
    """Let AllenNLP save a tagger with random weights as model.tar.gz."""
    torch.manual_seed(SEED)
    labels = ["O", *(f"{prefix}-{role}" for role in ROLES for prefix in "BI")]
    vocabulary = Vocabulary()
    for label in labels:
        vocabulary.add_token_to_namespace(label, "labels")
    size = len(Path(NAME, "vocab.txt").read_text().splitlines())
    configuration = {
        "dataset_reader": {"type": "srl", "bert_model_name": NAME},
        "model": {"type": "srl_bert", "bert_model": {**SIZES, "vocab_size": size}, "embedding_dropout": 0.1},
    }
    model = Model.from_params(params=Params(configuration["model"]).duplicate(), vocab=vocabulary)
    # Default weights give every word nearly the same tag; larger ones give the decoder something to do.
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.6 if name.startswith("tag_projection_layer") else 0.2)
    folder = Path("serialised")
    vocabulary.save_to_files(str(folder / "vocabulary"))
    Params(configuration).to_file(str(folder / "config.json"))
    torch.save(model.state_dict(), folder / "best.th")
    archive_model(str(folder), archive_path="model.tar.gz")


def tag(model: Model, reader: SrlReader) -> list:
    """Return the output of AllenNLP's reader and model for each sentence and predicate."""
    vocabulary, found = Vocab(), []
    for sentence, positions in zip(SENTENCES, PREDICATES.split("|")):  # noqa: B905 - Python 3.9 has no `strict`
        words = sentence.split()
        document = Doc(vocabulary, words=words)
        for predicate in map(int, positions.split()):
            instance = reader.text_to_instance(list(document), [int(i == predicate) for i in range(len(words))])
            output = model.forward_on_instance(instance)
            found.append(
                {
                    "words": words,
                    "predicate": predicate,
                    "pieces": [str(token) for token in instance["tokens"].tokens],
                    "tags": output["tags"],
                    "logits": [[round(float(x), 6) for x in row] for row in output["logits"]],
                }
            )
    return found


def decode() -> dict:
    """Return the best paths through RandomState(seed).random_sample((steps, labels)) ** power as likelihoods."""
    labels = ["O", *(f"{prefix}-R{number}" for number in range(30) for prefix in "BI")]
    vocabulary = Vocabulary()
    for label in labels:
        vocabulary.add_token_to_namespace(label, "labels")
    configuration = {"type": "srl_bert", "bert_model": {**SIZES, "vocab_size": 8}}
    model = Model.from_params(params=Params(configuration), vocab=vocabulary)
    paths = []
    for seed in range(60):
        power = (1, 4, 32, 512)[seed % 4]
        drawn = np.random.RandomState(seed).random_sample((3 + seed % 13, len(labels)))
        for _ in range(power.bit_length() - 1):  # squared, which rounds the same everywhere
            drawn = drawn * drawn
        path, _ = viterbi_decode(
            torch.from_numpy(drawn.astype(np.float32)),
            model.get_viterbi_pairwise_potentials(),
            allowed_start_transitions=model.get_start_transitions(),
        )
        paths.append({"seed": seed, "steps": len(drawn), "power": power, "path": [int(tag) for tag in path]})
    return {"labels": labels, "paths": paths}


def score() -> list:
    """Return columns of brackets, gold and guessed, with the counts of srl-eval.pl for them."""
    draw = random.Random(SEED)
    script = Path(allennlp_models.__file__).parent / "structured_prediction/tools/srl-eval.pl"
    cases = []
    for _ in range(40):
        size = draw.randint(3, 14)
        verb = draw.randrange(size)
        gold = column(draw, size, verb)
        guess = gold if draw.random() < 0.2 else column(draw, size, verb, like=gold)
        for name, brackets in (("gold", gold), ("guess", guess)):
            rows = [f"{'verb' if i == verb else '-'}\t{cell}" for i, cell in enumerate(brackets)]
            Path(name).write_text("\n".join(rows) + "\n\n")
        command = ["perl", str(script), "gold", "guess"]
        printed = subprocess.run(command, check=True, capture_output=True, text=True)
        counts = re.search(r"Overall\s+(\d+)\s+(\d+)\s+(\d+)", printed.stdout)
        correct, excess, missed = map(int, counts.groups())
        cases.append(
            {"gold": gold, "guess": guess, "verb": verb, "correct": correct, "excess": excess, "missed": missed}
        )
    return cases


def column(draw: random.Random, size: int, verb: int, like=None) -> list:
    """Return a random column of brackets with its verb; most of it copied from another one if given."""
    if like is not None:
        # Cut at a place where no span of either is open, and draw the rest again.
        other = column(draw, size, verb)
        opened, depth = [], {0: 0, 1: 0}
        for i in range(size):
            if depth[0] == depth[1] == 0:
                opened.append(i)
            for k, cells in enumerate((like, other)):
                depth[k] += cells[i].count("(") - cells[i].count(")")
        cut = draw.choice(opened)
        return like[:cut] + other[cut:]
    cells, position = ["*"] * size, 0
    while position < size:
        length = draw.randint(1, 3)
        if position == verb:
            cells[position] = "(V*)"
            length = 1
        elif draw.random() < 0.6:
            length = min(length, (verb if position < verb else size) - position)
            role = draw.choice(("A0", "A1", "A1", "AM-TMP", "C-A1", "R-A0", "C-V"))
            cells[position] = f"({role}*"
            cells[position + length - 1] += ")"
        elif position < verb:
            length = min(length, verb - position)
        position += length
    return cells


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
