"""Scores of an encoder: correlations and baselines against other ways to compute them, and the files of a run."""

import json
import math
import re
from datetime import UTC, datetime, timedelta
from html import escape
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr

from features.errors import InputError, ModelError, RunError, SettingsError
from features.metrics import METRICS
from features.metrics.corpus_scores import Bootstrap
from features.page import tell_date
from features.schemas import METRIC_NAMES
from training import progress
from training.correlation import spearman, spearman_matrix
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.facets import plan_layout
from training.encoders.s3bert.train import S3bertJob, train
from training.evaluation import models
from training.evaluation.bootstrap import Interval
from training.evaluation.comparison import compare_runs
from training.evaluation.facets.baselines import assigned_membership, full_similarities, random_memberships
from training.evaluation.facets.embedded_pairs import EmbeddedPairs
from training.evaluation.facets.scoring import count_verdicts, score_facets
from training.evaluation.run import evaluate, main, write_report
from training.evaluation.suites import score_tables
from training.jobs import EvaluationJob, Source
from training.loop.settings import LoopSettings

tied_columns = arrays(np.float64, (12, 3), elements=st.integers(0, 4).map(float))


@given(left=tied_columns, right=tied_columns)
def test_spearman_is_scipys_and_none_where_a_column_is_constant(left, right):
    found = spearman(left, right)
    for k in range(3):
        if np.ptp(left[:, k]) == 0 or np.ptp(right[:, k]) == 0:
            assert found[k] is None
        else:
            assert found[k] == pytest.approx(spearmanr(left[:, k], right[:, k]).statistic)
    matrix = spearman_matrix(left, right)
    for i in range(3):
        for j in range(3):
            expected = spearman(left[:, [i]], right[:, [j]])[0]
            assert matrix[i, j] == pytest.approx(0 if expected is None else expected)


def test_spearman_of_one_pair_is_undefined():
    assert spearman(np.ones((1, 2)), np.ones((1, 2))) == [None, None]


def test_random_partitions_are_seeded_and_overlap_nowhere():
    first, second = random_memberships(dimension=10, n_facets=3, width=3, draws=2, seed=4)
    for membership in (first, second):
        assert membership.sum(axis=0).tolist() == [3, 3, 3]
        assert membership.sum(axis=1).max() == 1
    assert not np.array_equal(first, second)
    again = random_memberships(dimension=10, n_facets=3, width=3, draws=2, seed=4)
    np.testing.assert_array_equal(first, again[0])


def test_the_integer_programme_finds_the_dimensions_that_carry_a_metric():
    random = np.random.default_rng(0)
    left, right = random.standard_normal((2, 300, 6)).astype(np.float32)
    products = left * right
    metrics = np.stack([products[:, 1] + products[:, 4], products[:, 2], random.random(300)], axis=1)
    membership = assigned_membership(left, right, metrics.astype(np.float32))
    assert membership[[1, 4], 0].tolist() == [1, 1]
    assert membership[2, 1] == 1
    assert (membership.sum(axis=1) <= 1).all()
    assert (membership.sum(axis=0) >= 1).all()


def test_the_integer_programme_is_optimal():
    """Eq. 5 to 7 by trying every assignment."""
    random = np.random.default_rng(1)
    left, right, metrics = (random.standard_normal((40, n)).astype(np.float32) for n in (4, 4, 2))
    weights = spearman_matrix(left * right, metrics)
    best = max(
        sum(weights[i, j] for i, j in enumerate(choice) if j < 2)
        for choice in np.ndindex(3, 3, 3, 3)
        if {0, 1} <= set(choice)
    )
    assert (assigned_membership(left, right, metrics) * weights).sum() == pytest.approx(best)


def test_the_whole_embedding_is_one_value_for_all_facets():
    random = np.random.default_rng(0)
    left, right = random.standard_normal((2, 5, 4)).astype(np.float32)
    found = full_similarities(left, right, 3)
    assert found.shape == (5, 3)
    assert (found == found[:, :1]).all()


