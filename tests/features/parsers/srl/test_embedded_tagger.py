"""The tagger that comes with the project."""

import json
from pathlib import Path

import pytest

from features.parsers.settings import SrlSettings
from features.parsers.srl import parser as srl_parser
from features.parsers.srl.frames import SrlParse, read_annotated
from features.parsers.srl.parser import SrlParser, load, load_tagger, locate_tagger
from features.parsers.srl.scoring import evaluate

MODEL = locate_tagger("embedded")


@pytest.fixture(scope="module")
def parser(encoder_name: str) -> SrlParser:
    return load(SrlSettings(precision="float32"))


def roles(parser: SrlParser, text: str) -> dict[str, dict[str, str]]:
    """Return predicate → role → words."""
    (parse,) = parser.parse([text])
    assert isinstance(parse, SrlParse)
    return {
        parse.words[frame.predicate]: {span.label: " ".join(parse.words[span.start : span.end]) for span in frame.spans}
        for frame in parse.frames
    }


def test_who_did_what_to_whom(parser):
    assert roles(parser, "The cat chased a mouse yesterday.") == {
        "chased": {"ARG0": "The cat", "V": "chased", "ARG1": "a mouse", "ARGM-TMP": "yesterday"}
    }
    assert roles(parser, "The mouse was chased by the cat.")["chased"] == {
        "ARG1": "The mouse",
        "V": "chased",
        "ARG0": "by the cat",
    }


def test_modals_and_negation(parser):
    frame = roles(parser, "She could not open the door.")["open"]
    assert (frame["ARG0"], frame["ARGM-MOD"], frame["ARGM-NEG"], frame["ARG1"]) == ("She", "could", "not", "the door")


def test_every_predicate_gets_a_frame(parser):
    assert roles(parser, "A man is singing and playing a guitar.").keys() >= {"singing", "playing"}
    assert roles(parser, "Yes") == {}


def test_it_is_small_and_complete():
    files = [path for path in MODEL.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 25e6
    assert {path.name for path in files} >= {"config.json", "labels.txt", "weights.safetensors", "README.md"}
    assert "CC BY-SA 4.0" in (MODEL / "README.md").read_text(encoding="utf-8")
    assert Path(srl_parser.__file__).parent in MODEL.parents


@pytest.mark.slow
@pytest.mark.usefixtures("encoder_name")
def test_it_scores_what_its_card_says(shared):
    """On every fourth sentence, so within a few points of the whole."""
    gold = list(read_annotated(shared / "data" / "srl_ewt" / "ewt_propbank3_dev.conll.gz"))[::4]
    report = json.loads((MODEL / "training.json").read_text(encoding="utf-8"))["scores"]
    found = evaluate(load_tagger(MODEL, SrlSettings()), gold)
    for name in ("gold_predicates", "own_predicates", "predicates"):
        assert found[name]["f1"] == pytest.approx(report[name]["f1"], abs=0.03)
