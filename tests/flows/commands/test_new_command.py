import errno
import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import jsonschema
import pytest

from features.core.faults import Conflict, OutputRefused, PathTaken
from features.stages import registry
from flows.command_line import run
from flows.project import Project, load
from training.kinds import KINDS


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my-project", "my-project"),
        ("my 猫 project", "my-猫-project"),
        ("wow!", "wow"),
        ("cafe\u0301 m²", "caf\u00e9-m2"),
        ("???", "my-project"),
        ("a/b.c", "b.c"),
    ],
)
def test_a_project_is_called_like_its_folder_and_its_file_is_read(tmp_path, monkeypatch, folder, name):
    monkeypatch.chdir(tmp_path)
    assert run(["new", folder]) == 0
    assert load(tmp_path / folder / "facetflow.toml").name == name


def test_the_next_step_can_be_copied_into_a_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["new", "my 猫 project"]) == 0
    said = capsys.readouterr()
    assert said.out == "Wrote my 猫 project/facetflow.toml\n"
    first, then = said.err.splitlines()
    assert "put your pairs next to it" in first  # the files that the template names are not there yet
    words = shlex.split(then.partition(": ")[2])
    assert words == ["cd", "my 猫 project", "&&", "facetflow", "plan"]
    os.chdir(words[1])
    Path("train.tsv").write_text("sentence_a\tsentence_b\nA boy sleeps.\tA girl sleeps.\n")
    Path("dev.tsv").write_text("sentence_a\tsentence_b\nA cat sleeps.\tA dog sleeps.\n")
    assert run(["plan"]) == 0


def test_a_folder_named_like_an_option_is_entered_as_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["new", "--example", "--", "-x"]) == 0
    assert capsys.readouterr().err == "Next: cd ./-x && facetflow build\n"


def test_the_folder_of_the_shell_needs_no_cd(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["new", ".", "--example"]) == 0
    assert capsys.readouterr().err == "Next: facetflow build\n"
    assert load(tmp_path / "facetflow.toml").name == "example"


