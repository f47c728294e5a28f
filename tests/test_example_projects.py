"""The projects under examples/, and what their table-making scripts share."""

import re
import shutil
from pathlib import Path

import pytest
from project_commands import gain, spread, suites, with_whole_paths

from flows.project import load

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = sorted(ROOT.glob("examples/**/*.toml"))


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_an_example_is_a_project_and_the_script_that_it_names_is_there(path, tmp_path):
    (tmp_path / "store").mkdir()  # that recipes are for
    project = load(Path(shutil.copy(path, tmp_path)))
    assert project.encoders
    assert len({encoder.name for encoder in project.encoders}) == len(project.encoders)
    text = " ".join(line.removeprefix("#").strip() for line in path.read_text().splitlines() if line.startswith("#"))
    for script, example in re.findall(r"python (benchmarks/\S+) (\S+\.toml)", text):
        assert (ROOT / script).is_file()
        assert ROOT / example == path


@pytest.mark.parametrize("name", ["bamboo", "study"])
def test_recipes_are_for_the_store_of_the_project_beside_them(name, tmp_path):
    path = ROOT / "examples" / name / "recipes.toml"
    (tmp_path / "store").mkdir()
    recipes, built = load(Path(shutil.copy(path, tmp_path))), load(path.with_name("facetflow.toml"))
    assert not recipes.corpora
    assert {name for encoder in recipes.encoders for name in encoder.corpora} <= {each.name for each in built.corpora}
    assert recipes.evaluation == built.evaluation
    assert recipes.encoders[0].backbone == built.embeddings.model


def test_mrpc_is_learnt_from_all_of_its_training_pairs_as_in_senteval():
    project = load(ROOT / "examples" / "dependency_trees" / "nli.toml")
    (mrpc,) = (known for known in project.evaluation if known.name == "mrpc")
    assert {split: len(files) if isinstance(files, tuple) else 1 for split, files in mrpc.files.items()} == {
        "train": 2, "test": 1
    }  # fmt: skip


def test_paths_of_a_project_are_found_wherever_its_file_is_put(tmp_path):
    text = 'files = { train = ["a/b.tsv", "c.tsv"] }\nname = "b.tsv"\n'
    moved = with_whole_paths(text, ["a/b.tsv", "c.tsv"], tmp_path)
    assert moved == f'files = {{ train = ["{tmp_path}/a/b.tsv", "{tmp_path}/c.tsv"] }}\nname = "b.tsv"\n'


def test_cells_of_tables():
    assert spread([]) == "-"
    assert spread([81.25], digits=1) == "81.2"
    assert spread([80.0, 82.0]) == "81.00 ± 1.41"
    assert gain([80.0, 82.0, 84.0], [79.0, 81.5, 82.0]) == "+1.17 ± 0.76, p = 0.118"
    assert gain([80.0], [81.5]) == "-1.50"
    assert gain([80.0, 81.0], [79.0, 80.0]) == "+1.00 ± 0.00"
    assert gain([80.0], []) == ""


def test_results_are_those_of_the_newest_training_in_the_order_of_seeds(tmp_path):
    for training in ("00001-fedcba", "00001-abcdef"):  # the same encoder with other settings, one after the other
        for seed in (10, 1, 0):
            folder = tmp_path / "syntax" / training / f"seed-{seed}"
            (folder / "encoder").mkdir(parents=True)
            (folder / "encoder" / "training.json").touch()
            (folder / "metrics.json").write_text(f'{{"suites": {{"ratings": "{training}-{seed}"}}}}')
    found = [result["ratings"] for result in suites(tmp_path, "syntax")]
    assert found == ["00001-abcdef-0", "00001-abcdef-1", "00001-abcdef-10"]
    (folder / "metrics-transfer.json").write_text('{"suites": {"transfer": 2}}')
    assert suites(tmp_path, "syntax", "transfer") == [{"transfer": 2}]
