"""Training as a whole, with a tiny encoder: it learns, is reproducible, survives a kill, and reports what is wrong."""

import json
import os

import numpy as np
import polars as pl
import pytest
import torch
from accelerate import Accelerator
from sentence_transformers import SentenceTransformer
from sentences import refused

from features.core.faults import CheckpointDamaged, Conflict, LossNotFinite, NoTrainingData, OtherSettings
from training.data.measured_pairs import MeasuredPairs
from training.encoders.running import write_card
from training.encoders.s3bert import task
from training.encoders.s3bert.facets import FacetLayout
from training.encoders.s3bert.settings import S3bertSettings
from training.encoders.s3bert.train import load_backbone, train
from training.jobs import Source
from training.loop import checkpoints, loop
from training.loop.machine import Machine
from training.loop.settings import LoopSettings
from training.runs import latest_encoder
from training.train import main

SENTENCES = ["the cat sleeps", "two dog runs in the park", "no man sees a red horse"]


def weights(folder):
    return SentenceTransformer(str(folder), device="cpu").state_dict()


def with_changes(job, folder, **changes):
    loop = {name: changes.pop(name) for name in LoopSettings.model_fields if name in changes}
    settings = job.settings.model_copy(update={**changes, "loop": job.settings.loop.model_copy(update=loop)})
    return job.model_copy(update={"output": job.output.parent / folder, "settings": settings})


def test_a_trained_encoder_loads_with_plain_sentence_transformers(job, tiny_encoder):
    folder = train(job)
    encoder = SentenceTransformer(str(folder), device="cpu")
    vectors = encoder.encode(SENTENCES)
    assert vectors.shape == (3, 48)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    before, after = weights(tiny_encoder), weights(folder)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert all("encoder.layer.2." in name for name in changed)
    layout = FacetLayout.load(folder)
    assert layout.dimension == 48
    assert layout.residual == slice(30, 48)
    assert all(len(facet.usual) > 1 and list(facet.usual) == sorted(facet.usual) for facet in layout.facets)
    assert any(facet.slope != 1 for facet in layout.facets)


@pytest.mark.parametrize(("layers", "asked", "longest"), [(1, 8, 8), (1, 999, 32), (0, 8, 32)])
def test_a_finished_encoder_reads_as_much_as_it_was_trained_on(job, tiny_encoder, layers, asked, longest):
    settings = job.settings.model_copy(update={"layers_tuned": layers, "max_tokens": asked})
    machine = Machine(torch.device("cpu"), torch.float32, Accelerator(cpu=True))
    assert load_backbone(settings, tiny_encoder, machine).model.max_seq_length == longest


def test_the_folder_has_the_vectors_that_the_training_ended_with(job, monkeypatch):
    kept = {}
    run = loop.Loop.run

    def remember(self):
        outcome = run(self)
        backbone = self.task.embedder.backbone
        backbone.states = None
        tokens = backbone.tokenize(SENTENCES)
        kept["vectors"] = backbone.embed_many(tokens, np.arange(3))
        return outcome

    monkeypatch.setattr(loop.Loop, "run", remember)
    folder = train(with_changes(job, "exact", precision="float32"))
    np.testing.assert_allclose(
        SentenceTransformer(str(folder), device="cpu").encode(SENTENCES), kept["vectors"], atol=1e-5
    )


def test_the_dev_loss_falls_and_the_best_model_is_kept(job):
    report = json.loads((train(job) / "training.json").read_text())
    losses = {entry["step"]: entry["total"] for entry in report["history"]}
    assert report["steps"] == 3 * 9  # 72 training pairs in batches of 8
    assert set(losses) == {4, 8, 9, 12, 16, 18, 20, 24, 27}
    assert report["best_step"] == min(losses, key=losses.get)
    assert report["dev"]["total"] == min(losses.values()) < losses[4]


def test_the_same_seed_gives_the_same_encoder_and_another_one_another(job, assert_same_weights):
    first = train(job)
    again = train(with_changes(job, "again"))
    assert_same_weights(first, again)
    assert (first / "facets.json").read_text() == (again / "facets.json").read_text()
    other = weights(train(with_changes(job, "other", seed=1)))
    assert any(not torch.equal(value, other[name]) for name, value in weights(first).items())


