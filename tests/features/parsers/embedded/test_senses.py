import numpy as np

from features.parsers.embedded.vocabulary import SPECIAL_CONCEPTS, SPECIAL_PRIMARIES, Vocabulary

FRAMES = {"sing": ["01", "02"], "odd": ["77"]}


def vocabulary(frames: dict[str, list[str]]) -> Vocabulary:
    seen = {"run": {"02": 9, "01": 1}, "boy": {"": 4}, "work": {"01": 1, "": 1}}
    return Vocabulary(SPECIAL_PRIMARIES, ["", "01", "02", "03"], [()], ["ARG0"], SPECIAL_CONCEPTS, seen, frames)


def scores(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_a_lemma_keeps_to_the_senses_that_it_was_seen_with() -> None:
    assert vocabulary(FRAMES).sense_of("boy", scores(0, 9, 9, 9)) == ""
    assert vocabulary(FRAMES).sense_of("run", scores(9, 0, 0, 9)) == "02", "the more frequent one of equals"
    assert vocabulary(FRAMES).sense_of("run", scores(0, 3, 0, 0)) == "01"
    assert vocabulary(FRAMES).sense_of("work", scores(2, 1, 0, 0)) == ""


def test_a_lemma_never_seen_keeps_to_its_frame() -> None:
    assert vocabulary(FRAMES).sense_of("sing", scores(0, 1, 2, 9)) == "02"
    assert vocabulary(FRAMES).sense_of("sing", scores(9, 1, 2, 3)) == ""
    assert vocabulary(FRAMES).sense_of("table", scores(0, 9, 2, 3)) == "", "no frame, no sense"
    assert vocabulary(FRAMES).sense_of("odd", scores(0, 9, 2, 3)) == "01", "no sense of its frame was ever learnt"


def test_without_frames_only_the_first_sense_is_believed() -> None:
    assert vocabulary({}).sense_of("table", scores(0, 9, 2, 3)) == "01"
    assert vocabulary({}).sense_of("table", scores(0, 1, 9, 3)) == ""
