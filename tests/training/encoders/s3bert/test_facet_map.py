"""The map of facets: the start model's embedding stays, existing vectors get facets, and a kill changes nothing."""

import json

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentences import refused

import facetflow
from features.core.faults import Conflict, NotThisModel, VectorsWrong
from features.corpora.settings import EvaluationSet
from features.metrics.registry import METRIC_NAMES
from training import runs
from training.data.measured_pairs import MeasuredPairs
from training.encoders.s3bert.facets import FacetLayout, plan_layout
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.train import S3bertJob, train
from training.jobs import Source
from training.loop import loop
from training.loop.settings import LoopSettings

SENTENCES = ["the cat sleeps", "two dog runs in the park", "no man sees a red horse"]
D, WIDTH = 48, 4
FINISH = {"steps": 6, "batch_size": 4, "layer_corpora": ("left",), "ordering": 0.5, "ordered_facets": ("srl",)}


@pytest.fixture(scope="module")
def make_job(tmp_path_factory, tiny_encoder, table_of_pairs):
    """Return a function that makes a job which learns a map, and tunes a layer after it unless it is told not to."""
    folder = tmp_path_factory.mktemp("maps")
    MeasuredPairs.from_table(table_of_pairs, source={}).export(folder / "pairs.parquet")

    def make(name, **changes):
        loop = {"batch_size": 8, "epochs": 2, "checkpoint_every": 4, "threads": 1} | changes.pop("loop", {})
        settings = {"facet_dimensions": WIDTH, "layers_tuned": 1, "map_epochs": 3, "map_batch_size": 16}
        settings = S3bertSettings(**{"backbone": str(tiny_encoder), "loop": LoopSettings(**loop)} | settings | changes)
        return S3bertJob(source=Source(pairs=folder / "pairs.parquet"), settings=settings, output=folder / name)

    return make


@pytest.fixture(scope="module")
def mapped(make_job):
    """Folder of an encoder that is a map of its start model's embeddings."""
    return train(make_job("map", layers_tuned=0))


@pytest.fixture(scope="module")
def tuned(make_job):
    """Folder of an encoder with a map and a tuned layer."""
    return train(make_job("tuned"))


@pytest.fixture(scope="module")
def finished(make_job):
    """Folder of an encoder whose layer was tuned on all corpora, then on one."""
    return train(make_job("finished", finish=FINISH))