@pytest.mark.parametrize("step", [5, 9, 13, 26])
def test_a_stopped_training_goes_on_as_if_nothing_had_happened(job, step, interrupt, assert_same_weights):
    whole = train(job)
    resumed = with_changes(job, "stopped")
    interrupt(step, train, resumed)
    assert not (resumed.output / "encoder").exists()
    assert checkpoint_step(resumed.output) == step // 5 * 5
    assert_same_weights(whole, train(resumed))
    reports = [json.loads((folder / "training.json").read_text()) for folder in (whole, resumed.output / "encoder")]
    assert reports[0]["history"] == reports[1]["history"]
    assert reports[0]["best_step"] == reports[1]["best_step"]
    assert not (resumed.output / checkpoints.FILE_NAME).exists()


def checkpoint_step(folder):
    return torch.load(folder / checkpoints.FILE_NAME, weights_only=True)["outcome"]["steps"]


@pytest.mark.slow
@pytest.mark.soak
def test_a_killed_process_goes_on_from_its_checkpoint(job, kill_at_a_checkpoint, caplog, assert_same_weights):
    whole = train(with_changes(job, "whole", epochs=40))
    killed = with_changes(job, "killed", epochs=40)
    settings = job.output.parent / "job.json"
    settings.write_text(killed.model_dump_json())
    kill_at_a_checkpoint("training.train", settings, killed.output)
    assert not (killed.output / "encoder").exists()
    with caplog.at_level("INFO", logger="training"):
        train(killed)
    assert any(line.startswith("resumed at step") for line in caplog.messages)
    assert any("pairs/s" in line for line in caplog.messages)
    assert_same_weights(whole, killed.output / "encoder")


def test_a_finished_job_is_not_done_again(job):
    job = with_changes(job, "runs/s3bert/00001-abcdef/seed-0")
    folder = train(job)
    before = (folder / "training.json").stat().st_mtime_ns
    assert train(job) == folder
    assert train(with_changes(job, job.output.name, log_every=7, checkpoint_every=3)) == folder
    assert (folder / "training.json").stat().st_mtime_ns == before
    assert latest_encoder(job.output.parents[2]) == folder


def test_a_constant_metric_is_calibrated_to_itself_and_called_unreliable(job):
    layout = FacetLayout.load(train(job))
    constant = layout.facets[layout.names.index("named_entities")]
    assert set(constant.calibration.values) == {1.0}
    assert not constant.is_clear
    assert constant.reliability.pairs == 12
    assert all(facet.calibration(np.array([1.0])) == 1 for facet in layout.facets)


def test_a_checkpoint_of_other_settings_is_refused(job, interrupt):
    interrupt(6, train, job)
    with refused(OtherSettings):
        train(with_changes(job, "run", learning_rate=1e-4))


def test_a_damaged_checkpoint_is_an_error(job):
    job.output.mkdir()
    (job.output / checkpoints.FILE_NAME).write_bytes(b"half a file")
    with refused(CheckpointDamaged):
        train(job)


def test_a_checkpoint_with_code_in_it_is_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "made"),))

    torch.save({"format": checkpoints.FORMAT, "identity": "x", "code": Evil()}, tmp_path / checkpoints.FILE_NAME)
    with refused(CheckpointDamaged):
        checkpoints.load(tmp_path / checkpoints.FILE_NAME, identity="x")
    assert not (tmp_path / "made").exists()


def test_a_loss_that_is_no_number_ends_the_training_with_advice(job, monkeypatch):
    monkeypatch.setattr(task, "consistency_loss", lambda left, *_rest: left.sum() * float("nan"))
    with refused(LossNotFinite):
        train(job)


def test_without_dev_pairs_the_last_model_is_kept(job, caplog):
    with caplog.at_level("WARNING", logger="training"):
        folder = train(with_changes(job, "no-dev", splits=("train", "none")))
    report = json.loads((folder / "training.json").read_text())
    assert (report["dev"], report["best_step"], report["history"]) == (None, 27, [])
    assert "the last one is kept" in caplog.text


def test_a_single_pair_is_learnt_from_with_a_warning(job, caplog):
    pairs = pl.read_parquet(job.source.pairs)
    pairs.filter(pl.col("pair_id").is_in(["p0", "p3"])).write_parquet(job.source.pairs)
    with caplog.at_level("WARNING", logger="training"):
        folder = train(with_changes(job, "one"))
    assert json.loads((folder / "training.json").read_text())["steps"] == 3
    assert "few pairs to train on: 1 in split 'train'" in caplog.text


