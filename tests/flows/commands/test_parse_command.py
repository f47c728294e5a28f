from pathlib import Path

import pytest

from features.errors import ModelError
from features.graphs.penman_files import read_blocks
from features.models import pull
from flows.command_line import run

GRAPHS = "# ::snt A boy sleeps.\n(s / sleep-01\n   :ARG0 (b / boy))\n\n# ::snt It rains.\n(r / rain-01)\n"


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("It rains.\n\nA boy  sleeps.\n")
    return path


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    path = tmp_path / "graphs.amr"
    path.write_text(GRAPHS)
    return path


def test_graphs_that_the_user_has(
    sentences: Path, graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out.amr"
    assert run(["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(output)]) == 0
    assert [block.metadata["snt"] for block in read_blocks(output)] == ["It rains.", "A boy sleeps."]
    assert "2 of 2 sentences" in capsys.readouterr().err


def test_what_cannot_be_parsed_is_named_by_its_line(
    sentences: Path, graphs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences.write_text("It rains.\n\nUnseen.\n")
    output = tmp_path / "out.tsv"
    assert run(["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(output)]) == 2
    assert "line 3: no_graph: " in capsys.readouterr().err
    assert len(output.read_text().splitlines()) == 2


def test_a_parser_that_is_not_here(
    sentences: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACETFLOW_MODELS", str(tmp_path))
    command = ["parse", "amr", str(sentences), "-o", str(tmp_path / "out.amr")]
    assert run(command) == 1
    assert "`facetflow models pull all-MiniLM-L6-v2`" in capsys.readouterr().err
    assert run([*command, "--model", "parse_xfm_bart_large"]) == 1
    assert "`facetflow models pull parse_xfm_bart_large`" in capsys.readouterr().err
    assert not (tmp_path / "out.amr").exists()


@pytest.mark.slow
def test_the_parser_that_comes_along_is_the_default(sentences: Path, tmp_path: Path) -> None:
    try:
        pull("all-MiniLM-L6-v2")
    except ModelError as error:
        pytest.skip(f"needs all-MiniLM-L6-v2: {error}")
    output = tmp_path / "out.amr"
    assert run(["parse", "amr", str(sentences), "-o", str(output)]) == 0
    concepts = [set(block.graph.concepts) for block in read_blocks(output) if block.graph]
    assert concepts == [{"rain-01"}, {"sleep-01", "boy"}]


def test_an_output_of_no_known_format(sentences: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("amr", "dependencies"):
        assert run(["parse", kind, str(sentences), "-o", str(tmp_path / "out.xyz")]) == 1
        assert "suffix" in capsys.readouterr().err


@pytest.mark.slow
def test_dependencies(sentences: Path, tmp_path: Path) -> None:
    try:
        pull("en_core_web_md")
    except ModelError as error:
        pytest.skip(f"needs en_core_web_md: {error}")
    output = tmp_path / "out.conllu"
    assert run(["parse", "dependencies", str(sentences), "-o", str(output)]) == 0
    assert [line.split("\t")[1] for line in output.read_text().splitlines() if "\t" in line] == [
        *["It", "rains", "."],
        *["A", "boy", "sleeps", "."],
    ]
