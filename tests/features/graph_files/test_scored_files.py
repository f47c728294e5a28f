"""`facetflow score`: a parser's graphs against gold ones."""

import pytest
import smatch
from sentences import refused

from features.core.faults import FileEmpty, GraphUnusable, MetricWrong, NotParallel
from features.graph_files.scored import score_files
from features.graphs.penman_files import read_blocks
from features.metrics.bootstrap import Bootstrap

BOY = "# ::id x1\n(s / sleep-01 :ARG0 (b / boy))\n\n"
GIRL = "# ::id x2\n(s / sleep-01 :ARG0 (g / girl))\n\n"
CITY = '# ::id x3\n(c / city :wiki "Paris" :name (n / name :op1 "Paris"))\n\n'
UNLINKED = '# ::id x3\n(c / city :wiki - :name (n / name :op1 "Paris"))\n\n'
WRONG = "# ::id x2\n(s / sleep-01 :ARG0 (g / girl)\n\n"
QUICK = Bootstrap(resamples=20)


def unnamed(block: str) -> str:
    return block.partition("\n")[2]


def smatch_of(*arguments, **options):
    scored = score_files(*arguments, ["smatch"], QUICK, **options)
    return scored.scores[0], scored.wrong


def test_graphs_find_their_partner_by_id(write):
    gold, parsed = write("gold", BOY, GIRL, CITY), write("parsed", CITY, BOY, GIRL)
    score, wrong = smatch_of(gold, parsed)
    assert score.f1.value == score.macro_f1.value == 1.0
    assert score.proven == 1.0
    assert wrong == ()
    assert "|pairing:id|" in score.signature
    assert smatch_of(gold, parsed, by_position=True)[0].f1.value < 1.0


def test_parts_make_no_difference(write, monkeypatch):
    gold, parsed = write("gold", BOY, GIRL, CITY), write("parsed", BOY, BOY.replace("x1", "x2"), UNLINKED)
    whole, _ = smatch_of(gold, parsed)
    monkeypatch.setattr("features.graph_files.scored._BATCH", 2)
    parts, _ = smatch_of(gold, parsed)
    assert (parts.pairs, parts.f1, parts.macro_f1) == (3, whole.f1, whole.macro_f1)


def test_without_ids_they_are_paired_by_position(write):
    score, _ = smatch_of(write("gold", BOY, unnamed(GIRL)), write("parsed", BOY, GIRL))
    assert score.f1.value == 1.0
    assert "|pairing:position|" in score.signature


def test_precision_is_of_the_parsed_side(write):
    more = "# ::id x1\n(s / sleep-01 :ARG0 (b / boy :mod (y / young)))\n\n"
    score, _ = smatch_of(write("gold", BOY), write("parsed", more))
    assert (score.precision.value, score.recall.value) == (pytest.approx(4 / 6), 1.0)


def test_wiki_can_be_left_out(write):
    gold, parsed = write("gold", CITY), write("parsed", UNLINKED)
    assert smatch_of(gold, parsed)[0].f1.value < 1.0
    score, _ = smatch_of(gold, parsed, drop_wiki=True)
    assert score.f1.value == 1.0
    assert "|wiki:dropped" in score.signature


def test_a_wrong_parsed_graph_counts_as_empty(write):
    gold = write("gold", BOY, GIRL)
    score, wrong = smatch_of(gold, write("parsed", BOY, WRONG))
    assert (score.precision.value, score.recall.value, score.proven) == (1.0, 0.5, 1.0)
    assert len(wrong) == 1
    assert "not closed" in wrong[0]


def test_the_pair_of_a_wrong_gold_graph_is_left_out(write):
    score, wrong = smatch_of(write("gold", BOY, WRONG), write("parsed", BOY, GIRL))
    assert (score.pairs, score.f1.value) == (1, 1.0)
    assert len(wrong) == 1
    with refused(GraphUnusable):
        smatch_of(write("gold", WRONG), write("parsed", GIRL))


def test_what_does_not_belong_together_is_one_sentence(write):
    with refused(NotParallel):
        smatch_of(write("gold", BOY, GIRL, CITY), write("parsed", BOY))
    with refused(NotParallel):
        smatch_of(write("gold", BOY), write("parsed", BOY, CITY))
    with refused(NotParallel):
        smatch_of(write("gold", unnamed(BOY), GIRL), write("parsed", BOY))
    with refused(NotParallel):
        smatch_of(write("gold", BOY, BOY), write("parsed", BOY, GIRL))
    with refused(FileEmpty):
        smatch_of(write("gold", BOY), write("parsed", "# nothing\n"))


def test_a_metric_of_ones_own_counts_too_and_a_failure_names_its_pair(write):
    from features.metrics.metric import f1
    from features.metrics.own import own_metric

    @own_metric(reads="graphs", number=f1)
    def boys(left, right):
        ours, theirs = left.concepts.count("boy"), right.concepts.count("boy")
        return (min(ours, theirs), ours, theirs) if "city" not in left.concepts else None

    @own_metric(reads="graphs", number=f1)
    def pairs(_left, _right):
        return 1, 2

    gold, parsed = write("gold", BOY, GIRL), write("parsed", BOY, BOY.replace("x1", "x2"))
    scored = score_files(gold, parsed, ["boys", "smatch"], QUICK, own=[boys])
    assert [score.metric for score in scored.scores] == ["boys", "smatch"]
    assert (scored.scores[0].precision.value, scored.scores[0].recall.value) == (0.5, 1.0)
    assert scored.scores[0].proven is None
    with refused(GraphUnusable):
        score_files(write("gold", BOY, CITY), write("parsed", BOY, CITY), ["boys"], QUICK, own=[boys])
    with refused(MetricWrong):
        score_files(gold, parsed, ["pairs"], QUICK, own=[pairs])


def test_at_least_what_the_reference_finds(shared, write):
    """smatch 1.0.4 uses hill-climbing, so its sum of matches is a lower bound; the numbers of triples are equal."""
    folder = shared / "data" / "bamboo" / "sts"
    sides = [[block.text for block in read_blocks(folder / f"{side}.dev.amr.gz")][:100] for side in ("src", "tgt")]
    theirs = []
    for pair in zip(*sides, strict=True):
        smatch.match_triple_dict.clear()  # it remembers scores of alignments, whatever the graphs are
        theirs.append(smatch.get_amr_match(*(" ".join(text.split()) for text in pair)))
    precision, recall, f1 = smatch.compute_f(*(sum(column) for column in zip(*theirs, strict=True)))
    # Their first graph is what precision is of.
    parsed, gold = (write(name, *(f"{text}\n\n" for text in side)) for name, side in zip("ab", sides, strict=True))
    score, wrong = smatch_of(gold, parsed)
    assert wrong == ()
    assert (score.pairs, score.proven) == (100, 1.0)
    assert f1 - 1e-9 <= score.f1.value <= f1 + 0.02
    assert score.precision.value / score.recall.value == pytest.approx(precision / recall)
