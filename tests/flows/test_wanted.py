"""Stages follow from what encoders read; `enabled` forces one on for all corpora, or off."""

import pytest
from sentences import refused

from features.core.faults import Conflict, UnknownName
from features.stages.metrics import MetricSettings
from features.store.scope import Uses, Wanted
from flows.building.planning import look_ahead
from flows.project import Project, load
from flows.trainings.due import Contents, training_identity
from flows.wanted import stages_of
from training.encoders.s3bert.settings import S3bertSettings
from training.kinds import KINDS, Kind

CAPTIONS = {"name": "p", "corpora": [{"dataset": "example"}]}
ENCODER = {"name": "syntax", "kind": "s3bert"}
TWO_CORPORA = """
[[encoders]]
name = "syntax"
kind = "s3bert"
corpora = ["mine"]
[[corpora]]
dataset = "snli"
files = {{ train = "nli.tsv" }}
{more}
"""
NLI = """\
premise\thypothesis\tlabel
A pet naps .\tA pet sleeps .\tentailment
1 small cat can sleep .\tIt is .\tneutral
"""


def made(**sections):
    project = Project.model_validate(CAPTIONS | sections)
    return names(stages_of(project.wanted, project.switches))


def names(readings):
    return [reading.name for reading in readings]


OFF, ON = {"enabled": False}, {"enabled": True}
TWINS = [{"name": "pas", "kind": "pas", "spans": "none"}, {"name": "rgcn", "kind": "rgcn", "graph": False}]
TREES = {"name": "trees", "kind": "rgcn"}


@pytest.mark.parametrize(
    ("sections", "stages"),
    [
        ({}, ["amr", "embeddings", "label_vectors", "metrics"]),
        ({"encoders": [{"name": "country", "kind": "aspect", "aspects": ["country"]}]}, []),
        ({"encoders": [TREES]}, ["dependencies"]),
        ({"encoders": [TREES, ENCODER]}, ["amr", "dependencies", "embeddings", "label_vectors", "metrics"]),
        ({"encoders": [{"name": "roles", "kind": "pas"}]}, ["srl"]),
        ({"encoders": TWINS}, []),
        ({"metrics": OFF}, ["embeddings"]),
        ({"metrics": OFF, "amr": OFF, "embeddings": OFF}, []),
        ({"encoders": []}, []),
        ({"encoders": [], "srl": ON}, ["srl"]),
        ({"encoders": [], "metrics": ON}, ["amr", "label_vectors", "metrics"]),
    ],
    ids=[
        *("an s3bert brings what it reads", "aspects bring nothing", "trees alone", "trees beside facets"),
        *("roles alone", "twins without structure bring nothing", "off, and what it alone reads", "all off"),
        *("a store that others read has nothing", "but what is enabled", "and what that reads"),
    ],
)
def test_stages_follow_from_the_encoders_and_from_what_is_enabled(sections, stages):
    assert made(**sections) == stages


def test_enabled_brings_a_stage_for_all_corpora():
    project = Project.model_validate(
        CAPTIONS | {"srl": {"enabled": True}, "encoders": [ENCODER | {"corpora": ["example"]}]}
    )

    assert project.wanted == (Wanted(KINDS["s3bert"].tables, ("example",)), Wanted(("srl",)))
    assert "srl" in names(stages_of(project.wanted, project.switches))


def test_each_encoder_brings_what_its_kind_reads_of_its_corpora(monkeypatch):
    toy = Kind(S3bertSettings, "toy", tables=("sentences", "pairs", "dependencies"))
    monkeypatch.setattr("training.kinds.KINDS", {**KINDS, "toy": toy})
    project = Project.model_validate(CAPTIONS)
    (s3bert,) = project.encoders
    other = s3bert.model_copy(update={"kind": "toy", "corpora": ("snli",)})
    both = project.model_copy(update={"encoders": (s3bert, other)})

    assert both.wanted == (Wanted(KINDS["s3bert"].tables, ("example",)), Wanted(toy.tables, ("snli",)))
    made_by_both = ["amr", "dependencies", "embeddings", "label_vectors", "metrics"]
    assert names(stages_of(both.wanted, both.switches)) == made_by_both
    alone = project.model_copy(update={"encoders": (other,), "metrics": MetricSettings(enabled=False)})
    assert names(stages_of(alone.wanted, alone.switches)) == ["dependencies"]


