"""The scores of an encoder against other ways to compute them, and the files of an evaluation."""

import json
import re
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from sentences import refused

from features.core.faults import FileMissing, JobWrong, NoScores, NothingToScore, RunNotWritten
from features.metrics.bootstrap import FEWEST
from features.metrics.registry import METRIC_NAMES
from training import progress
from training.evaluation import models
from training.evaluation.comparison import compare_runs
from training.evaluation.facets import suite
from training.evaluation.facets.suite import FacetSuite
from training.evaluation.run import FORMAT, evaluate, main, write_report
from training.evaluation.suites import score_tables
from training.jobs import EvaluationJob, Source, read_job
from training.run_records import is_in_use
from training.similarity import spearman


def test_what_two_encoders_are_compared_by_is_left_beside_the_scores(scores, job):
    rated = pl.read_parquet(job.output / "ratings.parquet")
    assert (rated["set"].unique().to_list(), rated.height) == (["mine"], 4)
    (score,) = spearman(rated["similarity"].to_numpy()[:, None], rated["score"].to_numpy())
    assert score == pytest.approx(scores["suites"]["ratings"]["rows"][0]["encoder"])
    (same,) = [row for row in compare_runs([job.output], [job.output]).scores if row.name == "smatch"]
    by_name = {row["name"]: row["encoder"] for row in scores["suites"]["facets"]["rows"]}
    assert same.a.mean == pytest.approx(by_name["smatch"])
    assert (same.difference.low, same.difference.high, same.difference.verdict) == (0, 0, "unclear")


def test_a_facet_whose_metric_was_given_up_has_no_score_on_a_release_without_it(job, tmp_path):
    encoder = shutil.copytree(job.encoder, tmp_path / "encoder")
    layout = json.loads((encoder / "facets.json").read_text())
    *others, own = layout["facets"]
    own["name"] = "modality"
    (encoder / "facets.json").write_text(json.dumps(layout))
    again = job.model_copy(update={"encoder": encoder, "output": tmp_path, "suites": ("facets",)})
    rows = evaluate(again)["suites"]["facets"]["rows"]
    assert [row["name"] for row in rows] == [facet["name"] for facet in others]


def test_facets_have_no_scores_on_a_release_without_metrics(job, tmp_path):
    trees = Source(parses=tmp_path / "parses.parquet")  # as for an encoder of another kind that takes the name over
    again = job.model_copy(update={"source": trees, "output": tmp_path})
    assert list(evaluate(again)["suites"]) == ["ratings", "predictors"]


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


def test_the_scores_on_disk_are_strict_json_and_what_was_returned(scores, job):
    text = (job.output / "metrics.json").read_text()
    assert json.loads(text, parse_constant=no_constant) == json.loads(json.dumps(scores))


def test_the_scores_say_what_they_belong_to(scores, job, tiny_encoder):
    facets = scores["suites"]["facets"]
    assert scores["encoder"] == str(job.encoder)
    assert scores["backbone"] == str(tiny_encoder)
    assert re.fullmatch("[0-9a-f]{64}", scores["encoder_digest"])
    assert re.fullmatch("[0-9a-f]{64}", scores["backbone_digest"])
    assert facets["source"] == {"file": "all.parquet"}
    assert scores["kind"] == "s3bert"
    assert list(scores["suites"]) == ["facets", "ratings", "predictors"]
    assert scores["seed"] == 0
    assert scores["bootstrap"] == {"resamples": 1000, "seed": 0, "confidence": 0.95}
    assert scores["project"] == "my-<b>project</b>"
    assert datetime.now(UTC) - datetime.fromisoformat(scores["date"]) < timedelta(hours=1)
    assert facets["pairs"] == 12
    assert facets["split"] == "dev"


def test_examples_say_which_facet_they_were_chosen_for(scores, job):
    chosen = scores["suites"]["facets"]["examples"]
    pairs = pl.read_parquet(job.output / "pairs.parquet").filter(pl.col("similarity") >= 0.6)
    assert chosen
    for example in chosen:
        (names,) = re.findall("^Chosen for (.+): of pairs with .+, the least similar there.$", example["notes"][0])
        for name in re.split(", | and ", names):
            reading = next(facet for facet in example["facets"] if facet["name"] == name)
            assert reading["similarity"] == pytest.approx(pairs[f"{name}_similarity"].min())


