"""The facts that a build leaves: consistent with its record and tables, and its page made again from their file."""

import dataclasses
import json
from collections import Counter

import pytest
from click.testing import CliRunner

from features.core.faults import NoRelease
from features.store.runs import RunRecord
from features.store.store import Store
from flows import project as project_file
from flows.commands.status import diff, status
from flows.pages.build_facts import FactKeeper, end_killed, read_facts
from flows.pages.build_page import render_build
from flows.watching.shard_history import BuildHistory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def folder_of(built):
    (folder,) = (built.folder / "runs" / "builds").iterdir()
    return folder


def test_the_facts_of_a_build_agree_with_its_record_and_its_tables(built):
    (record,) = built.store.runs()
    facts = json.loads((folder_of(built) / "build.json").read_text())
    shards = facts["shards"]
    assert {shard["state"] for shard in shards} == {"committed"}
    assert Counter(shard["stage"] for shard in shards) == record.made
    seconds = Counter()
    for shard in shards:
        seconds[shard["stage"]] += shard["seconds"]
        (attempt,) = shard["attempts"]
        assert (attempt["worker"], attempt["outcome"]) == ("worker-0", "made")
        # A worker's own time has no reading of messages in it.
        assert shard["seconds"] <= attempt["heard"] - attempt["begun"] + 2
    assert dict(seconds) == pytest.approx(dict(record.seconds), abs=0.01)
    assert sum(shard["rows"] for shard in shards if shard["stage"] == "metrics") == 120
    assert {of["table"]: of["now"] for of in facts["tables"]} == dict(built.store.release().rows)
    read = facts["ingest"]
    assert (read["new_pairs"], read["new_labels"]) == (built.store.release().rows["pairs"], 0)
    assert [entry["stage"] for entry in facts["quality"]] == ["ingest", "amr", "label_vectors", "metrics"]
    assert (facts["quality"][0]["rows"], facts["quality"][1]["rows"], facts["before"]) == (60, 60, None)


def test_the_page_is_made_from_the_file_beside_it_and_status_names_it(built):
    page = folder_of(built) / "build.html"
    assert render_build(json.loads((page.parent / "build.json").read_text())) == page.read_text()
    output = CliRunner().invoke(status, obj=built.folder / "facetflow.toml").output
    assert f"Page of the newest build: {page}" in output.splitlines()


def test_of_a_killed_build_the_tables_say_what_it_committed(built):
    settings = project_file.load(built.folder / "facetflow.toml")
    (record,) = built.store.runs()
    file = folder_of(built) / "build.json"
    facts = json.loads(file.read_text())
    for shard in facts["shards"]:  # as it was written before the last commit
        shard["state"] = "made"
    facts["shards"][-1] |= {"state": "running", "shard": "pairs-99999", "seconds": None}
    facts["shards"][-1]["attempts"][0]["outcome"] = "running"
    file.write_text(json.dumps(facts | {"state": "running", "finished": None}))
    built.store.record_run(dataclasses.replace(record, state="running"))

    end_killed(settings, built.store)
    ended = read_facts(settings, record.run_id)
    assert ended.state == "killed"
    assert Counter(shard["state"] for shard in ended.shards) == {"committed": 31, "waiting": 1}
    assert ended.shards[-1]["attempts"][0]["outcome"] == "lost"
    assert "Killed." in file.with_name("build.html").read_text()


def test_the_page_of_a_build_that_was_killed_after_its_record_says_how_it_ended(tmp_path):
    corpus = 'name = "short"\n[[corpora]]\ndataset = "pairs"\nfiles = { train = "a.tsv" }\n'
    (tmp_path / "facetflow.toml").write_text(corpus)
    settings = project_file.load(tmp_path / "facetflow.toml")
    store = Store.open(settings.store, create=True)
    record = RunRecord("20260301T090500-ab12", "build_features", "2026-03-01T09:05:00+00:00", process="host:1")
    FactKeeper(settings, store, record, BuildHistory()).look({})
    store.record_run(dataclasses.replace(record, state="done", release=3, message="Published release 3."))

    end_killed(settings, store)
    ended = read_facts(settings, record.run_id)
    assert (ended.state, ended.release, ended.message) == ("done", 3, "Published release 3.")  # or gc would keep it


def test_a_folder_that_cannot_be_written_is_said_once_and_fails_nothing(built, capsys):
    settings = project_file.load(built.folder / "facetflow.toml")
    builds = settings.builds
    builds.rename(builds.with_name("moved"))
    builds.write_text("a file in the place of the folder")
    record = RunRecord("20260301T090500-ab12", "build_features", "2026-03-01T09:05:00+00:00")
    keeper = FactKeeper(settings, built.store, record, BuildHistory())
    keeper.look({})
    keeper.end(dataclasses.replace(record, state="failed", message="odd"), {})
    assert capsys.readouterr().err.count("The page of the build could not be written to ") == 1


def test_with_one_release_there_is_nothing_to_compare(built):
    def run(*words):
        return CliRunner().invoke(diff, words, obj=built.folder / "facetflow.toml")

    assert str(run().exception).startswith("There is only release 1, so nothing can be compared")
    assert isinstance(run("1", "9").exception, NoRelease)
    assert run("1", "1").output == "Releases 1 and 1 have the same rows, rejects and recipes.\n"
    assert json.loads(run("1", "--json").output)["same"] is True
