from features.parsers.srl.frames import Frame, Span
from features.parsers.srl.scoring import Counts, SrlScore, arguments

GOLD = Frame(1, (Span("ARG0", 0, 1), Span("V", 1, 2), Span("ARG1", 2, 4), Span("C-ARG1", 5, 6)))


def score(*frames: Frame) -> SrlScore:
    result = SrlScore()
    result.add([GOLD], frames)
    return result


def test_the_same_frame_has_every_argument():
    assert score(GOLD).total == Counts(2, 2, 2)
    assert score(GOLD).total.f1 == 1


def test_an_argument_needs_all_its_pieces():
    short = Frame(1, GOLD.spans[:3])
    assert score(short).total == Counts(1, 2, 2)
    assert score(short).roles == {"ARG0": Counts(1, 1, 1), "ARG1": Counts(0, 1, 1)}


def test_a_continuation_of_nothing_is_an_argument():
    assert arguments([Span("C-ARG2", 0, 1)]) == {("ARG2", ((0, 1),))}


def test_the_predicate_does_not_count():
    assert arguments([Span("V", 1, 2), Span("C-V", 3, 4)]) == set()


def test_frames_of_other_predicates_are_misses_and_false_alarms():
    elsewhere = Frame(2, (Span("ARG0", 0, 1),))
    result = score(elsewhere)
    assert result.total == Counts(0, 1, 2)
    assert result.predicates == Counts(0, 1, 1)


def test_two_frames_of_one_predicate_are_matched_in_order():
    result = SrlScore()
    other = Frame(1, (Span("ARG2", 0, 1),))
    result.add([GOLD, other], [GOLD, other])
    assert result.total == Counts(3, 3, 3)


def test_nothing_found_and_nothing_there():
    assert Counts().f1 == Counts().precision == Counts().recall == 0
    assert score().total == Counts(0, 0, 2)