def test_a_constant_metric_has_no_score(scores):
    by_name = {row["name"]: row for row in scores["suites"]["facets"]["rows"]}
    constant = by_name.pop("named_entities")
    assert [constant[key] for key in ("encoder", "full", "random", "assigned")] == [None] * 4
    assert constant["agreeing"] == 1
    for row in by_name.values():
        assert all(-1 <= row[key] <= 1 for key in ("encoder", "full", "random"))
        # A facet with a single assigned dimension has cosines of 1 and -1 only, perhaps of one of them.
        assert row["assigned"] is None or -1 <= row["assigned"] <= 1


def test_facets_stand_beside_those_of_the_encoder_that_comes_with_facetflow(job, scores, tmp_path, monkeypatch):
    shutil.copytree(job.encoder, tmp_path / "bundled")
    monkeypatch.setattr("training.evaluation.facets.suite.bundled_encoder", lambda: tmp_path / "bundled")

    beside = evaluate(job.model_copy(update={"output": tmp_path / "out", "suites": ("facets",)}))["suites"]["facets"]

    assert all(row["bundled"] == row["encoder"] for row in beside["rows"])
    assert beside["verdicts"]["bundled"]["above"] == beside["verdicts"]["bundled"]["below"] == 0
    assert all(row["bundled"] is None for row in scores["suites"]["facets"]["rows"])
    shown, plain = (FacetSuite.tables(facets)[0] for facets in (beside, scores["suites"]["facets"]))
    assert {*shown.columns} - {*plain.columns} == {"bundled"}


def test_scores_are_those_of_the_vectors_of_the_plain_encoder(scores, job, table_of_pairs):
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(job.encoder), device="cpu")
    rows = table_of_pairs.filter((pl.col("split") == "dev") & (pl.col("kind") == "positive"))
    left, right = encoder.encode(rows["text_a"].to_list()), encoder.encode(rows["text_b"].to_list())
    cosines = [u[:2] @ v[:2] / np.linalg.norm(u[:2]) / np.linalg.norm(v[:2]) for u, v in zip(left, right, strict=True)]
    assert scores["suites"]["facets"]["rows"][0]["name"] == "smatch"
    assert scores["suites"]["facets"]["rows"][0]["encoder"] == pytest.approx(
        spearmanr(cosines, rows["smatch"]).statistic
    )


def test_ratings_are_scored_for_encoder_start_model_facets_and_residual(scores, job, tiny_encoder):
    from sentence_transformers import SentenceTransformer

    (rating,) = scores["suites"]["ratings"]["rows"]
    predicted = scores["suites"]["predictors"]["rows"]
    assert scores["suites"]["predictors"]["data"] == scores["suites"]["ratings"]["data"]
    assert rating["name"] == "mine"
    assert rating["pairs"] == 4
    assert {row["facet"] for row in predicted} == {*METRIC_NAMES, "residual"}
    rated = pl.read_csv(job.ratings[0].file, separator="\t")
    for key, folder in (("encoder", job.encoder), ("start", tiny_encoder)):
        model = SentenceTransformer(str(folder), device="cpu")
        left, right = model.encode(rated["sentence_a"].to_list()), model.encode(rated["sentence_b"].to_list())
        assert rating[key] == pytest.approx(spearmanr((left * right).sum(axis=1), rated["score"]).statistic)


@pytest.mark.parametrize("firsts", [FEWEST - 1, FEWEST])
def test_rated_pairs_with_the_same_first_sentence_are_drawn_together(job, tmp_path, firsts):
    rows = "".join(f"cat {'not ' * (n % firsts)}sleeps\tdog runs {n}\t{n}\n" for n in range(4 * firsts))
    (tmp_path / "rated.tsv").write_text(f"sentence_a\tsentence_b\tscore\n{rows}")
    rated = job.ratings[0].model_copy(update={"file": str(tmp_path / "rated.tsv")})
    changed = {"output": tmp_path, "ratings": (rated,), "suites": ("ratings", "predictors")}
    for result in evaluate(job.model_copy(update=changed))["suites"].values():
        assert all((row["encoder_interval"] is None) == (firsts < FEWEST) for row in result["rows"])


