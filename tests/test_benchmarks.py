"""Benchmarks that once did not run, or not what they said, on little data."""

import argparse
import runpy
import sys
import tomllib
from collections import Counter
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from features.metrics.bootstrap import Bootstrap
from flows.project import Project
from training.evaluation.bootstrap import correlate, in_groups


@pytest.fixture
def start(root, monkeypatch):
    """Return a function that runs a benchmark with some arguments, and some of its names replaced."""

    def start(name, *arguments, **replaced):
        main = runpy.run_path(str(root / "benchmarks" / name))["main"]
        for key, value in replaced.items():
            monkeypatch.setitem(main.__globals__, key, value)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        main()

    return start


def test_search_vectors(start, capsys):
    start("search_vectors.py", "--texts", "20", "--format", "arrow")
    assert "\n  the whole embedding " in capsys.readouterr().out


def test_recipes_are_a_table_of_what_differs_from_the_first(start, tmp_path, capsys):
    (tmp_path / "store").mkdir()
    encoders = {"a": "map_epochs = 5", "b": "map_epochs = 0\nloop = { epochs = 1 }", "c": ""}
    sections = [f'[[encoders]]\nname = "{name}"\nkind = "s3bert"\n{own}\n' for name, own in encoders.items()]
    (project := tmp_path / "recipes.toml").write_text("".join(['name = "p"\n', *sections]))
    commands = []
    replaced = {"facetflow": lambda _, words: commands.append(words), "_row": lambda *_: {"facets": 61.23}}
    replaced |= {"find_encoder": lambda *_: tmp_path, "seeds_of": lambda _: [tmp_path], "locate": lambda *_: tmp_path}
    start("s3bert_recipes.py", str(project), "[ab]", **replaced)
    assert commands == [["train", "a", "b", "--seeds", "1"]]
    assert capsys.readouterr().out == ('recipe,settings,facets\na,,61.2\nb,"loop.epochs = 1, map_epochs = 0",61.2\n')
    with pytest.raises(SystemExit, match="there are: a, b, c"):
        start("s3bert_recipes.py", str(project), "d", **replaced)


@pytest.mark.parametrize("kind", ["rgcn", "pas"])
def test_structured_encoder(kind, root, start, capsys):
    pairs = str(root / "features/corpora/example/pairs.tsv")
    start("structured_encoder.py", kind, pairs, "--columns", "2", "3", "--sentences", "12")
    assert " of 12 have another parse" in capsys.readouterr().out


def test_tables_of_the_paper_name_the_options_that_made_them(root, tmp_path):
    show = runpy.run_path(str(root / "benchmarks/s3bert_paper.py"))["show"]
    show(argparse.Namespace(out=tmp_path / "new", encoder=None, seeds=[1, 2], limit=100), "years", ["system"], [["a"]])
    made = (tmp_path / "new/s3bert_paper_years.csv").read_text()
    assert made == "# python benchmarks/s3bert_paper.py --data FOLDER --seeds FOLDER FOLDER --limit 100\nsystem\na\n"


def test_systems_without_a_score_in_some_year_have_no_mean(root):
    table = runpy.run_path(str(root / "benchmarks/s3bert_paper.py"))["table_of_years"]
    constant = correlate(np.ones((6, 1)), np.arange(6.0), in_groups(Bootstrap(10), range(6)))
    drawn = {f"sts{year}": constant for year in range(12, 17)}
    assert table({"quantifiers": slice(0, 1)}, drawn)[1] == [["quantifiers", *[""] * 6]]


def test_caption_flow_builds_all_that_its_table_shows(root):
    text = runpy.run_path(str(root / "benchmarks/caption_flow.py"))["_PROJECT"]
    filled = text.format(store="store", corpus='dataset = "example"', sentences_per_shard=8, cluster="workers = 1")
    project = Project.model_validate(tomllib.loads(filled))
    assert project.srl.enabled
    assert project.dependencies.enabled


def test_refresh_counts_each_second_once(root, tmp_path, monkeypatch, capsys):
    show = runpy.run_path(str(root / "benchmarks/refresh.py"))["_print"]
    moment, wall = "2026-01-01T00:00:09+00:00", {"start": 5.0, "stages": 4.0, "total": 9.0}
    record = SimpleNamespace(state="done", started=moment, finished=moment, wall=wall, seconds={})
    store = SimpleNamespace(open=lambda _: SimpleNamespace(runs=lambda: [record]))
    monkeypatch.setitem(show.__globals__, "Store", store)
    show(tmp_path, datetime(2026, 1, 1, tzinfo=UTC), 10.0, Counter())
    lines = capsys.readouterr().out.partition("stage, worker time")[0].splitlines()[2:]
    *parts, total, end, whole = (float(line.split()[-1]) for line in lines if line)
    assert sum(parts) == total
    assert total + end == whole


@pytest.mark.parametrize("name", ["s3bert_training.py", "aspect_training.py"])
def test_a_comparison_without_its_peer_ends_before_it_trains(name, start, capsys):
    with pytest.raises(SystemExit):
        start(name, *(["store"] if name[0] == "s" else []), find_spec=lambda _: None, subprocess=None)
    assert "pip install datasets" in capsys.readouterr().err
