"""Which shards must be made: those that are wanted, and their inputs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import refused

from features.core.faults import NotComplete
from features.schemas import StageOutput
from features.stages.stage import Recipe
from features.store.plan import plan
from features.store.scope import PlannedStage, Uses, Wanted, scope

CORPORA = ("captions", "nli", "reviews")
SENTENCES = ("sentences-00000", "sentences-00001", "sentences-00002")
S3BERT = Wanted(("amr", "metrics"), ("captions",))
SYNTAX = Wanted(("dependencies",), ("nli",))


def stages(parser="1"):
    return [
        PlannedStage("amr", "sentences", ("sentences",), Recipe("amr", {}, parser)),
        PlannedStage("dependencies", "sentences", ("sentences",), Recipe("dependencies")),
        PlannedStage("label_vectors", "sentences", ("amr",), Recipe("label_vectors")),
        PlannedStage("metrics", "pairs", ("pairs", "amr", "label_vectors"), Recipe("metrics")),
    ]


@pytest.fixture
def ingest(write, commit):
    """Commit captions, NLI whose premises are captions, and reviews with labels, each in a shard of its own."""
    commit(
        *(write("sentences", shard, [shard], inputs=[shard]) for shard in SENTENCES),
        write("pairs", "pairs-00000", ["0"], corpus="captions", shard_a=SENTENCES[0], shard_b=SENTENCES[0]),
        write("pairs", "pairs-00001", ["1"], corpus="nli", shard_a=SENTENCES[0], shard_b=SENTENCES[1]),
        write("labels", "labels-00000", ["0"], corpus="reviews", sentence_shard=SENTENCES[2]),
    )


@pytest.fixture
def build(store, filled):
    """Return a function that does the work of a plan, removes what is outdated, and returns what was made."""

    def make(wanted, chain=None):
        chain = stages() if chain is None else chain
        planned = plan(store, chain, wanted=wanted)
        receipts = [
            store.write_shard(work.stage, work.shard, work.fingerprint, filled(work.stage, [work.shard]))
            for work in planned.todo
        ]
        store.commit(receipts, run_id="build", recipes={stage.name: stage.recipe for stage in chain})
        store.withdraw(planned.outdated, run_id="build")
        return {(work.stage, work.shard) for work in planned.todo}

    return make


def made(store, table):
    return sorted(store.committed(table))


def test_sentences_that_only_nli_uses_are_not_parsed_for_an_encoder_of_captions(ingest, build):
    done = build([S3BERT, SYNTAX])

    assert {shard for stage, shard in done if stage == "amr"} == {SENTENCES[0]}
    assert {shard for stage, shard in done if stage == "metrics"} == {"pairs-00000"}


def test_a_premise_that_came_as_a_caption_is_parsed_where_it_lives(ingest, build):
    assert build([SYNTAX]) == {("dependencies", SENTENCES[0]), ("dependencies", SENTENCES[1])}


def test_a_labelled_text_brings_its_shard_into_scope(ingest, build):
    assert build([Wanted(("srl", "dependencies"), ("reviews",))]) == {("dependencies", SENTENCES[2])}


def test_what_is_wanted_brings_what_it_is_made_of(ingest, build, store):
    build([Wanted(("metrics",), ("nli",))])

    assert made(store, "amr") == made(store, "label_vectors") == [*SENTENCES[:2]]
    assert made(store, "metrics") == ["pairs-00001"]
    assert made(store, "dependencies") == []


def test_every_shard_is_wanted_where_nobody_says_what_is(ingest, build):
    assert len(build(None)) == 3 * len(SENTENCES) + 2


def test_a_plan_says_how_many_shards_nothing_wants(ingest, store):
    explained = plan(store, stages(), wanted=[SYNTAX]).explain()

    assert explained[:2] == [
        "amr: 0 shards (3 more are wanted by nothing)",
        "dependencies: 2 shards (1 more is wanted by nothing), 2 to do: 2 new",
    ]


def test_a_release_is_complete_without_what_nothing_wants(ingest, build, store):
    build([S3BERT, SYNTAX])

    release = store.publish("run", stages=stages(), wanted=[S3BERT, SYNTAX])
    assert (release.rows["amr"], release.rows["metrics"], release.missing) == (1, 1, {})
    with refused(NotComplete):
        store.publish("run", stages=stages())


def test_to_want_more_makes_only_what_is_more(ingest, build):
    build([S3BERT])

    assert build([S3BERT, Wanted(("amr",))]) == {("amr", shard) for shard in SENTENCES[1:]}


def test_to_want_less_keeps_what_is_there_and_publishes_nothing_new(ingest, build, store):
    build(None)
    before = store.publish("run", stages=stages())

    assert build([SYNTAX]) == set()
    assert store.publish("run", stages=[stages()[1]], wanted=[SYNTAX]) == before


def test_an_old_parse_that_nothing_wants_leaves_its_table_and_stays_in_its_release(ingest, build, store):
    build(None)
    before = store.publish("run", stages=stages())
    chain = stages(parser="2")
    for work in plan(store, chain, wanted=[S3BERT]).todo:
        rows = StageOutput(store.read(work.stage, shards=[work.shard]))
        receipt = store.write_shard(work.stage, work.shard, work.fingerprint, rows)
        store.commit([receipt], run_id="half", recipes={stage.name: stage.recipe for stage in chain})
    with refused(NotComplete):
        store.publish("run", stages=chain, wanted=[S3BERT])

    build([S3BERT], chain)
    after = store.publish("run", stages=chain, wanted=[S3BERT])
    assert made(store, "amr") == [SENTENCES[0]]
    assert (before.rows["amr"], after.rows["amr"]) == (3, 1)
    assert store.read("amr", before.versions["amr"]).height == 3
    assert not store.verify().broken


def test_a_damaged_shard_that_nothing_wants_is_taken_out_instead_of_made_again(ingest, build, store):
    build(None)
    (Path(store.location) / "tables" / "amr" / store._table("amr").files()[2].path).unlink()

    planned = plan(store, stages(), wanted=[S3BERT], damaged=store.damaged())
    assert (planned.todo, planned.outdated) == ((), (("amr", SENTENCES[2]),))
    store.withdraw(planned.outdated, run_id="build")
    assert store.publish("run", stages=stages(), wanted=[S3BERT]).rows["amr"] == 2


def test_uses_name_every_shard_and_who_uses_it(ingest, store):
    assert store.uses() == Uses(
        sentences={
            SENTENCES[0]: frozenset({"captions", "nli"}),
            SENTENCES[1]: frozenset({"nli"}),
            SENTENCES[2]: frozenset({"reviews"}),
        },
        pairs={"pairs-00000": frozenset({"captions"}), "pairs-00001": frozenset({"nli"})},
        sources={"pairs-00000": (SENTENCES[0],), "pairs-00001": (SENTENCES[0], SENTENCES[1])},
    )


tables = st.lists(st.sampled_from(["amr", "dependencies", "label_vectors", "metrics"]), max_size=3).map(tuple)
wishes = st.lists(st.builds(Wanted, tables, st.lists(st.sampled_from(CORPORA), max_size=2).map(tuple)), max_size=3)
corpora_of = st.frozensets(st.sampled_from(CORPORA), max_size=2)


@st.composite
def stores(draw):
    """Draw which corpora use which shard."""
    sentences = {shard: draw(corpora_of) for shard in SENTENCES}
    pairs = {f"pairs-{number:05d}": draw(corpora_of) for number in range(3)}
    sources = {shard: tuple(draw(st.sets(st.sampled_from(SENTENCES), min_size=1))) for shard in pairs}
    return Uses(sentences, pairs, sources)


@given(wishes, wishes, stores())
def test_scope_is_monotone_in_what_is_wanted(fewer, more, uses):
    small, large = (scope(stages(), wanted, uses) for wanted in (fewer, [*fewer, *more]))
    assert all(small[stage] <= large[stage] for stage in small)


@given(wishes, stores())
def test_a_shard_in_scope_has_all_that_it_is_made_of_in_scope(wanted, uses):
    found = scope(stages(), wanted, uses)

    assert found["label_vectors"] <= found["amr"]
    assert all(set(uses.sources[shard]) <= found["label_vectors"] for shard in found["metrics"])


@given(wishes, stores())
def test_nothing_is_in_scope_that_nobody_asked_for(wanted, uses):
    asked = {table for one in wanted for table in one.tables}
    found = scope(stages(), wanted, uses)

    assert found["dependencies"] == frozenset() or "dependencies" in asked
    assert found["metrics"] == frozenset() or "metrics" in asked


@pytest.mark.parametrize(
    "wanted", [[], [S3BERT], [SYNTAX], [S3BERT, SYNTAX], None], ids=["none", "s3bert", "syntax", "both", "all"]
)
def test_what_was_built_is_not_planned_again(ingest, build, store, wanted):
    build(wanted)

    planned = plan(store, stages(), wanted=wanted)
    assert (planned.todo, planned.outdated, planned.missing) == ((), (), frozenset())
