import io
import json

import pytest

from features.core.faults import ModelNotPulled, Usage
from features.graphs.penman_files import read_blocks
from features.parsers import amr
from flows.command_line import run

GRAPHS = "# ::snt A boy sleeps.\n(s / sleep-01\n   :ARG0 (b / boy))\n\n# ::snt It rains.\n(r / rain-01)\n"


@pytest.fixture
def sentences(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("It rains.\n\nA boy  sleeps.\n")
    return path


@pytest.fixture
def graphs(tmp_path):
    path = tmp_path / "graphs.amr"
    path.write_text(GRAPHS)
    return path


def test_graphs_that_the_user_has(sentences, graphs, tmp_path, capsys):
    output = tmp_path / "out.amr"
    assert run(["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(output)]) == 0
    assert [block.metadata["snt"] for block in read_blocks(output)] == ["It rains.", "", "A boy sleeps."]
    assert "2 of 2 sentences, 1 empty (each keeps its place)" in capsys.readouterr().err


def test_what_cannot_be_parsed_is_named_by_its_line(sentences, graphs, tmp_path, capsys):
    sentences.write_text("It rains.\n\nUnseen.\n")
    output = tmp_path / "out.tsv"
    assert run(["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(output)]) == 2
    assert "line 3: no_graph: " in capsys.readouterr().err
    assert [line.split("\t")[0] for line in output.read_text().splitlines()] == ["id", "1", "2", "3"]


def test_a_sentence_in_another_language_is_told(sentences, graphs, tmp_path, capsys):
    sentences.write_text("It rains.\n\nDer Hund schläft auf dem Sofa.\n", encoding="utf-8")
    run(["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(tmp_path / "out.amr")])
    assert "One sentence seems not to be English (German: 'Der Hund schläft" in capsys.readouterr().err


@pytest.mark.slow  # loads the parser
def test_a_sentence_in_another_script_is_rejected_by_the_embedded_parser(sentences, tmp_path, capsys):
    sentences.write_text("It rains.\n猫在睡觉。\n", encoding="utf-8")
    output = tmp_path / "out.amr"
    assert run(["parse", "amr", str(sentences), "-o", str(output), "--device", "cpu"]) == 2
    assert "line 2: unknown_words: the parser 'embedded/" in capsys.readouterr().err
    rained, slept = read_blocks(output)
    assert rained.graph is not None
    assert slept.error is not None
    assert slept.error.code == "unknown_words"


def test_graphs_that_are_looked_up_need_no_parser(sentences, graphs, tmp_path, refuses):
    command = ["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(tmp_path / "out.amr")]
    refuses(Usage, *command, "--batch-size", "8")


@pytest.mark.parametrize("option", [["--beams", "8"], ["--tokenizer", "folder"]], ids=str)
def test_the_embedded_parser_has_no_beams_and_no_tokenizer(sentences, tmp_path, refuses, option):
    refuses(Usage, "parse", "amr", str(sentences), *option, "-o", str(tmp_path / "out.amr"))


def test_many_rejects_are_counted(graphs, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("".join(f"Unseen {number}.\n" for number in range(50)))
    command = ["parse", "amr", str(tmp_path / "in.txt"), "--graphs", str(graphs), "-o", str(tmp_path / "out.amr")]
    assert run(command) == 2
    said = capsys.readouterr().err
    assert said.count("no_graph") == 20
    assert "… and 30 more; --verbose names them all." in said
    assert run([*command, "--verbose"]) == 2
    assert capsys.readouterr().err.count("no_graph") == 50


def test_from_standard_input_to_standard_output(graphs, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"It rains.\nUnseen [b].\n")))
    assert run(["parse", "amr", "-", "--graphs", str(graphs), "-o", "-"]) == 2
    found = capsys.readouterr()
    assert found.out.startswith("# ::id 1\n# ::snt It rains.\n(r / rain-01)\n\n# ::id 2\n")
    assert found.err.splitlines() == ["line 2: no_graph: no graph file has a graph with ::snt 'Unseen [b].'"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"It rains.\n")))
    assert run(["parse", "amr", "-", "--graphs", str(graphs), "-o", "-", "--format", "jsonl"]) == 0
    assert json.loads(capsys.readouterr().out)["penman"] == "(r / rain-01)"


def test_an_interrupt_says_that_nothing_was_written(sentences, graphs, tmp_path, capsys, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("features.stages.amr.parse_amr", interrupt)
    output = tmp_path / "out.amr"
    assert run(["parse", "amr", str(sentences), "--graphs", str(graphs), "-o", str(output)]) == 130
    assert capsys.readouterr().err.strip() == "facetflow: Interrupted; nothing was written."
    assert not output.exists()


@pytest.mark.parametrize("device", ["gpu", "", "cuda:x"])
def test_a_device_that_is_none_is_refused(sentences, refuses, device):
    for kind in ("amr", "srl"):
        refuses(Usage, "parse", kind, str(sentences), "-o", "-", "--device", device)


def test_more_threads_than_torch_can_count_are_refused(sentences, refuses):
    refuses(Usage, "parse", "dependencies", str(sentences), "-o", "-", "--threads", "1" + "0" * 23)


def test_an_output_that_cannot_be_written_is_told_before_the_work(sentences, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FACETFLOW_MODELS", str(tmp_path))  # the work would fail
    for kind in ("amr", "dependencies", "srl"):
        assert run(["parse", kind, str(sentences), "-o", "/sys/out.tsv"]) == 1
        assert capsys.readouterr().err.startswith("facetflow: '/sys/out.tsv' cannot be written: ")


def test_a_parser_that_is_not_here(sentences, tmp_path, refuses, monkeypatch):
    monkeypatch.setenv("FACETFLOW_MODELS", str(tmp_path))
    amr._load.cache_clear()  # an earlier test may have loaded it, and then it is here
    command = ["parse", "amr", str(sentences), "-o", str(tmp_path / "out.amr")]
    refuses(ModelNotPulled, *command)
    refuses(ModelNotPulled, *command, "--model", "parse_xfm_bart_large")
    assert not (tmp_path / "out.amr").exists()


@pytest.mark.slow
def test_the_parser_that_comes_along_is_the_default(sentences, tmp_path, needs_model):
    needs_model("all-MiniLM-L6-v2")
    output = tmp_path / "out.amr"
    assert run(["parse", "amr", str(sentences), "-o", str(output)]) == 0
    concepts = [set(block.graph.concepts) for block in read_blocks(output) if block.graph]
    assert concepts == [{"rain-01"}, {"sleep-01", "boy"}]


def test_an_output_of_no_known_format(sentences, tmp_path, capsys):
    for kind, first, other in (("amr", "amr", "conll"), ("dependencies", "conllu", "amr"), ("srl", "conll", "amr")):
        assert run(["parse", kind, str(sentences), "-o", str(tmp_path / "out.xyz")]) == 1
        said = capsys.readouterr().err
        assert f".{first}" in said
        assert f".{other}" not in said


@pytest.mark.slow
def test_dependencies(sentences, tmp_path, needs_model):
    needs_model("en_core_web_md")
    output = tmp_path / "out.conllu"
    assert run(["parse", "dependencies", str(sentences), "-o", str(output)]) == 0
    assert [line.split("\t")[1] for line in output.read_text().splitlines() if "\t" in line] == [
        *["It", "rains", "."],
        *["A", "boy", "sleeps", "."],
    ]
