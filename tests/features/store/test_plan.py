"""What must be made, why, and in which order."""

import dataclasses

import pytest
from sentences import refused

from features.core.faults import UnknownShard
from features.stages.stage import Recipe
from features.store.fingerprints import Change, fingerprint
from features.store.plan import ChangedInput, Reason, plan, summary
from features.store.runs import FailedShard
from features.store.scope import PlannedStage

ALL = "sentences-00000, sentences-00001, sentences-00002"
SENTENCES = ["sentences-00000", "sentences-00001", "sentences-00002"]
PAIRS = {"pairs-00000": (0, 1), "pairs-00001": (1, 2)}


def chain(batch_size=16, graphs=None, metrics="1", words="1"):
    return [
        PlannedStage(
            "amr", "sentences", ("sentences",), Recipe("amr", {"batch_size": batch_size}), graphs or {}, "graphs"
        ),
        PlannedStage("label_vectors", "sentences", ("amr",), Recipe("label_vectors", {}, words)),
        PlannedStage("metrics", "pairs", ("pairs", "amr", "label_vectors"), Recipe("metrics", {}, metrics)),
    ]


@pytest.fixture
def ingest(write, commit):
    """Return a function that commits sentence shards, and pair shards with the sentence shards they come from."""

    def ingest(sentences=tuple(SENTENCES), pairs=None):
        commit(*(write("sentences", shard, [shard], inputs=[shard]) for shard in sentences))
        for shard, (a, b) in (PAIRS if pairs is None else pairs).items():
            commit(write("pairs", shard, [shard], inputs=[shard], shard_a=SENTENCES[a], shard_b=SENTENCES[b]))

    return ingest


@pytest.fixture
def build(store, filled):
    """Return a function that does the work of a plan, or the part of it that a condition selects."""

    def make(stages, only=lambda _: True):
        recipes = {stage.name: stage.recipe for stage in stages}
        made = [work for work in plan(store, stages).todo if only(work)]
        for work in made:
            receipt = store.write_shard(work.stage, work.shard, work.fingerprint, filled(work.stage, [work.shard]))
            store.commit([receipt], run_id="build", recipes=recipes)
        return [(work.stage, work.shard) for work in made]

    return make


def keys(planned):
    return [(work.stage, work.shard) for work in planned.todo]


def by_key(planned):
    return dict(zip(keys(planned), planned.todo, strict=True))


def reasons(planned, stage):
    return {work.shard: work.reason for work in planned.of(stage)}


def test_empty_store_has_nothing_to_do(store):
    planned = plan(store, chain())

    assert planned.todo == ()
    assert planned.explain() == ["amr: 0 shards", "label_vectors: 0 shards", "metrics: 0 shards"]


def test_first_build_does_all_in_order(store, ingest):
    ingest()
    planned = plan(store, chain())

    assert keys(planned) == [
        *(("amr", shard) for shard in SENTENCES),
        *(("label_vectors", shard) for shard in SENTENCES),
        *(("metrics", shard) for shard in PAIRS),
    ]
    assert {work.reason for work in planned.todo} == {Reason("new")}
    assert planned.explain()[2] == "metrics: 2 shards, 2 to do: 2 new"


def test_work_reads_its_own_pairs_and_the_shards_of_their_sentences(store, ingest):
    ingest()
    work = by_key(plan(store, chain()))

    assert work["amr", SENTENCES[0]].upstream == (("sentences", SENTENCES[0]),)
    assert work["label_vectors", SENTENCES[0]].waits_for == (("amr", SENTENCES[0]),)
    assert work["metrics", "pairs-00001"].upstream == (
        ("pairs", "pairs-00001"),
        ("amr", SENTENCES[1]),
        ("amr", SENTENCES[2]),
        ("label_vectors", SENTENCES[1]),
        ("label_vectors", SENTENCES[2]),
    )
    assert store.uses().sources["pairs-00001"] == tuple(SENTENCES[1:])


def test_work_waits_only_for_what_is_not_made(store, ingest, build):
    ingest()
    build(chain(), lambda work: work.stage == "amr" and work.shard != SENTENCES[2])
    work = by_key(plan(store, chain()))

    assert work["label_vectors", SENTENCES[0]].waits_for == ()
    assert work["metrics", "pairs-00001"].waits_for == (
        ("amr", SENTENCES[2]),
        ("label_vectors", SENTENCES[1]),
        ("label_vectors", SENTENCES[2]),
    )