def test_facets_that_carry_their_metric_score_one_and_random_ones_less():
    random = np.random.default_rng(0)
    layout = plan_layout(["a", "b"], width=4, dimension=8)
    left, right = random.standard_normal((2, 200, 8)).astype(np.float32)
    metrics = layout.similarities(left, right).astype(np.float32)
    embedded = EmbeddedPairs(left, right, left, right, metrics)
    rows = score_facets(embedded, layout, fitting=None, draws=5, seed=0, bootstrap=Bootstrap(200))
    for row in rows:
        assert row.encoder == pytest.approx(1)
        assert row.interval == Interval(pytest.approx(1), pytest.approx(1))
        assert row.differences["full"].verdict == row.differences["random"].verdict == "above"
        assert row.differences["assigned"] is None
        assert row.random is not None
        assert row.full is not None
        assert row.random < 0.9
        assert row.full < 0.9
        assert row.assigned is None
    assert count_verdicts(rows, "full") == {"above": 2, "below": 0, "unclear": 0}
    assert count_verdicts(rows, "assigned") == {"above": 0, "below": 0, "unclear": 2}


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, tiny_encoder, table_of_pairs):
    """Return a run with a trained encoder, and the pairs beside it."""
    from training.encoders.s3bert.settings import S3bertSettings

    folder = tmp_path_factory.mktemp("runs") / "one"
    folder.mkdir()
    MeasuredPairs.from_table(table_of_pairs, source={}).export(folder / "all.parquet")
    settings = S3bertSettings(
        backbone=str(tiny_encoder),
        facet_dimensions=2,
        layers_tuned=1,
        preset="paper",
        loop=LoopSettings(batch_size=8, epochs=2, threads=1),
    )
    train(S3bertJob(source=Source(pairs=folder / "all.parquet"), settings=settings, output=folder))
    return folder


@pytest.fixture(scope="module")
def job(run_folder):
    ratings = run_folder / "rated.tsv"
    ratings.write_text(
        "sentence_a\tsentence_b\tscore\n"
        "the cat sleeps\ta cat sleeps\t5\n"
        "a dog runs\tthe red dog runs\t4\n"
        "no man eats\tthree horse in a park\t0\n"
        "two woman\ttwo child sees the house\t1.5\n"
    )
    return EvaluationJob(
        source=Source(pairs=run_folder / "all.parquet"),
        encoder=run_folder / "encoder",
        output=run_folder,
        ratings=({"dataset": "pairs", "name": "mine", "split": "test", "file": str(ratings)},),
        examples=(("two cat <script>alert(1)</script>", "a cat & a dog"),),
        project="my-<b>project</b>",
        random_draws=3,
    )


@pytest.fixture(scope="module")
def scores(job):
    return evaluate(job)


def test_what_two_encoders_are_compared_by_is_left_beside_the_scores(scores, job):
    rated = pl.read_parquet(job.output / "ratings.parquet")
    assert (rated["set"].unique().to_list(), rated.height) == (["mine"], 4)
    (score,) = spearman(rated["similarity"].to_numpy()[:, None], rated["score"].to_numpy()[:, None])
    assert score == pytest.approx(scores["suites"]["ratings"]["sets"][0]["encoder"])
    (same,) = [row for row in compare_runs([job.output], [job.output]).scores if row.name == "smatch"]
    by_name = {row["name"]: row["encoder"] for row in scores["suites"]["facets"]["rows"]}
    assert same.a.mean == pytest.approx(by_name["smatch"])
    assert (same.difference.low, same.difference.high, same.difference.verdict) == (0, 0, "unclear")


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


def test_a_constant_metric_has_no_score(scores):
    by_name = {row["name"]: row for row in scores["suites"]["facets"]["rows"]}
    constant = by_name.pop("named_entities")
    assert [constant[key] for key in ("encoder", "full", "random", "assigned")] == [None] * 4
    assert constant["agreeing"] == 1
    for row in by_name.values():
        assert all(-1 <= row[key] <= 1 for key in ("encoder", "full", "random"))
        # A facet with a single assigned dimension has cosines of 1 and -1 only, perhaps of one of them.
        assert row["assigned"] is None or -1 <= row["assigned"] <= 1


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

    (rating,) = scores["suites"]["ratings"]["sets"]
    (predicted,) = scores["suites"]["predictors"]["sets"]
    assert rating["name"] == "mine"
    assert rating["pairs"] == 4
    assert set(predicted["facets"]) == {*METRIC_NAMES, "residual"}
    rated = pl.read_csv(job.ratings[0]["file"], separator="\t")
    for key, folder in (("encoder", job.encoder), ("start", tiny_encoder)):
        model = SentenceTransformer(str(folder), device="cpu")
        left, right = model.encode(rated["sentence_a"].to_list()), model.encode(rated["sentence_b"].to_list())
        assert rating[key] == pytest.approx(spearmanr((left * right).sum(axis=1), rated["score"]).statistic)


