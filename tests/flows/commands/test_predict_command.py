"""`facetflow predict` and `Encoder.predict`: labels, faulty rows, the choice of the encoder, messages."""

import json
import os
import re

import numpy as np
import polars as pl
import pytest
from sentences import refused, told

import facetflow
from features.core.faults import (
    CannotExplain,
    ColumnMissing,
    ColumnsUnclear,
    EmptyText,
    EncoderDamaged,
    NoClassifier,
    NoEncoder,
    NotTexts,
    OutputOverwrites,
    Usage,
    WrongValue,
)
from features.corpora.pair_tables import read_pair_rows
from flows.command_line import run
from training.encoders.loading import load_encoder
from training.modules.calibration import Calibration
from training.modules.pair_classifier import PairClassifier
from training.predicting import PairPredictor, choose_predictor, has_classifier
from training.thresholds import LabelThreshold

PAIRS = ("the cat\ta cat", "a dog\tthe house", "the park\tthe park")


def classifier(parts=("|u-v|", "u*v"), labels=("0", "1")):
    """Return a classifier of the embeddings of `word_encoder`: the closer they are, the likelier the last label."""
    import torch

    made = PairClassifier(5, labels, parts)
    with torch.no_grad():
        made.linear.weight.zero_()
        made.linear.weight[-1, :5] = -4
        made.linear.bias.zero_()
        made.linear.bias[-1] = 1
    made.calibration = Calibration(2.0, (0.0,) * len(labels), 120, 0.9, 0.6)
    return made