class TestTheMap:
    def test_the_first_dimensions_are_the_start_models_embedding(self, mapped, tiny_encoder):
        found = SentenceTransformer(str(mapped), device="cpu").encode(SENTENCES)
        start = SentenceTransformer(str(tiny_encoder), device="cpu").encode(SENTENCES)
        assert found.shape == (3, D + WIDTH * len(METRIC_NAMES))
        np.testing.assert_array_equal(found[:, :D], start)
        truncated = SentenceTransformer(str(mapped), device="cpu", truncate_dim=D).encode(SENTENCES)
        np.testing.assert_array_equal(truncated, start)

    def test_the_residual_comes_first_and_facets_have_the_width_that_was_asked_for(self, mapped):
        layout = FacetLayout.load(mapped)
        assert layout.residual == slice(0, D)
        assert [facet.start for facet in layout.facets] == [D + WIDTH * k for k in range(len(METRIC_NAMES))]
        assert layout.names == METRIC_NAMES
        assert "residual 0–47, smatch 48–51" in (mapped / "README.md").read_text()

    @pytest.mark.parametrize("folder", ["mapped", "tuned"])
    def test_facets_are_a_tenth_of_the_squared_length(self, folder, request, make_job):
        texts = make_job("texts").source.read(MeasuredPairs).texts
        squares = SentenceTransformer(str(request.getfixturevalue(folder)), device="cpu").encode(list(texts)) ** 2
        assert squares[:, D:].sum() / squares.sum() == pytest.approx(0.1, abs=0.01)

    def test_it_learns(self, mapped):
        report = json.loads((mapped / "training.json").read_text())
        losses = [look["total"] for look in report["history"]]
        assert losses[-1] < losses[0]
        assert (report["steps"], report["dimension"], report["precision"]) == (3 * 18, 108, "float32")

    def test_it_is_learnt_in_full_precision_and_that_is_told(self, make_job, caplog):
        caplog.set_level("INFO", logger="training")
        train(make_job("told", layers_tuned=0, map_epochs=1, loop={"precision": "bfloat16", "device": "cpu"}))
        assert "float32 on cpu" in caplog.text

    def test_it_is_learnt_by_one_thread_and_what_follows_by_those_of_before(self, make_job, monkeypatch):
        used = []
        monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
        monkeypatch.setattr(torch, "set_num_threads", used.append)
        for threads in (None, 3):
            train(make_job(f"threads {threads}", layers_tuned=0, map_epochs=1, loop={"threads": threads}))
            assert used[-2:] == [threads or 1, 7]

    def test_facets_are_those_of_the_metrics_that_the_pairs_have(self, make_job):
        layout = FacetLayout.load(train(make_job("two", layers_tuned=0, facets=("wlk", "smatch"), map_epochs=1)))
        assert layout.names == ("wlk", "smatch")
        assert layout.dimension == D + 2 * WIDTH

    def test_embeddings_of_the_store_are_used_if_they_are_the_start_models(self, make_job, monkeypatch, mapped):
        job = make_job("stored", layers_tuned=0)
        data = job.source.read(MeasuredPairs)
        vectors = SentenceTransformer(job.settings.backbone, device="cpu").encode(list(data.texts))
        digest = json.loads((mapped / "training.json").read_text())["backbone_digest"]
        stored = MeasuredPairs(data.texts, data.pairs, vectors, digest, source=data.source)
        monkeypatch.setattr(Source, "read", lambda _self, _kind: stored)
        monkeypatch.setattr("training.encoders.backbone.Backbone.embed_many", None)  # nothing is encoded
        folder = train(job)
        names = {look["step"]: look["total"] for look in json.loads((folder / "training.json").read_text())["history"]}
        before = json.loads((mapped / "training.json").read_text())["history"]
        assert names == {look["step"]: pytest.approx(look["total"], abs=1e-5) for look in before}

    @pytest.mark.parametrize(
        ("teacher", "of", "warned"), [("store", "other", 1), ("store", "own", 0), ("backbone", "other", 0)]
    )
    def test_stored_embeddings_of_another_model_are_told(
        self, make_job, monkeypatch, mapped, caplog, teacher, of, warned
    ):
        job = make_job(f"{teacher} {of}", layers_tuned=0, map_epochs=1, teacher=teacher)
        data = job.source.read(MeasuredPairs)
        own = json.loads((mapped / "training.json").read_text())["backbone_digest"]
        vectors = np.random.default_rng(0).normal(size=(len(data.texts), D)).astype(np.float32)
        digest = own if of == "own" else "0" * 64
        stored = MeasuredPairs(data.texts, data.pairs, vectors, digest, source=data.source)
        monkeypatch.setattr(Source, "read", lambda _self, _kind: stored)
        train(job)
        assert sum("[embeddings]" in record.message for record in caplog.records) == warned

    def test_ratings_can_choose_it(self, make_job, tmp_path):
        rated = tmp_path / "rated.tsv"
        rated.write_text("sentence_a\tsentence_b\tscore\na cat\ta dog\t3\nthe man\ta woman runs\t1\nno\tnot\t5\n")
        ratings = (EvaluationSet(dataset="pairs", name="mine", split="dev", file=str(rated)),)
        job = make_job("rated", layers_tuned=0, choose_by="mine").model_copy(update={"ratings": ratings})
        history = json.loads((train(job) / "training.json").read_text())["history"]
        assert len(history) == 3
        assert all(-1 <= look["spearman"] <= 1 for look in history)