def test_a_stage_that_reads_one_that_is_off_is_refused():
    with refused(Conflict):
        made(amr={"enabled": False})


def test_an_own_metric_brings_the_table_that_it_reads():
    project = Project.model_validate(CAPTIONS)

    assert "dependencies" in names(stages_of(project.wanted, project.switches, {"metrics": ("dependencies",)}))


def test_encoders_that_do_not_read_the_metrics_need_no_graphs():
    project = Project.model_validate(CAPTIONS)

    assert names(stages_of([Wanted(("dependencies",), ("snli",))], project.switches)) == ["dependencies"]


def planned(project, more=""):
    project.write(6, sentences=4, per_shard=4, more=TWO_CORPORA.format(more=more))
    (project.folder / "nli.tsv").write_text(NLI)
    return look_ahead(load(project.folder / "facetflow.toml"))


def test_sentences_that_only_nli_uses_are_not_parsed_for_an_encoder_of_other_corpora(project):
    outlook = planned(project)

    # Six pairs, and a negative each; the premise that they share with NLI is in their shards.
    assert outlook.plan.explain() == [
        "amr: 2 shards (1 more is wanted by nothing), 2 to do: 2 new",
        "label_vectors: 2 shards (1 more is wanted by nothing), 2 to do: 2 new",
        "metrics: 4 shards (1 more is wanted by nothing), 4 to do: 4 new",
    ]
    stages = outlook.as_json()["stages"]
    assert stages[0] == {"stage": "amr", "shards": 2, "unwanted": 1, "to_do": 2}


def test_a_stage_that_is_forced_on_makes_the_sentences_of_all_corpora(project):
    project.write(6, sentences=4, per_shard=4, amr="enabled = true", more=TWO_CORPORA.format(more=""))
    (project.folder / "nli.tsv").write_text(NLI)

    outlook = look_ahead(load(project.folder / "facetflow.toml"))
    assert outlook.plan.explain()[0] == "amr: 3 shards, 3 to do: 3 new"


def test_a_corpus_that_is_nowhere_is_refused_with_the_one_that_may_be_meant(project):
    project.write(6, more='[[encoders]]\nname = "syntax"\nkind = "s3bert"\ncorpora = ["mine", "mime"]')

    with refused(UnknownName):
        look_ahead(load(project.folder / "facetflow.toml"))


def test_an_encoder_reads_the_corpora_that_it_can_learn_from():
    texts = {"dataset": "texts", "name": "t", "files": {"train": "t.tsv"}, "aspects": {"topic": "topic"}}
    topics = {"name": "topics", "kind": "aspect", "aspects": ["topic"]}
    project = Project.model_validate(
        CAPTIONS | {"corpora": [{"dataset": "example"}, texts], "encoders": [ENCODER, topics]}
    )
    assert [wanted.corpora for wanted in project.wanted] == [("example",), ("t",)]
    alone = project.model_copy(update={"corpora": project.corpora[1:]})
    assert [wanted.reads(frozenset({"t"})) for wanted in alone.wanted] == [False, True], "no pair, nothing to parse"

    def contents(sentences, **more):
        uses = Uses({"s-0": frozenset({"example"}), "s-1": frozenset({"t"}), **more}, {"p-0": frozenset({"example"})})
        shards = {"sentences": dict.fromkeys(sentences, "mark"), "pairs": {"p-0": "mark"}, "labels": {"l-0": "mark"}}
        return Contents("store", shards, uses)

    before = contents(["s-0", "s-1"])
    for encoder, of_other in ((project.encoders[0], "t"), (project.encoders[1], "example")):
        grown = contents(["s-0", "s-1", "s-2"], **{"s-2": frozenset({of_other})})
        assert training_identity(project, encoder, grown) == training_identity(project, encoder, before)