def test_pairs_of_other_corpora_and_splits_are_left_out(job):
    report = json.loads((train(with_changes(job, "left", corpora=("left",))) / "training.json").read_text())
    assert report["corpora"] == {"left": {"train": 36, "dev": 12, "unit": "pairs", "licence": ""}}


def test_a_training_pair_that_is_a_dev_pair_too_is_left_out_of_training_and_counted(job):
    pairs = pl.read_parquet(job.source.pairs)
    twin = pairs.filter(split="dev").head(1).with_columns(split=pl.lit("train"), pair_id=pl.lit("twin"))
    pl.concat([pairs, twin]).write_parquet(job.source.pairs)
    report = json.loads((train(with_changes(job, "twin", epochs=1)) / "training.json").read_text())
    assert [sum(of[split] for of in report["corpora"].values()) for split in ("train", "dev")] == [72, 24]
    assert report["dropped"] == 1


def test_kinds_of_pairs_can_be_left_out_of_training_but_not_of_dev(job):
    report = json.loads((train(with_changes(job, "kinds", kinds=("positive",))) / "training.json").read_text())
    assert report["corpora"]["left"] == {"train": 18, "dev": 12, "unit": "pairs", "licence": ""}


def test_sentences_of_a_negative_are_not_near(job, monkeypatch):
    near = []

    def near_groups(*given, real=task.near_groups, **how):
        near.append(given[3])
        return real(*given, **how)

    monkeypatch.setattr(task, "near_groups", near_groups)
    train(with_changes(job, "near", epochs=1))
    kinds = pl.read_parquet(job.source.pairs).filter(split="train")["kind"]
    assert {len(pairs) for pairs in near} == {(kinds != "negative").sum()} != {len(kinds)}


def test_as_many_pairs_are_trained_on_as_are_asked_for(job):
    def corpora(folder, **changed):
        report = json.loads((train(with_changes(job, folder, **changed)) / "training.json").read_text())
        return report["corpora"]

    every = corpora("all")
    some = corpora("some", pairs=20)
    assert sum(of["train"] for of in some.values()) == 20
    assert {name: of["dev"] for name, of in some.items()} == {name: of["dev"] for name, of in every.items()}
    assert corpora("more", pairs=10_000) == every


def test_layers_are_tuned_on_batches_of_the_named_corpora(job):
    reports = [
        json.loads((train(with_changes(job, folder, **changed)) / "training.json").read_text())
        for folder, changed in (
            ("all", {}),
            ("some", {"layer_corpora": ("left",)}),
            ("fewer", {"layer_corpora": ("left",), "layer_shares": {"left": 0.3}}),
        )
    ]
    assert {report["corpora"]["right"]["train"] for report in reports} == {36}, "the map is learnt from all"
    assert reports[2]["steps"] < reports[1]["steps"] < reports[0]["steps"]


def test_the_outputs_of_frozen_layers_are_those_of_sentences_that_batches_have(job, caplog):
    folders = []
    for name, room in (("kept", 1.0), ("made anew", 0.0)):
        caplog.clear()
        with caplog.at_level("INFO", logger="training"):
            given = {"layer_corpora": ("left",), "cache_gib": room, "disk_gib": room, "dropout": False}
            folders.append(train(with_changes(job, name, precision="float32", **given)))
        assert ("the outputs of the frozen layers are kept" in caplog.text) == bool(room)
    kept, anew = (SentenceTransformer(str(folder), device="cpu").encode(SENTENCES) for folder in folders)
    np.testing.assert_allclose(kept, anew, atol=1e-4)


def test_nothing_to_learn_from_is_an_error(job):
    with refused(NoTrainingData):
        train(with_changes(job, "none", splits=("training", "dev")))


def test_the_released_configuration_trains_too(job):
    preset = S3bertSettings(**job.settings.model_dump(exclude_unset=True) | {"preset": "released"})
    folder = train(job.model_copy(update={"settings": preset, "output": job.output.parent / "released"}))
    assert FacetLayout.load(folder).similarity == "manhattan"