@pytest.fixture
def project(tmp_path, monkeypatch, word_encoder):
    """Go to the folder of a project with an encoder that has a classifier, a newer one without, and some pairs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "facetflow.toml").write_text(
        'name = "zoo"\n[[corpora]]\ndataset = "pairs"\nname = "zoo"\nfiles.train = "pairs.tsv"\n'
        'columns = { sentence_a = "left", sentence_b = "right" }\n'
    )
    for number, name in enumerate(("same", "plain")):
        encoder = add_encoder(tmp_path, word_encoder, name)
        os.utime(encoder / "training.json", (number, number))
    classifier().save(tmp_path / "runs/same/00001-abcdef/seed-0/encoder")
    write(tmp_path / "pairs.tsv", "left\tright", *PAIRS)
    return tmp_path


def add_encoder(project, word_encoder, name):
    made = project / "runs" / name / "00001-abcdef" / "seed-0"
    (made / "encoder").mkdir(parents=True)
    for file in word_encoder.iterdir():
        (made / "encoder" / file.name).symlink_to(file)
    (made / "encoder" / "training.json").write_text(json.dumps({"settings": {"kind": "rgcn", "name": name}}))
    (made / "train.json").write_text("{}")
    return made / "encoder"


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_every_row_gets_the_label_and_the_probabilities_of_the_newest_encoder_that_has_a_classifier(project, capsys):
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv"]) == 0
    table = pl.read_csv("labels.tsv", separator="\t", schema_overrides={"label": pl.String})
    assert table.columns == ["line", "sentence_a", "sentence_b", "label", "p_0", "p_1"]
    assert table["line"].to_list() == [2, 3, 4]
    assert table["label"].to_list() == ["1", "0", "1"]
    assert (table["p_0"] + table["p_1"]).to_list() == pytest.approx([1, 1, 1])
    model = load_encoder(project / "runs/same/00001-abcdef/seed-0/encoder", device="cpu")
    pairs = [tuple(pair.split("\t")) for pair in PAIRS]
    vectors = [model.encode([pair[side] for pair in pairs], convert_to_numpy=True) for side in (0, 1)]
    assert table["p_1"].to_list() == pytest.approx(classifier().probabilities(*vectors)[:, 1].tolist(), abs=1e-6)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Wrote 3 pairs to labels.tsv." in err
    assert "1 × 0, 2 × 1" in err
    assert "pairs a second." in err
    assert "swapped" not in err  # there is no order to speak of


def test_sentences_in_another_language_are_told(project, capsys):
    write(project / "pairs.tsv", "left\tright", *PAIRS, "Ich habe keine Zeit.\tJe ne sais pas.")
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv"]) == 0
    assert "2 of 7 sentences seem not to be English (German, French: 'Ich habe" in capsys.readouterr().err
    write(project / "pairs.tsv", "left\tright", *PAIRS)
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv"]) == 0
    assert "English" not in capsys.readouterr().err


def test_rows_that_are_wrong_keep_their_place_without_a_label_and_are_named(project, capsys):
    write(project / "bad.tsv", "left\tright", PAIRS[0], "the cat", "\t  ", "a dog\t ", PAIRS[1])
    assert run(["predict", "bad.tsv", "-o", "labels.jsonl"]) == 2
    rows = [json.loads(line) for line in (project / "labels.jsonl").read_text().splitlines()]
    assert [(row["line"], row["label"]) for row in rows] == [(2, "1"), (3, None), (4, None), (5, None), (6, "0")]
    assert rows[1]["sentence_a"] is rows[1]["p_0"] is None
    assert rows[3]["sentence_a"] == "a dog"
    err = capsys.readouterr().err
    assert "'bad.tsv', line 3: the row has 1 cell; expected 2." in err
    assert "'bad.tsv', line 4: both sentences are empty." in err
    assert "'bad.tsv', line 5: sentence b is empty." in err
    assert "Wrote 5 pairs, 3 of them without a label, to labels.jsonl." in err


def test_as_json_standard_output_is_one_object_and_the_table_may_be_standard_output_too(project, capsys, refuses):
    assert run(["predict", "pairs.tsv", "-o", "labels.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["labels"], found["wrong"]) == (3, {"0": 1, "1": 2}, [])
    assert (found["changed_by_swapping"], found["calibrated_by"]) == (None, 120)
    assert found["encoder"].endswith("runs/same/00001-abcdef/seed-0/encoder")
    assert run(["predict", "pairs.tsv", "-o", "-", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "line\tsentence_a\tsentence_b\tlabel\tp_0\tp_1"
    assert err == ""
    refuses(Usage, "predict", "pairs.tsv", "-o", "-", "--json")


def test_probabilities_that_nothing_put_right_are_told(project, capsys):
    made = classifier()
    made.calibration = None
    made.save(project / "runs/same/00001-abcdef/seed-0/encoder")
    assert run(["predict", "pairs.tsv", "-o", "labels.csv", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["calibrated_by"] is None
    assert "The probabilities may be overconfident or underconfident: they were not calibrated" in err


def test_a_classifier_that_learnt_nothing_is_doubted(project, capsys):
    made = classifier()
    made.calibration = Calibration(485.0, (-0.4, 0.4), 120, loss_before=0.7, loss=0.62, loss_of_shares=0.621)
    made.save(project / "runs/same/00001-abcdef/seed-0/encoder")
    assert run(["predict", "pairs.tsv", "-o", "labels.csv", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "not clearly better than guessing by the shares of their labels (cross-entropy 0.620 vs 0.621)" in err
    assert json.loads(out)["doubt"] in err


def test_sentences_that_the_encoder_reads_in_part_are_counted(project, capsys, monkeypatch):
    monkeypatch.setattr("training.predicting.count_cut", lambda model, texts: sum(len(text) > 7 for text in texts))
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["truncated"] == 2
    assert "2 sentences longer than the encoder's input were truncated: the rest has no effect on labels." in err


def test_a_classifier_that_sees_the_order_is_asked_both_ways_and_the_difference_told(project, capsys):
    classifier(("u",)).save(project / "runs/same/00001-abcdef/seed-0/encoder")
    write(project / "pairs.tsv", "left\tright", "nothing known\tthe cat", "a cat\ta dog")
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv"]) == 0
    assert "with the sentences swapped, 1 of 2 pairs would have another label" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "lines", "expected"),
    [
        ((), ("sentence_a,sentence_b", "a,b"), "a"),
        ((), ("id,question1,question2", "7,a,b"), "a"),
        ((), ("other,left,right", "x,a,b"), "a"),
        (("x", "y"), ("sentence_a,sentence_b,x,y", "1,2,a,b"), "a"),
        ((2, 0), ("b,x,a",), "a"),
    ],
    ids=["usual", "of a dataset", "of the project", "named", "by position"],
)
def test_the_columns_of_the_sentences_are_found_or_named(project, columns, lines, expected):
    from flows.project import load

    file = write(project / "some.csv", *lines)
    (row,) = read_pair_rows(file, columns, load(project / "facetflow.toml").corpora)
    assert (row.text_a, row.text_b, row.problem) == (expected, "b", "")


def test_unknown_columns_are_said_with_those_that_there_are(project):
    file = write(project / "some.csv", "one,two", "a,b")
    with refused(ColumnMissing):
        read_pair_rows(file)
    with refused(ColumnMissing):
        read_pair_rows(file, ("one", "three"))


def test_positions_are_for_tables_of_cells(project):
    file = write(project / "some.jsonl", '{"0": "a", "1": "b"}')
    with refused(ColumnsUnclear):
        read_pair_rows(file, (0, 1))


def test_a_header_line_that_is_taken_for_a_pair_is_told(project, capsys):
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv", "--columns", "0", "1"]) == 0
    assert "The first row of 'pairs.tsv' looks like a header line ('left', 'right')" in capsys.readouterr().err


def test_an_encoder_without_a_classifier_is_refused_with_what_to_do(project, capsys):
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv", "--encoder", "plain"]) == 1
    err = capsys.readouterr().err
    assert told(err, NoClassifier)
    assert not (project / "labels.tsv").exists()
    for name in ("classifier.json", "classifier.safetensors"):
        (project / "runs/same/00001-abcdef/seed-0/encoder" / name).unlink()
    with refused(NoClassifier):
        choose_predictor(project / "runs")
    with refused(NoEncoder):
        choose_predictor(None)


@pytest.mark.parametrize("lost", [("classifier.json",), ("classifier.json", "classifier.safetensors")], ids=len)
def test_an_encoder_that_lost_its_classifier_is_told_from_one_that_never_had_one(project, capsys, lost):
    encoder = project / "runs/same/00001-abcdef/seed-0/encoder"
    settings = {"kind": "rgcn", "name": "same", "objective": "softmax"}
    (encoder / "training.json").write_text(json.dumps({"settings": settings}))
    for name in lost:
        (encoder / name).unlink()
    for asked in ([], ["--encoder", "same"]):
        assert run(["predict", "pairs.tsv", "-o", "labels.tsv", *asked]) == 1
        err = capsys.readouterr().err
        assert told(err, EncoderDamaged)
    (encoder / "training.json").write_text(json.dumps({"settings": settings | {"objective": "distillation"}}))
    assert has_classifier(encoder) is (len(lost) == 1)


def test_the_current_encoder_with_a_classifier_goes_before_a_newer_one(project, word_encoder):
    newer = add_encoder(project, word_encoder, "newer")
    classifier().save(newer)
    assert choose_predictor(project / "runs") == newer
    (project / "runs/same/current").symlink_to("00001-abcdef/seed-0", target_is_directory=True)
    assert choose_predictor(project / "runs").parents[2].name == "same"
    assert choose_predictor(project / "runs", "newer") == newer


def test_a_classifier_of_another_encoder_is_refused(project, word_encoder, refuses):
    PairClassifier(7, ("0", "1")).save(project / "runs/same/00001-abcdef/seed-0/encoder")
    refuses(EncoderDamaged, "predict", "pairs.tsv", "-o", "labels.tsv")


def test_from_python_a_pair_has_a_prediction_and_several_a_list_in_their_order(project):
    encoder = facetflow.load_encoder(project / "runs/same/00001-abcdef/seed-0", device="cpu")
    one = encoder.predict("the  cat", "a cat")
    assert isinstance(one, facetflow.Prediction)
    assert (one.sentence_a, one.label) == ("the cat", "1")
    assert one.probabilities == pytest.approx({"0": 1 - one.probabilities["1"], "1": one.probabilities["1"]})
    pairs = [tuple(pair.split("\t")) for pair in PAIRS]
    assert [found.label for found in encoder.predict(pairs)] == ["1", "0", "1"]
    assert [found.label for found in encoder.predict(reversed(pairs))] == ["1", "0", "1"][::-1]
    assert [found.label for found in encoder.predict("a cat", ["the cat", "a dog"])] == ["1", "0"]
    assert encoder.predict([]) == []
    with refused(EmptyText):
        encoder.predict(["a", "b"], ["c", " "])
    with refused(NoClassifier):
        facetflow.load_encoder(project / "runs/plain/00001-abcdef/seed-0", device="cpu").predict("a", "b")


def test_sentences_that_an_earlier_command_embedded_are_not_embedded_again(project, capsys):
    assert run(["predict", "pairs.tsv", "-o", "first.tsv"]) == 0
    assert re.search(r"; [\d,.]+ pairs a second\.", capsys.readouterr().err)
    write(project / "more.tsv", "left\tright", *PAIRS, "the cat\tanother cat")
    assert run(["predict", "more.tsv", "-o", "second.tsv", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "; 5 of 6 sentences embedded by an earlier command." in err
    assert (json.loads(out)["sentences_reused"], json.loads(out)["pairs_per_second"]) == (5, None)
    first, second = ((project / name).read_text().splitlines() for name in ("first.tsv", "second.tsv"))
    assert second[: len(first)] == first


def test_a_threshold_gives_the_positive_label_from_its_probability_on(project, capsys):
    made = classifier()
    made.threshold = LabelThreshold("1", 0.05, 120)
    made.save(project / "runs/same/00001-abcdef/seed-0/encoder")
    said = {}
    for threshold in ("dev", "0.999123", "0.5"):
        assert run(["predict", "pairs.tsv", "-o", "labels.tsv", "--json", "--threshold", threshold]) == 0
        out, err = capsys.readouterr()
        said[threshold] = json.loads(out)
        table = pl.read_csv("labels.tsv", separator="\t", schema_overrides={"label": pl.String})
        by_hand = ["1" if value >= said[threshold]["threshold"]["value"] else "0" for value in table["p_1"]]
        assert table["label"].to_list() == by_hand
        assert f"The label is '1' from a probability of {said[threshold]['threshold']['value']}" in err
    assert [said[threshold]["labels"]["1"] for threshold in said] == [3, 0, 2]
    assert said["dev"]["threshold"] == {"label": "1", "value": 0.05, "pairs": 120}
    assert said["0.5"]["threshold"] == {"label": "1", "value": 0.5, "pairs": None}
    encoder = facetflow.load_encoder(project / "runs/same/00001-abcdef/seed-0", device="cpu")
    pairs = [tuple(pair.split("\t")) for pair in PAIRS]
    assert [found.label for found in encoder.predict(pairs, threshold="dev")] == ["1"] * 3
    assert [found.label for found in encoder.predict(pairs, threshold=0.999)] == ["0"] * 3
    assert [found.label for found in encoder.predict(pairs, threshold=np.int64(1))] == ["0"] * 3
    for wrong in ("low", [0.5], True):
        with refused(WrongValue):
            encoder.predict(pairs, threshold=wrong)


@pytest.mark.parametrize(
    ("labels", "threshold", "message"),
    [
        (("0", "1"), "dev", "keeps no threshold of dev pairs"),
        (("0", "1"), "1.5", "'1.5' is neither a probability, from 0 to 1, nor dev"),
        (("0", "1"), "low", "'low' is neither a probability, from 0 to 1, nor dev"),
        (
            ("no", "perhaps", "yes"),
            "0.3",
            "A threshold needs a classifier of two labels, one of them positive; that of",
        ),
        (("no", "perhaps", "yes"), "dev", "has 'no', 'perhaps', 'yes'. Leave the threshold out"),
        (("cold", "warm"), "0.3", "has 'cold', 'warm'. Leave the threshold out"),
    ],
)
def test_a_threshold_that_cannot_be_is_refused(project, capsys, labels, threshold, message):
    classifier(labels=labels).save(project / "runs/same/00001-abcdef/seed-0/encoder")
    assert run(["predict", "pairs.tsv", "-o", "labels.tsv", "--threshold", threshold]) == 1
    assert message in " ".join(capsys.readouterr().err.split())
    assert not (project / "labels.tsv").exists()


def test_no_pairs_are_no_predictions(project):
    folder = project / "runs/same/00001-abcdef/seed-0/encoder"
    found = PairPredictor(folder, load_encoder(folder, device="cpu")).predict([])
    assert found.predicted == []
    assert found.probabilities.shape == (0, 2)


@pytest.mark.parametrize(
    "files",
    [
        ("-o", "x.html", "--format", "tsv", "--explain", "sub/../x.html"),
        ("-o", "labels.tsv", "--explain", "pairs.tsv"),
        ("-o", "labels.tsv", "--explain", "facetflow.toml"),
        ("-o", "./pairs.tsv"),
    ],
    ids=" ".join,
)
def test_no_file_of_a_command_is_written_over_another(project, refuses, files):
    (project / "sub").mkdir()
    before = {path: path.read_bytes() for path in project.rglob("*.*") if path.is_file()}
    refuses(OutputOverwrites, "predict", "pairs.tsv", *files)
    assert {path: path.read_bytes() for path in project.rglob("*.*") if path.is_file()} == before


def test_from_python_what_is_missing_is_said_in_words_of_python(project):
    encoder = facetflow.load_encoder(project / "runs/same/00001-abcdef/seed-0", device="cpu")
    with refused(CannotExplain):
        encoder.predict("the cat", "a cat", spans=True)
    with refused(NotTexts):
        encoder.predict("the cat", None)


def test_an_encoder_without_spans_has_nothing_to_draw(project, refuses):
    refuses(CannotExplain, "predict", "pairs.tsv", "-o", "labels.tsv", "--explain", "page.html")
    assert not (project / "labels.tsv").exists()


def test_a_current_run_that_is_gone_is_named_with_the_one_that_predicts(project, capsys):
    (project / "runs" / "same" / "current").symlink_to("00009-abcdef/seed-0")
    assert run(["predict", "pairs.tsv", "-o", "out.tsv"]) == 0
    assert "The current run of the encoder 'same', same/00009-abcdef/seed-0, is gone; same/" in capsys.readouterr().err