def test_pairs_are_written_with_measured_and_predicted_values(scores, job):
    table = pl.read_parquet(job.output / "pairs.parquet")
    assert table.height == 12
    for name in METRIC_NAMES:
        assert {f"{name}_measured", f"{name}_similarity", f"{name}_predicted"} <= set(table.columns)
    row = scores["suites"]["facets"]["rows"][METRIC_NAMES.index("wlk")]
    for key, column in (("encoder", "wlk_similarity"), ("full", "start_similarity")):
        assert row[key] == pytest.approx(spearmanr(table[column], table["wlk_measured"]).statistic)


def test_tables_show_a_dash_and_a_note_where_a_metric_is_constant(scores):
    facets, ratings, predictors = score_tables(scores)
    row = next(row for row in facets.rows if row[0] == "named_entities")
    assert row[1:] == ("–",) * 6
    assert "named_entities" in facets.note
    assert "2 random dimensions" in facets.note
    assert ratings.rows[0][:2] == ("mine", "4")
    assert len(predictors.rows) == 16


def test_the_model_card_gets_the_scores(scores, job):
    card = (job.encoder / "README.md").read_text()
    assert "| named_entities | – | – | – | – | – | – |" in card
    assert "12 dev pairs are few" in card
    assert f"| mine | 4 | {100 * scores['suites']['ratings']['rows'][0]['start']:.1f} |" in card
    assert "Not evaluated" not in card


def test_without_ratings_and_other_pairs_there_are_still_scores(job, tmp_path):
    scores = evaluate(job.model_copy(update={"output": tmp_path, "ratings": (), "split": "test"}))
    assert list(scores["suites"]) == ["facets"]
    assert (tmp_path / "report.html").exists()


def test_an_example_does_not_stand_out_in_what_neither_graph_has(job, tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "vacuous_in", lambda pairs, _: {pair: ["negations"] for pair in pairs})
    scores = evaluate(job.model_copy(update={"output": tmp_path, "ratings": ()}))
    for example in scores["suites"]["facets"]["examples"]:
        (reading,) = (facet for facet in example["facets"] if facet["name"] == "negations")
        assert (reading["vacuous"], reading["mark"]) == (True, "")