def test_finished_build_has_nothing_to_do(store, ingest, build):
    ingest()
    build(chain())

    planned = plan(store, chain())
    assert planned.todo == ()
    assert planned.explain()[0] == "amr: 3 shards, up to date"


def test_fingerprints_planned_are_those_found_when_upstream_is_made(store, ingest, build):
    ingest()
    ahead = plan(store, chain()).expected
    build(chain(), lambda work: work.stage != "metrics")

    assert plan(store, chain()).expected == ahead


def test_killed_build_goes_on_where_it_was(store, ingest, build):
    ingest()
    done = build(chain(), lambda work: work.shard in SENTENCES[:2])

    assert not set(keys(plan(store, chain()))) & set(done)
    build(chain())
    assert plan(store, chain()).todo == ()


def test_new_shards_leave_old_ones_alone(store, ingest, build):
    ingest(SENTENCES[:2], {"pairs-00000": (0, 1)})
    build(chain())
    ingest(SENTENCES[2:], {"pairs-00001": (1, 2)})

    assert keys(plan(store, chain())) == [
        ("amr", SENTENCES[2]),
        ("label_vectors", SENTENCES[2]),
        ("metrics", "pairs-00001"),
    ]


def test_changed_parameter_is_named_all_down_the_chain(store, ingest, build):
    ingest()
    build(chain(16))
    planned = plan(store, chain(32))

    change = Change("parameters.batch_size", 16, 32)
    assert reasons(planned, "amr")[SENTENCES[0]] == Reason("recipe", changes=(change,))
    assert reasons(planned, "metrics")["pairs-00000"] == Reason(
        "input", inputs=(ChangedInput("amr", tuple(SENTENCES[:2]), (change,)),)
    )
    assert planned.explain() == [
        "amr: 3 shards, 3 to do: 3 because parameters.batch_size 16 → 32",
        f"label_vectors: 3 shards, 3 to do: 3 because amr of {ALL} changed (parameters.batch_size 16 → 32)",
        f"metrics: 2 shards, 2 to do: 2 because amr of {ALL} changed (parameters.batch_size 16 → 32)",
    ]


def test_reason_stays_when_upstream_is_made_already(store, ingest, build):
    ingest()
    build(chain(16))
    build(chain(32), lambda work: work.stage != "metrics")

    assert plan(store, chain(32)).explain()[2] == (
        f"metrics: 2 shards, 2 to do: 2 because amr of {ALL} changed (parameters.batch_size 16 → 32)"
    )


def test_only_pairs_of_changed_sentences_are_measured_again(store, ingest, build):
    ingest()
    build(chain(graphs={SENTENCES[2]: "old"}))
    planned = plan(store, chain(graphs={SENTENCES[2]: "new"}))

    assert keys(planned) == [("amr", SENTENCES[2]), ("label_vectors", SENTENCES[2]), ("metrics", "pairs-00001")]
    changed = SENTENCES[2]
    assert planned.explain() == [
        "amr: 3 shards, 1 to do: 1 because its graphs changed",
        f"label_vectors: 3 shards, 1 to do: 1 because amr of {changed} changed",
        f"metrics: 2 shards, 1 to do: 1 because amr of {changed} changed and label_vectors of {changed} changed",
    ]


@pytest.mark.parametrize(
    ("stages", "line"),
    [
        (chain(metrics="2"), "metrics: 2 shards, 2 to do: 2 because algorithm 1 → 2"),
        (
            chain(words="2"),
            f"metrics: 2 shards, 2 to do: 2 because label_vectors of {ALL} changed (algorithm 1 → 2)",
        ),
    ],
)
def test_other_changes_are_named_too(store, ingest, build, stages, line):
    ingest()
    build(chain())

    assert plan(store, stages).explain()[2] == line


def test_going_back_to_older_settings_is_a_change_too(store, ingest, build):
    ingest()
    build(chain(16))
    build(chain(32))

    assert plan(store, chain(16)).explain()[0] == "amr: 3 shards, 3 to do: 3 because parameters.batch_size 32 → 16"
    build(chain(16))
    assert plan(store, chain(16)).todo == ()


def test_mixed_reasons_are_grouped(store, ingest, build):
    ingest(pairs={})
    build(chain(16), lambda work: work.shard == SENTENCES[0])
    build(chain(32), lambda work: work.shard == SENTENCES[1])

    assert plan(store, chain(64)).explain()[0].split(", ") == [
        "amr: 3 shards",
        "3 to do: 1 because parameters.batch_size 16 → 64",
        "1 because parameters.batch_size 32 → 64",
        "1 new",
    ]