@pytest.mark.parametrize("chosen", ["--example", *(f"--kind={kind}" for kind in KINDS)])
def test_an_editor_finds_the_schema_by_the_first_line_and_it_takes_the_file(tmp_path, capsys, chosen):
    assert run(["new", str(tmp_path), chosen]) == 0
    text = (tmp_path / "facetflow.toml").read_text()
    name = text.partition("\n")[0].removeprefix("#:schema ./")
    schema = json.loads((tmp_path / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(text), schema)
    capsys.readouterr()
    assert run(["schema"]) == 0
    assert capsys.readouterr().out == (tmp_path / name).read_text(), "`facetflow schema` writes the same"


def test_a_schema_of_an_earlier_version_is_no_hindrance(tmp_path):
    (tmp_path / "facetflow.schema.json").write_text("{}")
    assert run(["new", str(tmp_path)]) == 0
    assert (tmp_path / "facetflow.schema.json").read_text() != "{}"


def test_nothing_is_replaced(tmp_path, refuses):
    (tmp_path / "pairs-to-explain.tsv").write_text("mine")
    refuses(PathTaken, "new", str(tmp_path), "--example")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs-to-explain.tsv"]
    assert (tmp_path / "pairs-to-explain.tsv").read_text() == "mine"
    assert run(["new", str(tmp_path)]) == 0  # other files are no hindrance
    before = (tmp_path / "facetflow.toml").read_text()
    assert run(["new", str(tmp_path), "--example", "--if-missing"]) == 0
    assert (tmp_path / "facetflow.toml").read_text() == before


def test_a_disk_that_is_full_leaves_no_half_of_a_project_file(tmp_path, monkeypatch, refuses):
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", refuse)
    refuses(OutputRefused, "new", str(tmp_path / "x"))
    assert [*(tmp_path / "x").iterdir()] == []


@pytest.fixture(params=[*KINDS])
def kind(request):
    return str(request.param)


@pytest.fixture
def written(tmp_path, kind):
    """The project file that `facetflow new` writes for a kind of encoder."""
    assert run(["new", str(tmp_path), "--kind", kind]) == 0
    return (tmp_path / "facetflow.toml").read_text()


def with_everything(written: str) -> dict[str, object]:
    """Return the file after a user has uncommented every key and section."""
    return tomllib.loads(re.sub(r"^# (?=\[|\w+ = )", "", written, flags=re.MULTILINE))


STAGES = {
    "s3bert": ("amr", "embeddings", "label_vectors", "metrics"),
    "aspect": (),
    "rgcn": ("dependencies",),
    "pas": ("srl",),
}


def test_a_file_for_a_kind_has_the_sections_that_it_reads_and_no_others(kind, written):
    content = with_everything(written)
    Project.model_validate(content)
    assert "#@" not in written
    assert written.endswith("\n")
    own = {*STAGES[kind], *(("cluster",) if STAGES[kind] else ())}
    assert (set(content) - {"transfer"}) & {*registry.STAGES, "cluster"} == own
    everywhere = {"name", "store", "runs", "corpora", "leakage", "ingest", "limits", "retention", "encoders"}
    assert set(content) - {"transfer"} == {*everywhere, *own, "evaluation", "promotion"}
    assert {encoder["kind"] for encoder in content["encoders"]} == {kind}


FILES = {
    "s3bert": {"train.tsv": ("sentence_a", "sentence_b"), "dev.tsv": ("sentence_a", "sentence_b")},
    "aspect": {"texts.tsv": ("text", "topic")},
    "rgcn": {"pairs.tsv": ("sentence_a", "sentence_b", "label")},
    "pas": {"pairs.tsv": ("sentence_a", "sentence_b", "label")},
}


def test_files_of_the_right_shape_beside_it_make_it_a_project_that_can_be_built(
    tmp_path, kind, written, capsys, needs_model
):
    needs_model("en_core_web_md" if kind == "rgcn" else "all-MiniLM-L6-v2")
    for file, columns in FILES[kind].items():
        with (tmp_path / file).open("w") as table:
            table.write("\t".join(columns) + "\n")
            for row in range(40):
                texts = (f"In {file} boy {row} sleeps.", f"In {file} girl {row} sleeps.")
                cells = {**dict(zip(columns, texts, strict=False)), "topic": "sleep", "label": str(row % 2)}
                table.write("\t".join(cells[column] for column in columns) + "\n")
    capsys.readouterr()
    assert run(["plan", "--json", "--project", str(tmp_path)]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert sum(split["new"] for split in planned["ingest"]["splits"]) == 40 * len(FILES[kind])
    assert planned["obstacles"] == []
    assert tuple(stage["stage"] for stage in planned["stages"]) == STAGES[kind]
    assert all(stage["to_do"] for stage in planned["stages"])


def test_every_section_is_in_a_file_for_some_kind(tmp_path):
    sections: set[str] = set()
    for kind in KINDS:
        assert run(["new", str(tmp_path / kind), "--kind", kind]) == 0
        sections |= set(with_everything((tmp_path / kind / "facetflow.toml").read_text()))
    assert sections == set(Project.model_fields)


def test_what_a_file_shows_behind_a_hash_is_the_default(kind, written):
    without_examples = re.sub(r"^.*# an example.*\n", "", written, flags=re.MULTILINE)
    shown = Project.model_validate(with_everything(without_examples))
    plain = Project.model_validate(tomllib.loads(written))
    for section in ("ingest", "limits", "transfer", "promotion", *STAGES[kind]):
        assert getattr(shown, section) == getattr(plain, section) == Project.model_fields[section].default
    assert shown.encoders[: len(plain.encoders)] == plain.encoders
    usual = type(plain.encoders[0]).model_validate({"kind": kind, "name": plain.encoders[0].name})
    assert plain.encoders[0].model_copy(update={"aspects": ()} if kind == "aspect" else {}) == usual
    assert (shown.cluster, shown.corpora) == (plain.cluster, plain.corpora)


def test_the_example_is_of_one_kind(tmp_path, refuses):
    refuses(Conflict, "new", str(tmp_path / "x"), "--example", "--kind", "aspect")
    assert not (tmp_path / "x").exists()
