import numpy as np

from features.parsers.embedded.vocabulary import SPECIAL_CONCEPTS, SPECIAL_PRIMARIES, SenseChooser, Vocabulary

FRAMES = {"sing": ["01", "02"], "odd": ["77"]}


def chooser(frames: dict[str, list[str]]) -> SenseChooser:
    seen = {"run": {"02": 9, "01": 1}, "boy": {"": 4}, "work": {"01": 1, "": 1}}
    return SenseChooser(
        Vocabulary(SPECIAL_PRIMARIES, ["", "01", "02", "03"], [()], ["ARG0"], SPECIAL_CONCEPTS, seen, frames)
    )


def scores(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_a_lemma_keeps_to_the_senses_that_it_was_seen_with() -> None:
    assert chooser(FRAMES).choose("boy", scores(0, 9, 9, 9)) == ""
    assert chooser(FRAMES).choose("run", scores(9, 0, 0, 9)) == "02", "the more frequent one of equals"
    assert chooser(FRAMES).choose("run", scores(0, 3, 0, 0)) == "01"
    assert chooser(FRAMES).choose("work", scores(2, 1, 0, 0)) == ""


def test_a_lemma_never_seen_keeps_to_its_frame() -> None:
    assert chooser(FRAMES).choose("sing", scores(0, 1, 2, 9)) == "02"
    assert chooser(FRAMES).choose("sing", scores(9, 1, 2, 3)) == ""
    assert chooser(FRAMES).choose("table", scores(0, 9, 2, 3)) == "", "no frame, no sense"
    assert chooser(FRAMES).choose("odd", scores(0, 9, 2, 3)) == "01", "no sense of its frame was ever learnt"


def test_without_frames_only_the_first_sense_is_believed() -> None:
    assert chooser({}).choose("table", scores(0, 9, 2, 3)) == "01"
    assert chooser({}).choose("table", scores(0, 1, 9, 3)) == ""
