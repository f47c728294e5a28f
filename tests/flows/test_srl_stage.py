"""Semantic roles as a stage of a build, with the tagger that the parity fixture holds."""

import shutil
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TAGGER = Path(__file__).parents[1] / "features/parsers/srl/fixtures/srl_bert.tar.gz"
SECTION = """
[srl]
enabled = true
model = "tagger.tar.gz"
predicates = "spacy"
"""


@pytest.fixture(autouse=True)
def pipeline(needs_model):
    needs_model("en_core_web_md")


@pytest.mark.soak
def test_a_project_that_asks_for_roles_gets_them(built, facetflow):
    before = built.tables()
    assert before["srl"].is_empty()
    shutil.copy(TAGGER, built.folder / "tagger.tar.gz")
    built.write(60, sentences=8, per_shard=8, srl=SECTION)
    facetflow.done(built, "build")
    record = built.store.runs()[0]
    assert record.made == {"srl": 8}
    rows = built.tables()["srl"]
    assert sorted(rows["sentence_id"]) == sorted(before["sentences"]["sentence_id"])
    assert rows["parser"].unique().to_list() == ["srl_bert/tagger"]
    assert rows["predicates"].list.len().max() > 0
    assert built.store.release().rows["srl"] == rows.height
    facetflow.done(built, "build")
    assert built.store.runs()[0].made == {}


def test_a_store_from_before_there_were_roles_gets_their_table(built, facetflow, here):
    import json

    description = built.folder / "store/store.json"
    content = json.loads(description.read_text())
    del content["tables"]["srl"]
    description.write_text(json.dumps(content))
    shutil.rmtree(built.folder / "store/tables/srl")
    here.done(built, "status")
    facetflow.done(built, "build")
    assert built.store.versions()["srl"] == 0