def test_pairs_are_written_with_measured_and_predicted_values(scores, job):
    table = pl.read_parquet(job.output / "pairs.parquet")
    assert table.height == 12
    for name in METRIC_NAMES:
        assert {f"{name}_measured", f"{name}_similarity", f"{name}_predicted"} <= set(table.columns)
    found = spearmanr(table["wlk_similarity"], table["wlk_measured"]).statistic
    assert scores["suites"]["facets"]["rows"][METRIC_NAMES.index("wlk")]["encoder"] == pytest.approx(found)


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
    assert f"| mine | 4 | {100 * scores['suites']['ratings']['sets'][0]['start']:.1f} |" in card
    assert "Not evaluated" not in card


class Page(HTMLParser):
    """Collects what a browser would load, and checks that elements are closed."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})

    def __init__(self):
        super().__init__()
        self.references, self.open, self.ids, self.tags = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "xlink:href", "srcset", "data", "action"}:
                self.references.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()


def test_the_report_stands_alone(scores, job):
    text = (job.output / "report.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(set(page.ids)) == len(page.ids)
    assert not re.search(r"https?:|//\w|url\((?!#)|@import", text)
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert text.count("<svg") >= 3


def test_the_report_escapes_what_comes_from_data(scores, job):
    text = (job.output / "report.html").read_text()
    assert "<script>alert" not in text
    assert "two cat &lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "a cat &amp; a dog" in text


def test_the_report_says_of_which_project_encoder_and_data_it_is(scores, job, tiny_encoder):
    text = (job.output / "report.html").read_text()
    assert "<h1>my-&lt;b&gt;project&lt;/b&gt; · encoder one</h1>" in text
    assert f"evaluated on {tell_date(scores['date'])}" in text
    assert f"<dt>Encoder</dt><dd>one, from {tiny_encoder}</dd>" in text
    assert re.search(r"<dt>Learnt from</dt><dd>left \(\d+ pairs\), right .*; an exported table</dd>", text)
    assert "12 positive pairs of dev (left, right)" in text


def test_report_terminal_and_card_say_that_the_model_was_chosen_by_the_split_that_is_scored(scores, job, tmp_path):
    said = (
        "The model was chosen by its loss on the dev pairs of left, right: on pairs that had no part in its training, "
        "its scores may be lower. To evaluate on others: --split with test (12 pairs)."
    )
    assert scores["suites"]["facets"]["seen"] == {"part": "chosen", "corpora": ["left", "right"]}
    assert score_tables(scores)[0].note.startswith(said)
    assert f'<p class="warning">{said}</p>' in (job.output / "report.html").read_text()
    assert said in (job.encoder / "README.md").read_text()
    others = evaluate(job.model_copy(update={"split": "test", "output": tmp_path, "ratings": ()}))
    assert others["suites"]["facets"]["seen"] is None
    assert "chosen by" not in score_tables(others)[0].note + (tmp_path / "report.html").read_text()


def test_every_facet_is_explained_where_it_is_measured_and_in_a_legend(scores, job):
    text = (job.output / "report.html").read_text()
    for name, metric in METRICS.items():
        question = escape(metric.question)
        assert f'{name}<span class="tip" role="tooltip">{question}</span>' in text
        assert f"<dt>{name}</dt><dd>{question}</dd>" in text


def test_in_a_browser_nothing_is_wrong_wide_or_narrow_light_or_dark(scores, job, browser):
    assert browser.find_faults(job.output / "report.html") == []


def test_what_a_facet_asks_is_shown_on_focus_within_a_narrow_window(scores, job, browser):
    browser.show(job.output / "report.html", width=420)
    shown = """
        return [...document.querySelectorAll('.told')].map(told => {
            const tip = told.querySelector('.tip');
            const before = tip.getClientRects().length;
            told.focus();
            const box = tip.getBoundingClientRect();
            return [before, box.left >= 0 && box.right <= innerWidth && box.width > 100 && box.height > 10];
        });"""
    found = browser.run(shown)
    assert len(found) > 45
    assert {tuple(pair) for pair in found} == {(0, True)}


def test_the_report_is_the_same_every_time(scores, job):
    first = (job.output / "report.html").read_text()
    assert write_report(job.output, job.encoder).read_text() == first
    assert not re.search(r"\bnan\b", first)


def test_an_evaluation_repeats_itself(scores, job, tmp_path):
    again = evaluate(job.model_copy(update={"output": tmp_path}))
    assert again | {"date": scores["date"]} == scores


def test_without_ratings_and_other_pairs_there_are_still_scores(job, tmp_path):
    scores = evaluate(
        job.model_copy(
            update={"output": tmp_path, "ratings": (), "examples": (), "corpora": ("left",), "split": "test"}
        )
    )
    assert list(scores["suites"]) == ["facets"]
    assert scores["suites"]["facets"]["corpora"] == ["left"]
    assert (tmp_path / "report.html").exists()


def test_a_split_without_pairs_is_refused_with_those_that_have_some(job):
    with pytest.raises(InputError) as error:
        evaluate(job.model_copy(update={"split": "tset", "corpora": ("left",)}))
    assert str(error.value) == (
        "No measured positive pair of 'left' is in the split 'tset': evaluate on another one (--split); there are: "
        "train (18), dev (6), test (6)."
    )


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_encoded(job, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(models, "load_encoder", lambda *_: pytest.fail("it encodes"))
    with pytest.raises(RunError, match=r"file/out' cannot be written: a part of the path is"):
        evaluate(job.model_copy(update={"output": tmp_path / "file" / "out"}))


def test_ratings_that_are_not_there_are_named_before_anything_is_encoded(job, monkeypatch, tmp_path):
    monkeypatch.setattr(models, "load_encoder", lambda *_: pytest.fail("it encodes"))
    missing = {**job.ratings[0], "file": str(tmp_path / "none.tsv")}
    with pytest.raises(InputError, match=r"none\.tsv', which `file` of .* names, does not exist"):
        evaluate(job.model_copy(update={"ratings": (missing,)}))


def test_encoding_tells_how_far_it_is(job, monkeypatch, caplog):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(models, "_ENCODED_AT_ONCE", 2)
    with caplog.at_level("INFO", logger="training"):
        vectors = models.Embedder(job.encoder, "the encoder")(["the cat", "a dog", "a dog", "no man", "two horse runs"])
    assert vectors.shape == (5, 48)
    (message,) = caplog.messages
    assert re.fullmatch(r"encoding with the encoder: 2 of 4 sentences, \d+/s, \d+ s left", message)


def test_a_folder_that_is_no_encoder_is_an_error(job, tiny_encoder):
    with pytest.raises(ModelError, match="no encoder with facets"):
        evaluate(job.model_copy(update={"encoder": tiny_encoder, "suites": ("facets",)}))


def test_wrong_ratings_are_an_error(job):
    with pytest.raises(SettingsError, match="ratings"):
        evaluate(job.model_copy(update={"ratings": ({"dataset": "none"},)}))


def test_scores_of_another_version_are_not_read_as_if_they_were_of_this_one(job, tmp_path):
    (tmp_path / "metrics.json").write_text("{}")
    with pytest.raises(InputError, match=r"written by another version of facetflow; run `facetflow evaluate` again"):
        write_report(tmp_path, job.encoder)


def test_a_report_before_an_evaluation_is_an_error(job, tmp_path):
    with pytest.raises(InputError, match="facetflow evaluate"):
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


def test_no_number_of_a_score_is_nan(scores):
    def numbers(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return [number for part in value for number in numbers(part)]
        return [value] if isinstance(value, float) else []

    found = numbers(scores)
    assert len(found) > 60
    assert all(math.isfinite(number) for number in found)
