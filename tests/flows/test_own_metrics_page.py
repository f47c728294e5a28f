"""docs/howto/own_metrics.md, followed literally: from a file to a column of the store and a facet of an encoder."""

import json
import re

import polars as pl
import pytest
from generated import write_backbone
from sentences import told

from features.core.faults import Conflict, UnknownName
from features.metrics.own import MetricFile, OwnMetrics
from features.metrics.registry import METRIC_COLUMNS, METRIC_NAMES
from features.parsers.dependencies import DependencyTree
from features.parsers.srl.frames import Frame, Span, SrlParse
from flows.command_line import run
from flows.evaluate_encoder import own_docstrings
from flows.project import load
from training.encoders.s3bert.facets import FacetLayout

OWN = ("modality", "common_words")
TRAINING = """\
[[encoders]]
name = "s3bert"
kind = "s3bert"
backbone = "backbone"
facet_dimensions = 1
layers_tuned = 1
splits = ["train", "train"]
loop = { epochs = 1, batch_size = 8, threads = 1 }
"""
CAN = "# ::snt A cat can swim .\n(p / possible-01 :ARG1 (s / swim-01 :ARG0 (c / cat)))\n\n"
MUST = "# ::snt A cat must swim .\n(o / obligate-01 :ARG2 (s / swim-01 :ARG0 (c / cat)))\n\n"