class TestExistingVectors:
    def test_vectors_of_the_start_model_get_the_facets_that_encoding_gives(self, mapped, tiny_encoder):
        encoder = facetflow.load_encoder(mapped, device="cpu")
        vectors = SentenceTransformer(str(tiny_encoder), device="cpu").encode(SENTENCES)
        np.testing.assert_allclose(encoder.facets_of(vectors), encoder.encode(SENTENCES), atol=1e-6)
        np.testing.assert_allclose(encoder.facets_of(vectors[0]), encoder.encode(SENTENCES)[0], atol=1e-6)
        assert encoder.facets_of(vectors[:0]).shape == (0, encoder.dimension)
        encoder.model.bfloat16()  # by its user, to encode faster
        assert encoder.facets_of(vectors).dtype == np.float32

    def test_vectors_of_another_width_or_without_numbers_are_refused(self, mapped):
        encoder = facetflow.load_encoder(mapped, device="cpu")
        learnt = torch.zeros(D, requires_grad=True)
        for vectors in (np.zeros((2, 47)), "a", pl.Series([[0.0] * D]), np.full((2, D), np.nan), learnt):
            with refused(VectorsWrong):
                encoder.facets_of(vectors)

    def test_an_encoder_with_tuned_layers_refuses_them(self, tuned, tiny_encoder):
        for folder in (tuned, tiny_encoder):
            with refused(NotThisModel):
                facetflow.load_encoder(folder, device="cpu").facets_of(np.zeros((2, D)))


class TestLayersAfterTheMap:
    def test_they_start_from_the_map_and_go_beyond_it(self, tuned, tiny_encoder):
        report = json.loads((tuned / "training.json").read_text())
        assert [look["step"] for look in report["map"]["history"]] == [18, 36, 54]
        assert report["dev"]["total"] < report["map"]["history"][-1]["total"] < report["map"]["history"][0]["total"]
        found = SentenceTransformer(str(tuned), device="cpu").encode(SENTENCES)
        start = SentenceTransformer(str(tiny_encoder), device="cpu").encode(SENTENCES)
        assert np.abs(found[:, :D] - start).max() > 1e-3
        np.testing.assert_allclose(np.linalg.norm(found[:, :D], axis=1), 1, atol=1e-5)
        assert torch.equal(SentenceTransformer(str(tuned), device="cpu")[-1].linear.weight[:D], torch.eye(D))

    def test_the_map_alone_is_kept_where_no_step_betters_it(self, make_job, mapped, tiny_encoder, caplog):
        folder = train(make_job("spoilt", loop={"learning_rate": 0.1}))
        told = json.loads((folder / "training.json").read_text())
        assert (told["best_step"], told["history"][0]["step"]) == (0, 0)
        found, alone = (SentenceTransformer(str(each), device="cpu").encode(SENTENCES) for each in (folder, mapped))
        np.testing.assert_allclose(found, alone, atol=1e-3)  # layers embed in another precision
        vectors = SentenceTransformer(str(tiny_encoder), device="cpu").encode(SENTENCES)
        np.testing.assert_allclose(facetflow.load_encoder(folder).facets_of(vectors), found, atol=1e-6)
        assert "no step of the layers bettered the map" in caplog.text
        assert "the map before them, which none bettered, was kept" in (folder / "README.md").read_text()

    def test_last_steps_are_of_their_own_batches_and_begin_where_the_others_ended(
        self, make_job, finished, tuned, monkeypatch, assert_same_weights
    ):
        job, learn, seen = make_job("seen", finish=FINISH), loop.Loop._learn, []

        def noted(self, batches, rate, *, stopping):
            seen.append((len(self.epochs), np.concatenate(batches), rate))
            return learn(self, batches, rate, stopping=stopping)

        monkeypatch.setattr(loop.Loop, "_learn", noted)
        assert_same_weights(finished, train(job))
        *before, last = (json.loads((each / "training.json").read_text()) for each in (tuned, finished))
        assert last["layers"]["history"] == before[0]["history"]
        assert (last["layers"]["steps"], last["steps"]) == (before[0]["steps"], 6)
        corpora = job.source.read(MeasuredPairs).select(splits=("train", "dev")).pairs["corpus"].to_numpy()
        of_layers, of_finish = seen[-6 - before[0]["steps"] : -6], seen[-6:]
        assert {corpus for _, pairs, _ in of_layers for corpus in corpora[pairs]} == {"left", "right"}
        assert {corpus for _, pairs, _ in of_finish for corpus in corpora[pairs]} == {"left"}
        assert {len(pairs) for _, pairs, _ in of_finish} == {4}

    def test_a_mean_of_the_weights_before_and_after_can_be_kept(self, make_job, finished, tuned):
        mean = train(make_job("mean", finish=FINISH, share=0.75))
        models = [SentenceTransformer(str(folder), device="cpu").state_dict() for folder in (tuned, finished, mean)]
        for name, value in models[2].items():
            if "linear" not in name:  # the map is scaled
                torch.testing.assert_close(value, 0.25 * models[0][name] + 0.75 * models[1][name], atol=1e-6, rtol=1e-5)
        before, after, own = (FacetLayout.load(folder).facets for folder in (tuned, finished, mean))
        assert own[0].slope == pytest.approx(0.25 * before[0].slope + 0.75 * after[0].slope)
        report = json.loads((mean / "training.json").read_text())
        assert report["dev"] not in [{k: v for k, v in look.items() if k != "step"} for look in report["history"]]
        assert "75 % of those after" in (mean / "README.md").read_text()

    @pytest.mark.slow
    @pytest.mark.soak
    def test_two_processes_keep_the_mean_that_one_does(self, make_job):
        alone, together = (
            json.loads((train(make_job(f"{n} mean", finish=FINISH, share=0.75, loop=on)) / "training.json").read_text())
            for n, on in ((n, {"processes": n, "precision": "float32"}) for n in (1, 2))
        )
        for name, value in alone["dev"].items():
            assert together["dev"][name] == pytest.approx(value, rel=1e-3)

    def test_the_card_tells_both_parts(self, finished):
        card = " ".join((finished / "README.md").read_text().split())
        steps = json.loads((finished / "training.json").read_text())["layers"]["steps"]
        assert f"tuned for {steps} steps" in card
        assert "| finish.steps | `6` |" in card

    @pytest.mark.parametrize(
        ("parts", "run", "step"),
        [
            (1, 0, 6),
            (2, 0, 6),
            (2, 0, 54),
            (2, 1, 3),
            (2, 1, 9),
            (3, 0, 6),
            (3, 1, 9),
            (3, 1, 18),
            (3, 2, 2),
            (3, 2, 6),
        ],
    )
    def test_a_stopped_training_goes_on_as_if_nothing_had_happened(
        self, make_job, mapped, tuned, finished, interrupt, assert_same_weights, parts, run, step
    ):
        changes = {1: {"layers_tuned": 0}, 2: {}, 3: {"finish": FINISH}}[parts]
        job = make_job(f"stopped {parts} {run} {step}", **changes)
        interrupt(step, train, job, loop=run)
        assert_same_weights((mapped, tuned, finished)[parts - 1], train(job))
        assert not any((job.output / part).exists() for part in (runs.MAP, runs.LAYERS))


