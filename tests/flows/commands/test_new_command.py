import errno
import json
import os
import re
import shlex
import tomllib
from pathlib import Path

import jsonschema
import pytest

from flows.command_line import run
from flows.project import Project, load


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("my-project", "my-project"),
        ("my 猫 project", "my-猫-project"),
        ("wow!", "wow"),
        ("???", "my-project"),
        ("a/b.c", "b.c"),
    ],
)
def test_a_project_is_called_like_its_folder_and_its_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", folder]) == 0
    assert load(tmp_path / folder / "facetflow.toml").name == name


def test_the_next_step_can_be_copied_into_a_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_the_folder_of_the_shell_needs_no_cd(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", ".", "--example"]) == 0
    assert capsys.readouterr().err == "Next: facetflow build\n"
    assert load(tmp_path / "facetflow.toml").name == "example"


@pytest.mark.parametrize("kind", [(), ("--example",)], ids=["plain", "example"])
def test_an_editor_finds_the_schema_by_the_first_line_and_it_takes_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: tuple[str, ...]
) -> None:
    assert run(["new", str(tmp_path), *kind]) == 0
    text = (tmp_path / "facetflow.toml").read_text()
    name = text.partition("\n")[0].removeprefix("#:schema ./")
    schema = json.loads((tmp_path / name).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(text), schema)
    capsys.readouterr()
    assert run(["schema"]) == 0
    assert capsys.readouterr().out == (tmp_path / name).read_text(), "`facetflow schema` writes the same"


def test_a_schema_of_an_earlier_version_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "facetflow.schema.json").write_text("{}")
    assert run(["new", str(tmp_path)]) == 0
    assert (tmp_path / "facetflow.schema.json").read_text() != "{}"


def test_nothing_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pairs-to-explain.tsv").write_text("mine")
    assert run(["new", str(tmp_path), "--example"]) == 1
    assert "pairs-to-explain.tsv' already exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pairs-to-explain.tsv"]
    assert (tmp_path / "pairs-to-explain.tsv").read_text() == "mine"
    assert run(["new", str(tmp_path)]) == 0  # other files are no hindrance
    before = (tmp_path / "facetflow.toml").read_text()
    assert run(["new", str(tmp_path), "--example", "--if-missing"]) == 0
    assert (tmp_path / "facetflow.toml").read_text() == before


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The superuser may write anywhere, so the refusal is simulated.
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "write_text", refuse)
    assert run(["new", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err == (
        f"facetflow: Cannot write the project to {str(tmp_path / 'x')!r} (Permission denied): "
        "choose a folder that you may write to.\n"
    )


@pytest.fixture
def template(root: Path) -> str:
    return (root / "flows" / "templates" / "project.toml").read_text()


def with_everything(template: str) -> dict[str, object]:
    """Return the template after a user has uncommented every key and section."""
    return tomllib.loads(re.sub(r"^# (?=\[|\w+ = )", "", template, flags=re.MULTILINE))


def test_the_template_has_every_section(template: str) -> None:
    content = with_everything(template)
    assert set(content) == set(Project.model_fields)
    Project.model_validate(content)


def test_what_the_template_shows_behind_a_hash_is_the_default(template: str) -> None:
    content = with_everything(re.sub(r"^.*# an example.*\n", "", template, flags=re.MULTILINE))
    shown = Project.model_validate(content)
    plain = Project.model_validate(tomllib.loads(template))
    for section in ("ingest", "amr", "srl", "dependencies", "embeddings", "label_vectors", "metrics", "limits"):
        assert getattr(shown, section) == getattr(plain, section) == Project.model_fields[section].default
    assert shown.encoders == plain.encoders == Project.model_fields["encoders"].default
    assert shown.cluster == plain.cluster
    assert shown.corpora[: len(plain.corpora)] == plain.corpora  # behind them stands an example of another kind