@pytest.fixture(scope="module")
def blocks(root):
    """The page's code blocks, by language."""
    found: dict[str, list[str]] = {}
    page = (root / "docs/howto/own_metrics.md").read_text()
    for language, code in re.findall(r"^```(\w+)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        found.setdefault(language, []).append(code)
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.soak
def test_from_a_file_to_a_column_and_a_facet(project, facetflow, here, blocks):
    project.write(24)
    facetflow.done(project, "build")
    before = project.store.read("metrics", project.store.release(1).versions["metrics"])
    assert before.columns == list(METRIC_COLUMNS)

    (project.folder / "my_metrics.py").write_text(blocks["python"][0])
    write_backbone(project.folder / "backbone")
    project.write(24, more=blocks["toml"][0] + TRAINING)
    said = here.done(project, "plan", "--explain")
    (line,) = [line for line in said.splitlines() if line.startswith("metrics: ")]
    assert "4 to do: 4 because parameters.own.common_words null → " in line
    assert all("up to date" in line for line in said.splitlines() if line.startswith(("amr: ", "label_vectors: ")))
    said = facetflow.done(project, "build")
    metrics = project.store.read("metrics")
    assert metrics.columns == [*METRIC_COLUMNS, *OWN]
    assert metrics.select(OWN).null_count().row(0) == (0, 0)
    # "1 small cat can sleep ." and "1 small cat can run .": five of seven words.
    assert metrics["common_words"].max() == pytest.approx(5 / 7)
    assert metrics.drop(OWN).sort("pair_id").equals(before.sort("pair_id"))
    assert project.store.read("metrics", project.store.release(1).versions["metrics"]).columns == list(METRIC_COLUMNS)

    said = facetflow.done(project, "train")
    (own,) = (project.folder / "runs").glob("s3bert/*/seed-0")
    layout = FacetLayout.load(own / "encoder")
    assert layout.names == (*METRIC_NAMES, *OWN)
    said = facetflow.done(project, "evaluate", "--split", "train")
    report = (own / "report.html").read_text()
    assert f"<h1>generated · encoder s3bert/{own.parent.name}/seed-0</h1>" in report
    assert "<dt>common_words</dt><dd>Share of common words (Jaccard).</dd>" in report
    assert "What matches in graphs" in report
    said = here.done(project, "explain", "Cats can swim.", "Cats must swim.", "--verbose")
    assert {line.split()[0] for line in said.splitlines() if line.strip()} >= {*METRIC_NAMES, *OWN}

    stored = project.store.read("sentences")["text"].to_list()[:2]
    said = here.done(project, "explain", *stored, "--html", "page.html")
    page = (project.folder / "page.html").read_text()
    assert "Graphs: the store" in page
    assert (page.count("<svg"), page.count("<h1>")) == (2, 1)
    said = here.done(project, "explain", *stored, "--graphs", "graphs.amr", "--json")
    # Before it stands, on stderr, that an encoder without dev pairs predicts no values.
    assert json.loads(said.splitlines()[-1])["graphs"]["facets"][0]["name"] == "smatch"

    source = (project.folder / "my_metrics.py").read_text()
    (project.folder / "my_metrics.py").write_text(source.replace("likely-01", "unlikely-01"))
    said = here.done(project, "plan", "--explain")
    assert re.search(r"metrics: .* because parameters\.own\.common_words \w+ → \w+, parameters\.own\.modality ", said)


def test_what_a_metric_says_of_itself_goes_to_the_report_and_a_file_that_is_gone_does_not_stop_it(project, blocks):
    (project.folder / "mine.py").write_text(blocks["python"][0])
    project.write(8, more='[metrics]\nown = ["mine.py"]\n')
    settings = load(project.folder / "facetflow.toml")
    assert own_docstrings(settings)["modality"] == "Agreement in what is possible, obligatory, permitted."
    (project.folder / "mine.py").unlink()
    assert own_docstrings(settings) == {}


@pytest.mark.slow
def test_a_metric_that_fails_publishes_nothing_and_says_why(project, facetflow):
    (project.folder / "mine.py").write_text(
        "from features.metrics.own import own_metric\n\n\n"
        '@own_metric(reads="sentences")\ndef fragile(left, right):\n    return 1 / 0\n'
    )
    project.write(8, more='[metrics]\nown = ["mine.py"]\n')
    code, said = facetflow.run(project, "build")
    assert code == 2
    words = " ".join(said.split())
    assert "Nothing was published: Stage 'metrics' rejected 16 of 16 rows" in words
    assert "16 of them as 'metric_failed' (metric 'fragile' of" in words
    assert "mine.py' raised ZeroDivisionError: division by zero in line 6)" in words

    project.write(
        8, more='[metrics]\nown = ["mine.py"]\n[[encoders]]\nname = "s3bert"\nkind = "s3bert"\nfacets = ["fragil"]\n'
    )
    (project.folder / "mine.py").write_text("from features.metrics.own import own_metric\n")
    code, said = facetflow.run(project, "build")
    assert code == 1
    assert "mine.py' has no metric; put @own_metric" in said.splitlines()[-1]


def test_trees_and_frames_need_their_stage(project, capsys, blocks):
    (project.folder / "mine.py").write_text(blocks["python"][1])
    project.write(8, more='[metrics]\nown = ["mine.py"]\n')
    assert run(["--project", str(project.folder / "facetflow.toml"), "plan"]) == 1
    said = capsys.readouterr().err
    assert told(said, Conflict)


def test_metrics_of_trees_and_frames(blocks):
    subjects, agents = OwnMetrics(files=(MetricFile(path="page.py", source=blocks["python"][1]),)).load()
    boys = DependencyTree(["Boys", "sleep"], ["boy", "sleep"], ["NOUN", "VERB"], [0, 5], [1, 1], ["nsubj", "ROOT"])
    rain = DependencyTree(["Rain", "!"], ["rain", "!"], ["NOUN", "PUNCT"], [0, 4], [0, 0], ["ROOT", "punct"])
    assert [subjects.score(boys, boys), subjects.score(boys, rain), subjects.score(rain, rain)] == [1.0, 0.0, 1.0]
    sleep = SrlParse(["Boys", "sleep"], [Frame(1, (Span("ARG0", 0, 1), Span("V", 1, 2)))])
    nothing = SrlParse(["Rain", "!"], [])
    assert [agents.score(sleep, sleep), agents.score(sleep, nothing), agents.score(nothing, nothing)] == [1.0, 0.0, 1.0]


def test_measure_and_score_take_the_file_too(tmp_path, blocks, capsys, refuses):
    file = tmp_path / "my_metrics.py"
    file.write_text(blocks["python"][0])
    gold, parsed = tmp_path / "a.amr", tmp_path / "b.amr"
    gold.write_text(CAN + MUST)
    parsed.write_text(CAN + CAN)
    words = tmp_path / "words.txt"
    words.write_text("cat 1 0\nswim 0 1\n")
    output = tmp_path / "scores.tsv"
    options = ["-o", str(output), "--glove", str(words), "--metric-file", str(file)]
    assert run(["measure", str(gold), str(parsed), *options]) == 0
    table = pl.read_csv(output, separator="\t")
    assert table.columns[-2:] == list(OWN)
    assert table["modality"].to_list() == [1.0, 0.0]
    # "A cat can swim ." and "A cat must swim .": four of six words.
    assert table["common_words"].to_list() == pytest.approx([1.0, 4 / 6])
    assert capsys.readouterr().err.startswith("Wrote 2 pairs, 2 of them measured, to ")

    broken = tmp_path / "broken.py"
    broken.write_text(
        "from features.metrics.own import own_metric\n"
        '@own_metric(reads="sentences")\ndef broken(left, right):\n    """Fail."""\n    return 1 / 0\n'
    )
    assert run(["measure", str(gold), str(parsed), *options, "--metric-file", str(broken)]) == 2
    assert "Wrote 2 pairs, 2 of them measured, 2 without broken, to " in capsys.readouterr().err

    assert run(["score", str(gold), str(parsed), "--metric-file", str(file)]) == 0
    said = capsys.readouterr().out
    assert ["modality", "50.00", "50.00", "50.00"] in [line.split()[:4] for line in said.splitlines()]
    file.write_text(blocks["python"][1])
    refuses(UnknownName, "score", str(gold), str(parsed), "--metric-file", str(file))

    file.write_text(blocks["python"][0])
    gold.write_text(CAN.replace("# ::snt", "#") + MUST)
    assert run(["measure", str(gold), str(parsed), *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("pair 1: metric 'common_words'")
    assert "# ::snt" in said
    assert pl.read_csv(output, separator="\t")["common_words"].null_count() == 1