class TestAnEncoderToGoOnFrom:
    def test_its_map_and_scales_are_where_a_training_begins(self, make_job, tuned, monkeypatch):
        whole, begun = loop.Loop.run, {}

        def noted(self):
            begun.update({name: value.detach().clone() for name, value in self.parameters.items()})
            return whole(self)

        monkeypatch.setattr(loop.Loop, "run", noted)
        further = train(make_job("further", backbone=str(tuned)))
        before, after = (SentenceTransformer(str(folder), device="cpu") for folder in (tuned, further))
        assert after.get_embedding_dimension() == before.get_embedding_dimension()
        torch.testing.assert_close(begun["map.linear.weight"].cpu(), before[-1].linear.weight)
        assert begun["scales"].tolist() == pytest.approx([facet.slope for facet in FacetLayout.load(tuned).facets])
        first, then = (json.loads((folder / "training.json").read_text()) for folder in (tuned, further))
        assert "map" not in then
        assert then["dev"]["total"] < first["dev"]["total"]

    def test_its_scales_begin_as_those_of_scaled_targets(self, make_job, tuned, monkeypatch):
        job, begun = make_job("minmax", backbone=str(tuned), targets="minmax"), {}

        def stop(self):
            begun.update(self.parameters)
            raise KeyboardInterrupt

        monkeypatch.setattr(loop.Loop, "run", stop)
        with pytest.raises(KeyboardInterrupt):
            train(job)
        ranges = np.ptp(job.source.read(MeasuredPairs).select(splits=("train",)).metrics(), axis=0)
        slopes = [facet.slope for facet in FacetLayout.load(tuned).facets]
        assert begun["scales"].tolist() == pytest.approx(slopes / np.where(ranges > 0, ranges, 1), rel=1e-5)

    def test_a_share_of_its_own_weights_can_be_kept(self, make_job, tuned, interrupt):
        further = train(make_job("all new", backbone=str(tuned)))
        job = make_job("a mean", backbone=str(tuned), share=0.5)
        interrupt(6, train, job)
        mean = train(job)
        models = [SentenceTransformer(str(folder), device="cpu").state_dict() for folder in (tuned, further, mean)]
        for name, value in models[2].items():
            if "linear" not in name:  # the map is scaled
                torch.testing.assert_close(value, (models[0][name] + models[1][name]) / 2, atol=1e-6, rtol=1e-5)
        assert "50 % of those after" in (mean / "README.md").read_text()

    @pytest.mark.parametrize("changes", [{"facet_dimensions": 8}, {"layers_tuned": 0}, {"facets": ("wlk", "smatch")}])
    def test_its_facets_are_kept(self, make_job, tuned, changes):
        with refused(Conflict):
            train(make_job(f"other {min(changes)}", backbone=str(tuned), **changes))