def test_scaled_targets_are_undone_in_the_layout(job):
    layout = FacetLayout.load(train(with_changes(job, "minmax", targets="minmax", facet_weights="variance")))
    train_metrics = MeasuredPairs.from_file(job.source.pairs).select(splits=("train",)).metrics()
    for k, facet in enumerate(layout.facets):
        assert facet.offset == pytest.approx(train_metrics[:, k].min())


def test_the_model_card_says_where_it_comes_from(job):
    card = (train(job.model_copy(update={"licences": {"left": "CC BY 4.0"}})) / "README.md").read_text()
    assert "| left | 36 | 12 | CC BY 4.0 |" in card
    assert "| right | 36 | 12 | not recorded" in card
    assert "`learning_rate`" not in card
    assert "| loop.learning_rate | `0.001` |" in card
    assert "smatch 0–1, unlabeled 2–3" in card
    assert "residual 30–47" in card
    assert "): not recorded." in card
    assert "Not evaluated yet." in card
    assert "the cosine of a facet is to say how similar" in " ".join(card.split())


def test_a_model_card_of_facets_that_fill_the_embedding_names_no_residual(job):
    folder = train(with_changes(job, "full", facets=("smatch", "unlabeled", "wlk"), facet_dimensions=16))
    card = (folder / "README.md").read_text()
    assert "wlk 32–47; `facets.json`" in card


def test_the_model_card_says_by_which_similarity_facets_are_read(job):
    folder = train(with_changes(job, "manhattan-card", similarity="manhattan"))
    card = " ".join((folder / "README.md").read_text().split())
    assert (
        "1 minus the Manhattan distance of two sentences in a facet's dimensions is to say how similar they are" in card
    )
    assert "How far each facet follows its metric is under Scores." in card
    assert "the cosine of a facet" not in card


@pytest.mark.parametrize("name", ["s3bert-minilm", "s3bert-minilm-map"])
def test_the_card_of_an_encoder_in_the_package_is_that_of_its_training(name, root):
    folder = root / "features" / "models" / "shipped" / name
    card = write_card(json.loads((folder / "training.json").read_text()))
    shipped = (folder / "README.md").read_text()
    assert card.partition("## Scores")[0] == shipped.partition("## Scores")[0]
    assert ("The weights are a mean" in card) == (name == "s3bert-minilm")


def test_the_process_says_in_one_line_what_is_wrong(job, tmp_path, capsys):
    (tmp_path / "job.json").write_text(
        '{"source": {"store": "s"}, "output": "o", "settings": {"kind": "s3bert"}, "trainin": {}}'
    )
    assert main(["--settings", str(tmp_path / "job.json")]) == 1
    assert capsys.readouterr().err == (
        f"error: trainin in '{tmp_path}/job.json' is wrong: Extra inputs are not permitted (FF222)\n"
    )
    assert main(["--settings", str(tmp_path / "none.json")]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_a_source_is_a_store_or_a_table(tmp_path):
    with refused(Conflict):
        Source()
    with refused(Conflict):
        Source(store=tmp_path, pairs=tmp_path)


def test_facets_order_the_pairs_that_a_corpus_gives_for_a_sentence_better_if_that_is_an_objective(job):
    drawn = pl.read_parquet(job.source.pairs)
    data = MeasuredPairs.from_file(job.source.pairs).select(splits=("train",))
    left, right = np.triu_indices(len(data), 1)
    shared = data.first[left] == data.first[right]
    differences = (data.metrics()[left] - data.metrics()[right])[shared]

    def share(kind, **changes):
        drawn.with_columns(kind=pl.lit(kind)).write_parquet(job.source.pairs)
        usual = {"map_epochs": 2, "facet_dimensions": 8, "layers_tuned": 3, "epochs": 10, "learning_rate": 3e-3}
        folder = train(with_changes(job, f"{kind} {len(changes)}", **usual, **changes))
        vectors = SentenceTransformer(str(folder), device="cpu").encode(list(data.texts))
        similar = FacetLayout.load(folder).similarities(vectors[data.first], vectors[data.second])
        agree = differences * (similar[left] - similar[right])[shared]
        return np.mean(agree[differences != 0] > 0)

    every = share("positive", ordering=1.0)
    assert every > share("positive", ordering=1.0, ordered_facets=("srl",)) + 0.01
    assert every > share("negative", ordering=1.0) + 0.02  # drawn at random: not ordered
