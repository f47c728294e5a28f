"""Stages follow from what encoders read; `enabled` forces one on for all corpora, or off."""

import pytest

from features.errors import SettingsError
from features.store.scope import Wanted
from flows.planning import look_ahead
from flows.project import Project, load
from flows.wanted import S3BERT_READS, stages_of, wanted_of

CAPTIONS = {"name": "p", "corpora": [{"dataset": "example"}]}
TWO_CORPORA = """
[training]
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
    return list(stages_of(project, wanted_of(project)))


def test_an_s3bert_brings_the_stages_that_it_reads_and_no_others():
    assert made() == ["amr", "embeddings", "label_vectors", "metrics"]


def test_enabled_brings_a_stage_for_all_corpora():
    project = Project.model_validate(CAPTIONS | {"srl": {"enabled": True}, "training": {"corpora": ["example"]}})

    assert wanted_of(project) == (Wanted(S3BERT_READS, ("example",)), Wanted(("srl",)))
    assert "srl" in stages_of(project, wanted_of(project))


def test_a_stage_that_is_off_is_not_made_and_nor_is_what_only_it_reads():
    off = {"enabled": False}

    assert made(metrics=off) == ["amr", "embeddings"]
    assert made(metrics=off, amr=off, embeddings=off) == []


def test_a_stage_that_reads_one_that_is_off_is_refused():
    with pytest.raises(SettingsError, match=r"\[metrics\] reads 'amr', which the project file switches off: take "):
        made(amr={"enabled": False})


def test_an_own_metric_brings_the_table_that_it_reads():
    project = Project.model_validate(CAPTIONS)

    assert "dependencies" in stages_of(project, wanted_of(project), ("dependencies",))


def test_encoders_that_do_not_read_the_metrics_need_no_graphs():
    project = Project.model_validate(CAPTIONS)

    assert list(stages_of(project, [Wanted(("dependencies",), ("snli",))])) == ["dependencies"]


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
    project.write(6, more='[training]\ncorpora = ["mime"]')

    with pytest.raises(SettingsError, match=r"`training.corpora` names 'mime', .*; did you mean 'mine'\? Name some of"):
        look_ahead(load(project.folder / "facetflow.toml"))