def test_failed_shards_are_told_while_they_are_the_same_work(store, ingest, build):
    ingest()
    expected = plan(store, chain()).expected
    failed = [
        FailedShard("amr", shard, expected["amr", shard], "out of memory\nTraceback …") for shard in SENTENCES[:2]
    ]
    stale = dataclasses.replace(failed[0], fingerprint=fingerprint(Recipe("amr", {"batch_size": 8}), []))

    planned = plan(store, chain(), failed=[failed[1], stale])
    assert planned.explain()[0] == "amr: 3 shards, 3 to do: 2 new, 1 failed before (out of memory)"
    build(chain())
    assert plan(store, chain(), failed=failed).todo == ()


def test_plan_at_older_versions(store, ingest, build):
    ingest()
    build(chain())
    versions = store.versions()
    build(chain(32))

    assert plan(store, chain(16), versions=versions).todo == ()
    assert plan(store, chain(16)).todo


def test_long_lists_of_shards_are_cut():
    changed = [Reason("input", inputs=(ChangedInput("amr", (f"s{number}",), ()),)) for number in range(5)]

    assert (
        summary("metrics", 9, changed) == "metrics: 9 shards, 5 to do: 5 because amr of s0, s1, s2 and 2 more changed"
    )


def test_reason_reads_as_a_sentence():
    assert str(Reason("recipe")) == "because the recipe changed"
    assert str(Reason("failed", error="boom")) == "failed before (boom)"


def test_pairs_of_a_sentence_shard_that_is_not_there_are_refused(store, ingest):
    ingest(SENTENCES[:1])

    with refused(UnknownShard):
        plan(store, chain())


def test_stage_over_pairs_may_need_pairs_only(store, ingest):
    ingest()
    stage = PlannedStage("metrics", "pairs", ("pairs",), Recipe("metrics"))

    assert [work.upstream for work in plan(store, [stage]).todo] == [(("pairs", shard),) for shard in PAIRS]


def test_pair_shard_without_pairs_reads_no_sentences(store, ingest, write, commit):
    ingest()
    commit(write("pairs", "pairs-00002", []))

    work = by_key(plan(store, chain()))
    assert work["metrics", "pairs-00002"].upstream == (("pairs", "pairs-00002"),)


def test_why_inputs_changed_is_found_without_opening_old_versions(store, ingest, build, monkeypatch):
    ingest()
    build(chain())
    opened, committed = set(), type(store).committed
    monkeypatch.setattr(type(store), "committed", lambda self, *at: opened.add(at[1:]) or committed(self, *at))
    assert "input" in {work.reason.kind for work in plan(store, chain(batch_size=32)).todo}
    assert opened == {(None,)}


def test_plan_at_older_versions_has_the_sentences_of_the_pairs_of_then(store, ingest):
    ingest(pairs={"pairs-00000": (0, 1)})
    versions = store.versions()
    ingest(pairs={"pairs-00000": (1, 2)})

    assert plan(store, chain(), versions=versions).uses.sources == {"pairs-00000": tuple(SENTENCES[:2])}
    assert plan(store, chain()).uses.sources == {"pairs-00000": tuple(SENTENCES[1:])}


def test_fingerprints_name_what_is_read(store, ingest):
    ingest()
    first, shard = chain(graphs={SENTENCES[0]: "old"})[0], SENTENCES[0]
    read = f"sentences:{shard}:{store.committed('sentences')[shard].fingerprint}"

    assert plan(store, [first]).expected["amr", shard] == fingerprint(first.recipe, [read, "extra:old"])


def test_what_is_missing_was_never_committed(store, ingest, build):
    ingest()
    build(chain(16), lambda work: work.stage == "amr")

    planned = plan(store, chain(32))
    assert planned.missing == {key for key in keys(planned) if key[0] != "amr"}
    assert len(planned.todo) == len(planned.missing) + len(SENTENCES)


@pytest.mark.parametrize(
    ("made", "rerun"),
    [
        (lambda work: work.stage == "amr", [("label_vectors", 0), ("label_vectors", 1), ("metrics", 0)]),
        (lambda work: work.stage != "metrics", [("metrics", 0)]),  # a retry was killed that had made what failed
    ],
)
def test_a_rerun_of_a_failed_shard_makes_what_reads_it_and_all_that_this_waits_for(store, ingest, build, made, rerun):
    ingest()
    build(chain(), made)
    work = plan(store, chain()).around([("label_vectors", SENTENCES[0])])
    assert [(item.stage, int(item.shard[-1])) for item in work] == rerun