class TestSettings:
    def test_ordering_alone_has_no_dev_loss_to_choose_the_model_by_and_is_taken_where_none_is_needed(self):
        ordering = {"alpha": 0, "consistency": 0, "ordering": 1.0, "map_epochs": 0}
        assert S3bertSettings(**ordering, loop={"keep": "last"}).ordering == 1
        assert S3bertSettings(**ordering, choose_by="sick").ordering == 1

    def test_a_finish_may_order_no_more(self):
        last = S3bertSettings(ordering=1.0, ordered_facets=("srl",), finish={"steps": 1, "ordering": 0.0}).finishing
        assert not last.ordering

    def test_rates_of_a_map_alone_are_searched(self, make_job):
        folder = train(make_job("search", layers_tuned=0, search={"map_learning_rate": (1e-6, 1e-3)}))
        assert json.loads((folder / "training.json").read_text())["search"]["chosen"] == {"map_learning_rate": 1e-3}

    def test_the_papers_preset_has_no_map(self):
        assert S3bertSettings(preset="paper").map_epochs == 0 < S3bertSettings().map_epochs

    @pytest.mark.parametrize(("pairs", "size"), [(1, 2), (160, 10), (100_000, 1024)])
    def test_an_epoch_of_few_pairs_has_several_batches_too(self, pairs, size):
        assert S3bertSettings().map_loop(pairs).batch_size == size


@st.composite
def layouts(draw):
    """Layouts with or without dimensions before the first facet."""
    names = draw(st.lists(st.sampled_from(METRIC_NAMES), min_size=1, max_size=5, unique=True))
    width, first, after = draw(st.integers(1, 6)), draw(st.integers(0, 8)), draw(st.integers(0, 8))
    after = 0 if first else after
    return plan_layout(names, width=width, first=first, dimension=first + len(names) * width + after)


@given(layouts(), st.integers(0, 100))
def test_products_of_residual_and_facets_sum_to_that_of_the_whole_embedding(layout, seed):
    a, b = np.random.default_rng(seed).normal(size=(2, layout.dimension))
    dimensions = [layout.residual, *(slice(facet.start, facet.stop) for facet in layout.facets)]
    assert sum(a[part] @ b[part] for part in dimensions) == pytest.approx(a @ b)
    assert sum(part.stop - part.start for part in dimensions) == layout.dimension
    for k, part in enumerate(dimensions[1:]):
        cosine = a[part] @ b[part] / np.linalg.norm(a[part]) / np.linalg.norm(b[part])
        assert layout.similarities(a[None], b[None])[0, k] == pytest.approx(cosine)