def test_a_split_without_pairs_is_refused_with_those_that_have_some(job):
    with refused(NothingToScore):
        evaluate(job.model_copy(update={"split": "tset"}))


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_encoded(job, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(models, "load_encoder", lambda *_: pytest.fail("it encodes"))
    with refused(RunNotWritten):
        evaluate(job.model_copy(update={"output": tmp_path / "file" / "out"}))


def test_ratings_that_are_not_there_are_named_before_anything_is_encoded(job, monkeypatch, tmp_path):
    monkeypatch.setattr(models, "load_encoder", lambda *_: pytest.fail("it encodes"))
    missing = job.ratings[0].model_copy(update={"file": str(tmp_path / "none.tsv")})
    with refused(FileMissing):
        evaluate(job.model_copy(update={"ratings": (missing,)}))


def test_encoding_tells_how_far_it_is(job, monkeypatch, caplog):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(models, "_ENCODED_AT_ONCE", 2)
    with caplog.at_level("INFO", logger="training"):
        vectors = models.Embedder(job.encoder, "the encoder")(["the cat", "a dog", "a dog", "no man", "two horse runs"])
    assert vectors.shape == (5, 48)
    (message,) = caplog.messages
    assert re.fullmatch(r"encoding with the encoder: 2 of 4 sentences, \d+/s, \d+ s left", message)


def test_wrong_ratings_are_an_error(job, tmp_path):
    wrong = json.loads(job.model_dump_json()) | {"ratings": [{"dataset": "none"}]}
    (tmp_path / "evaluate.json").write_text(json.dumps(wrong))
    with refused(JobWrong):
        read_job(EvaluationJob, tmp_path / "evaluate.json")


def test_scores_of_another_version_or_without_suites_are_not_read(job, tmp_path):
    for written in ("{}", "[]", '{"format": 0, "suites": {}}', f'{{"format": {FORMAT}, "suites": null}}'):
        (tmp_path / "metrics.json").write_text(written)
        with refused(NoScores):
            write_report(tmp_path, job.encoder)
    evaluate(job.model_copy(update={"output": tmp_path, "suites": ()}))
    assert write_report(tmp_path, job.encoder).is_file(), "as the sentence says"
    by_hand = json.loads((tmp_path / "metrics.json").read_text())
    by_hand["suites"]["facets"]["rows"] = 5
    (tmp_path / "metrics.json").write_text(json.dumps(by_hand))
    with refused(NoScores):
        write_report(tmp_path, job.encoder)


def test_the_process_writes_the_same_files(job, scores, tmp_path, capsys):
    settings = tmp_path / "evaluate.json"
    settings.write_text(job.model_copy(update={"output": tmp_path / "out"}).model_dump_json())
    assert main(["--settings", str(settings)]) == 0
    written = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert written | {"date": scores["date"]} == json.loads(json.dumps(scores))
    settings.write_text("{}")
    assert main(["--settings", str(settings)]) == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("error: ")


def test_what_several_encoders_started_from_is_read_and_embeds_once(job, scores, tmp_path, capsys, monkeypatch):
    loaded, encoded = [], Counter()

    def load(folder):
        model = load_encoder(folder)
        loaded.append(folder)
        encode = model.encode

        def encode_counted(texts, **options):
            encoded.update((folder, text) for text in texts)
            return encode(texts, **options)

        monkeypatch.setattr(model, "encode", encode_counted)
        return model

    load_encoder = models.load_encoder
    monkeypatch.setattr(models, "load_encoder", load)
    files = [tmp_path / f"{number}.json" for number in range(3)]
    for file in files[:2]:
        file.write_text(job.model_copy(update={"output": tmp_path / file.stem}).model_dump_json())
    files[2].write_text("{}")
    assert main(["--settings", *map(str, files)]) == 1, "the third is no job"
    start = Path(scores["backbone"])
    assert loaded.count(start) == 1
    assert {times for (folder, _), times in encoded.items() if folder == start} == {1}
    for file in files[:2]:
        written = json.loads((tmp_path / file.stem / "metrics.json").read_text())
        assert written | {"date": scores["date"]} == json.loads(json.dumps(scores))


@pytest.mark.parametrize("name", ["pairs.parquet", "ratings.parquet", "metrics.json"])
def test_an_evaluation_that_is_killed_while_it_writes_mixes_no_report(name, scores, job, tmp_path, monkeypatch):
    again = job.model_copy(update={"output": tmp_path, "resamples": 50})
    for file in (*scores["files"], "metrics.json", "evaluate.json"):  # an evaluation before
        shutil.copy(job.output / file, tmp_path)
    (tmp_path / ".evaluation.0badcafe.tmp").mkdir()  # of one that was killed
    report = write_report(tmp_path, job.encoder).read_text()
    rename = Path.replace

    def killed(path, target):
        assert is_in_use(job.encoder.parent), "gc must not take it away meanwhile"
        if Path(target) == tmp_path / name:
            raise KeyboardInterrupt
        return rename(path, target)

    ratings = job.ratings[0].model_copy(update={"name": "theirs"})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            evaluate(again.model_copy(update={"split": "test", "ratings": (ratings,)}))
    if name == "pairs.parquet":  # the first file: nothing of the new evaluation is there
        assert write_report(tmp_path, job.encoder).read_text() == report
        assert compare_runs([tmp_path], [tmp_path]).scores
    else:
        with refused(NoScores):
            write_report(tmp_path, job.encoder)
        with refused(NoScores):
            compare_runs([tmp_path], [tmp_path])
    evaluate(again.model_copy(update={"split": "test", "ratings": ()}))
    assert "test (left, right)" in write_report(tmp_path, job.encoder).read_text()
    assert not (tmp_path / "ratings.parquet").exists(), "it is of the evaluation before"
    assert not [*tmp_path.glob(".*.tmp")]


def test_an_evaluation_removes_files_of_the_one_before_and_none_elsewhere(job, tmp_path):
    run, precious = tmp_path / "run", tmp_path / "precious.json"
    run.mkdir()
    for file in (precious, run / "old.parquet"):
        file.touch()
    named = ("../precious.json", str(precious), "old.parquet")
    (run / "metrics.json").write_text(json.dumps({"files": dict.fromkeys(named, "")}))
    evaluate(job.model_copy(update={"output": run, "resamples": 50}))
    assert precious.exists()
    assert not (run / "old.parquet").exists()
