"""`facetflow explain`: tables, JSON and pages, and which encoder and graphs they are by."""

import json
import re
import shutil

import pytest
from click.testing import CliRunner
from sentences import told

from features.core.faults import OutputRefused, Usage
from features.models import bundled_encoder
from flows.command_line import cli, run


@pytest.fixture(scope="module")
def encoder(trained_run):
    return trained_run / "encoder"


class TestCommand:
    """`facetflow explain`."""

    def run(self, *arguments):
        return CliRunner().invoke(cli, ["explain", *map(str, arguments)], catch_exceptions=False)

    @pytest.fixture
    def graphs(self, tmp_path):
        path = tmp_path / "graphs.amr"
        path.write_text(
            "# ::snt the cat sleeps\n(s / sleep-01 :ARG0 (c / cat))\n\n"
            "# ::snt the cat not sleeps\n(s / sleep-01 :polarity - :ARG0 (c / cat))\n"
        )
        return path

    def test_two_sentences_become_a_table_with_measured_beside_predicted(self, encoder, graphs):
        done = self.run("the cat sleeps", "the cat not sleeps", "--encoder", encoder, "--graphs", graphs, "--verbose")
        assert done.exit_code == 0
        assert 'Same frames and roles; only b negates "sleeps" ("not").' in done.stdout
        assert re.search(r"^ *negations +0\.00 +[01]\.\d\d ", done.stdout, re.MULTILINE)
        assert re.search(r"^ *srl +1\.00 ", done.stdout, re.MULTILINE)
        assert "encoder  one: encoder, trained on 72 pairs of left, right; 24 dev pairs" in done.stdout
        assert "graphs   graphs.amr" in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80

    def test_without_graphs_the_encoder_speaks_alone(self, encoder):
        done = self.run("two cat sleeps", "a cat runs", "--encoder", encoder, "--no-graphs", "--verbose")
        assert "graphs   not asked for" in done.stdout
        assert re.search(r"^ *smatch +– +[01]\.\d\d ", done.stdout, re.MULTILINE)
        done = self.run("two cat sleeps", "a cat runs", "--encoder", encoder, "--no-graphs", "--graphs", __file__)
        assert (done.exit_code, "contradict" in done.stderr) == (2, True)

    def test_a_sentence_in_another_language_is_a_note_on_its_pair(self, encoder):
        done = self.run("Ich habe keine Zeit.", "a cat runs", "--encoder", encoder, "--no-graphs", "--json")
        *_, note = json.loads(done.stdout)["notes"]
        assert note.startswith("One sentence seems not to be English (German: 'Ich habe keine Zeit.')")
        assert "seems" not in done.stderr

    def test_a_sentence_that_the_encoder_cuts_is_told(self, encoder):
        done = self.run("a cat", "the cat sleeps " * 20, "--encoder", encoder, "--no-graphs")
        assert "Sentence b is truncated: the encoder reads the first 30 of its 60 word pieces" in done.stdout
        assert "Sentence a is truncated" not in done.stdout
        done = self.run("a cat", "the cat sleeps", "--encoder", encoder, "--no-graphs", "--json")
        assert json.loads(done.stdout)["notes"] == []

    def test_a_page_names_its_project_and_where_it_was_written(self, encoder, graphs, tmp_path):
        project = tmp_path / "facetflow.toml"
        project.write_text(
            'name = "herbarium"\n[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "x.tsv" }\n'
        )
        words = ["--project", project, "explain", "the cat sleeps", "the cat not sleeps", "--encoder", encoder]
        words += ["--graphs", graphs, "--html", tmp_path / "new" / "page.html"]
        done = CliRunner().invoke(cli, [*map(str, words)], catch_exceptions=False)
        assert (done.stdout, done.stderr) == ("", f"Wrote 1 explained pair to {tmp_path / 'new' / 'page.html'}.\n")
        assert '<p class="quiet">herbarium · ' in (tmp_path / "new" / "page.html").read_text()

    def test_a_page_that_cannot_be_written_is_refused_before_the_work(self, encoder, tmp_path, capsys):
        (tmp_path / "file").write_text("")
        words = ["a cat", "a dog", "--encoder", encoder, "--no-graphs", "--html", tmp_path / "file" / "page.html"]
        assert run(["explain", *map(str, words)]) == 1
        assert told(capsys.readouterr().err, OutputRefused)
        done = self.run("a cat", "a dog", "--encoder", encoder, "--no-graphs", "--html", "-", "--json")
        assert (done.exit_code, "both write to standard output" in done.stderr) == (2, True)

    def test_a_pair_that_has_no_graphs_is_told(self, encoder, graphs):
        done = self.run("the cat sleeps", "a dog runs", "--encoder", encoder, "--graphs", graphs)
        assert "this pair has none (graphs.amr), so nothing is" in done.stdout
        done = self.run("the cat sleeps", "a dog runs", "--encoder", encoder, "--graphs", graphs, "--json")
        assert json.loads(done.stdout)["graphs_from"].startswith("this pair has none")

    def test_equal_sentences_are_said_to_be_equal_and_predicted_so(self, encoder, graphs):
        done = self.run("the cat sleeps", "the  cat sleeps", "--encoder", encoder, "--graphs", graphs, "--json")
        found = json.loads(done.stdout)
        assert found["equal"]
        assert found["headline"] == "The two sentences are equal."
        assert {facet["prediction"] for facet in found["facets"]} == {1}
        assert {facet["measured"] for facet in found["facets"]} <= {1, None}

    def test_json_has_everything(self, encoder, graphs):
        done = self.run("the cat sleeps", "the cat not sleeps", "--encoder", encoder, "--graphs", graphs, "--json")
        found = json.loads(done.stdout)
        assert found["sentence_b"] == "the cat not sleeps"
        assert len(found["facets"]) == 15
        negations = found["facets"][5]
        assert negations["measured"] == 0
        assert isinstance(negations["reliable"], bool)
        assert len(negations["interval"]) == 2
        assert found["words"].startswith("Same frames and roles")
        assert found["differences"][0]["facet"] == "negations"
        assert found["encoder"]["name"] == "one"
        assert found["encoder"]["dev_pairs"] == 24
        assert found["graphs_from"] == "graphs.amr"
        assert found["graphs"]["alignment"] == [[0, 0], [1, 1]]

    def test_a_table_of_pairs_is_explained_line_by_line(self, encoder, tmp_path):
        (tmp_path / "pairs.tsv").write_text("sentence_a\tsentence_b\na cat\ta dog\ntwo man\tno man\n")
        done = self.run("--pairs", tmp_path / "pairs.tsv", "--encoder", encoder, "--json", "--no-graphs")
        assert [json.loads(line)["sentence_a"] for line in done.stdout.splitlines()] == ["a cat", "two man"]

    def test_a_row_that_is_no_pair_keeps_its_place_and_is_named(self, encoder, tmp_path, capsys):
        table = tmp_path / "pairs.tsv"
        table.write_text("sentence_a\tsentence_b\na cat\ta dog\n\na dog\t \ntwo man\tno man\n")
        words = ["explain", "--pairs", str(table), "--encoder", str(encoder), "--no-graphs"]
        assert run([*words, "--json"]) == 2
        out, err = capsys.readouterr()
        lines = [json.loads(line) for line in out.splitlines()]
        assert [(line["line"], "problem" in line) for line in lines] == [(2, False), (3, True), (4, True), (5, False)]
        assert [line["problem"] for line in lines[1:3]] == ["the line is empty", "sentence b is empty"]
        assert lines[3]["sentence_a"] == "two man"
        assert f"{str(table)!r}, line 4: sentence b is empty." in err
        assert run(words) == 2
        assert capsys.readouterr().out.count("two man") == 1

    def test_without_project_the_bundled_encoder_predicts(self, tmp_path, monkeypatch, capsys):
        if bundled_encoder() is None:
            pytest.skip("all-MiniLM-L6-v2 is not pulled")
        monkeypatch.chdir(tmp_path)
        assert run(["explain", "The cat sleeps.", "The cat does not sleep."]) == 0
        out = capsys.readouterr().out
        assert "encoder  s3bert-minilm: all-MiniLM-L6-v2" in out
        negations = re.search(r"^ *negations +0\.00 +(\d\.\d\d) ", out, re.MULTILINE)
        assert float(negations[1]) < 0.5

    def test_without_project_and_encoder_words_and_metrics_are_measured(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("flows.console.explaining.bundled_encoder", lambda: None)
        words = ["explain", "The cat sleeps.", "The cat does not sleep."]
        assert run(words) == 0
        out = capsys.readouterr().out
        assert 'only b negates "sleep"' in out
        assert re.search(r"^ *negations +0\.00 lowest +what is negated *$", out, re.MULTILINE)
        assert not {"predicted", "similarity", "sentence", "ρ"} & {line.split(" ")[0] for line in out.splitlines()}
        assert "graphs   the embedded parser" in out
        assert max(map(len, out.splitlines())) <= 80
        assert run([*words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["encoder"], found["similarity"]) == (None, None)
        assert {facet["name"]: facet["measured"] for facet in found["facets"]}["negations"] == 0
        assert run([*words, "--html", "page.html"]) == 0
        page = (tmp_path / "page.html").read_text()
        assert ("measured</th>" in page, "predicted</th>" in page, page.count("<svg")) == (True, False, 2)

    def test_without_encoder_and_without_graphs_there_is_nothing_to_say(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("flows.console.explaining.bundled_encoder", lambda: None)
        assert run(["explain", "a cat", "a dog", "--no-graphs"]) == 1
        assert told(capsys.readouterr().err, Usage)
        assert run(["explain", "A cat sleeps.", "狗在叫。"]) == 2
        assert "Nothing is measured, because a sentence has no graph." in capsys.readouterr().out

    def test_a_table_from_standard_input_has_the_columns_of_the_project(self, encoder, tmp_path):
        project = tmp_path / "facetflow.toml"
        project.write_text(
            'name = "p"\n[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "x.tsv" }\n'
            'columns = { sentence_a = "left", sentence_b = "right", score = "gold" }\n'
        )
        words = [
            "--project",
            str(project),
            "explain",
            "--pairs",
            "-",
            "--encoder",
            str(encoder),
            "--json",
            "--no-graphs",
        ]
        done = CliRunner().invoke(cli, words, input="left,right\na cat,a dog\n", catch_exceptions=False)
        assert [json.loads(line)["sentence_b"] for line in done.stdout.splitlines()] == ["a dog"]

    @pytest.mark.parametrize("sentences", [(), ("one",), ("one", "two", "three")])
    def test_anything_but_two_sentences_is_a_usage_error(self, encoder, sentences):
        done = self.run(*sentences, "--encoder", encoder)
        assert done.exit_code == 2
        assert "give two sentences in quotes" in done.stderr

    def test_the_latest_encoder_of_the_project_is_the_default(self, encoder, tmp_path):
        shutil.copytree(encoder, tmp_path / "runs" / "one" / "00001-abcdef" / "seed-0" / "encoder")
        project = tmp_path / "facetflow.toml"
        project.write_text(
            'name = "p"\nruns = "runs"\n[[corpora]]\ndataset = "pairs"\nname = "mine"\nfiles = { train = "x.tsv" }\n'
        )
        done = CliRunner().invoke(
            cli,
            ["--project", str(project), "explain", "a cat", "a dog", "--json", "--no-graphs"],
            catch_exceptions=False,
        )
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["sentence_a"] == "a cat"
