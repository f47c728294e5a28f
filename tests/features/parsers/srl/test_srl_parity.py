"""Our tagger and our scorer against the real AllenNLP 2.10.1, on its recorded outputs (made by tools/allennlp)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from features.parsers.settings import SrlSettings
from features.parsers.srl.frames import read_annotated, spans_of
from features.parsers.srl.parser import load_tagger
from features.parsers.srl.scoring import SrlScore
from features.parsers.srl.tagger import SrlTagger
from features.parsers.srl.viterbi import Constraints

FIXTURES = Path(__file__).with_name("fixtures")


@pytest.fixture(scope="module")
def tagger() -> SrlTagger:
    return load_tagger(FIXTURES / "srl_bert.tar.gz", SrlSettings(precision="float32"))


@pytest.fixture(scope="module")
def outputs() -> list[dict[str, Any]]:
    return json.loads((FIXTURES / "srl_bert.json").read_text(encoding="utf-8"))


def test_words_are_cut_into_the_same_pieces(tagger, outputs):
    for output in outputs:
        assert tagger.n_pieces(output["words"]) == len(output["pieces"]), output["words"]
    assert any("[UNK]" in output["pieces"] for output in outputs), "a word that cannot be cut belongs to the fixture"


def test_logits_are_the_same(tagger, outputs):
    sentences = [output["words"] for output in outputs]
    compared = 0
    for batch, logits in tagger.scores(sentences, [[output["predicate"]] for output in outputs]):
        for reading, ours in zip(batch, logits, strict=True):
            theirs = np.array(outputs[reading.sentence]["logits"])
            np.testing.assert_allclose(ours[: len(reading.pieces.ids)], theirs, atol=1e-4)
            compared += 1
    assert compared == len(outputs)


def test_tags_are_the_same_in_one_batch_and_alone(tagger, outputs):
    together = tagger.tag([output["words"] for output in outputs], [[output["predicate"]] for output in outputs])
    for output, (frame,) in zip(outputs, together, strict=True):
        assert frame.spans == spans_of(output["tags"]), output["words"]
    (alone,) = tagger.tag([outputs[0]["words"]], [[outputs[0]["predicate"]]])[0]
    assert alone == together[0][0]


def test_the_fixture_makes_the_constraints_bite(tagger, outputs):
    """Taking the best tag of each piece alone would often give other, ill-formed tags."""
    labels = tagger.labels
    greedy = [[labels[i] for i in np.argmax(output["logits"], axis=1)] for output in outputs]
    broken = sum(
        any(
            tag.startswith("I-") and before not in {tag, f"B{tag[1:]}"}
            for before, tag in zip(["O", *tags], tags, strict=False)
        )
        for tags in greedy
    )
    assert broken > len(outputs) / 2


def test_the_decoder_finds_the_same_paths():
    found = json.loads((FIXTURES / "srl_viterbi.json").read_text(encoding="utf-8"))
    constraints = Constraints(found["labels"])
    longest = max(case["steps"] for case in found["paths"])
    batch = np.zeros((len(found["paths"]), longest, len(found["labels"])), np.float32)
    for row, case in zip(batch, found["paths"], strict=True):
        drawn = np.random.RandomState(case["seed"]).random_sample((case["steps"], len(found["labels"])))
        for _ in range(case["power"].bit_length() - 1):
            drawn = drawn * drawn
        row[: case["steps"]] = drawn
    paths = constraints.decode(batch, [case["steps"] for case in found["paths"]])
    assert [path.tolist() for path in paths] == [case["path"] for case in found["paths"]]


@pytest.mark.parametrize("case", json.loads((FIXTURES / "srl_eval.json").read_text(encoding="utf-8")))
def test_arguments_are_counted_as_srl_eval_counts_them(case: Mapping[str, Any], tmp_path: Path):
    frames = {}
    for name in ("gold", "guess"):
        rows = [
            f"{i + 1}\tw\tw\tX\t*\t{'go' if i == case['verb'] else '-'}\t{'go' if i == case['verb'] else '-'}\t{cell}"
            for i, cell in enumerate(case[name])
        ]
        (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
        (sentence,) = read_annotated(tmp_path / name)
        frames[name] = sentence.frames
    score = SrlScore()
    score.add(frames["gold"], frames["guess"])
    counts = score.total
    assert (counts.correct, counts.predicted - counts.correct, counts.gold - counts.correct) == (
        case["correct"],
        case["excess"],
        case["missed"],
    )
