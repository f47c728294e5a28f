"""What the loop gets: batches without false negatives, and gradients that do not depend on the pieces."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Router
from sentences import refused

from features.core.faults import ModelUnfit, NameNotAllowed
from training.data.triplets import TripletMaker, in_batch_mask, same_text_mask
from training.encoders.aspect.data import learnt_from, plan_lessons
from training.encoders.aspect.train import AspectTask, position_of_layers, start_model
from training.encoders.backbone import Backbone
from training.encoders.embedding import embed_together
from training.encoders.loading import load_start
from training.loop.settings import LoopSettings
from training.objectives import info_nce_loss

COMBINED = [
    {},
    {"aspects": ["animal", "place"], "combine": "intersection"},
    {"aspects": ["animal", "place"], "combine": "union"},
    {"aspects": ["animal", "place"], "combine": "routes"},
]
NO_LABELS = pl.DataFrame(schema={"text": pl.Int64, "aspect": pl.String, "label": pl.String})
NAMES = ["one", "intersection", "union", "routes"]


@pytest.fixture
def make(job, zoo, tiny_encoder):
    def made(**given):
        settings = job(**given).settings
        data = learnt_from(zoo, settings)
        curriculum = plan_lessons(data, settings)
        routes = [lesson.route for lesson in curriculum.lessons if lesson.route]
        backbone = Backbone(start_model(tiny_encoder, settings, routes, "cpu"), settings, torch.float32)
        return data, AspectTask(backbone, backbone.tokenize(data.texts), curriculum, settings)

    return made


def labels_of(data, aspect):
    found = {}
    for text, label in data.labels.filter(aspect=aspect).select("text", "label").iter_rows():
        found.setdefault(text, set()).add(label)
    return found


@pytest.mark.parametrize("given", COMBINED, ids=NAMES)
def test_no_positive_of_an_anchor_is_among_its_negatives_in_any_batch(make, given):
    data, task = make(**given)
    aspects = given.get("aspects", ["animal"])
    of = {aspect: labels_of(data, aspect) for aspect in aspects}
    train = set(data.labels.filter(split="train")["text"])
    seen = set()
    for epoch in range(3):
        for batch in task.batches(epoch):
            route = task.curriculum.lessons[batch.lesson].route
            shared = [lambda a, b, own=of[aspect]: bool(own[a] & own[b]) for aspect in ([route] if route else aspects)]
            alike = all if given.get("combine") == "intersection" else any
            shared_labels = task.curriculum.lessons[batch.lesson].maker.shared
            masked = task._masked(shared_labels, batch.anchors, batch.candidates).numpy()
            for i, anchor in enumerate(batch.anchors):
                for j, candidate in enumerate(batch.candidates):
                    positive = anchor == candidate or alike(share(anchor, candidate) for share in shared)
                    assert masked[i, j] == (positive and i != j)
                    assert i != j or positive
            seen |= {*batch.anchors, *batch.candidates}
    assert seen <= train


def test_batches_are_of_the_lessons_in_turn_and_of_other_triplets_in_each_epoch(make):
    _, task = make(**COMBINED[3], triplets_per_text=3, loop={"batch_size": 4})
    epochs = [task.batches(epoch) for epoch in (0, 1)]
    positives = [
        {(a, c) for each in batches for a, c in zip(each.anchors, each.candidates, strict=False)} for batches in epochs
    ]
    assert positives[0] != positives[1]
    lessons = [batch.lesson for batch in epochs[0]]
    assert lessons not in (sorted(lessons), sorted(lessons, reverse=True))
    for number, lesson in enumerate(task.curriculum.lessons):
        triplets = 3 * len(lesson.maker.draw(seed=0, epoch=0))
        assert sum(len(batch) for batch in epochs[0] if batch.lesson == number) == triplets
    task.settings = task.settings.model_copy(update={"loop": LoopSettings(batch_size=triplets - 1)})
    assert {len(batch) for batch in task.batches(0)} == {triplets - 1}, "a triplet alone has no other negatives"


@pytest.mark.parametrize(
    ("given", "candidates", "texts"),
    [({}, 2, None), ({"objective": "multiple_negatives"}, 1, None), ({"objective": "simcse"}, 1, 2)],
    ids=["info_nce", "multiple negatives", "simcse"],
)
def test_a_batch_has_the_candidates_of_its_objective_and_each_text_once_but_where_dropout_is_learnt_from(
    make, monkeypatch, given, candidates, texts
):
    _, task = make(**given)
    seen = []

    def noted(*some, **given):
        seen.append(some[2].tolist())
        return embed_together(*some, **given)

    monkeypatch.setattr("training.encoders.aspect.train.embed_together", noted)
    batch = task.batches(0)[0]
    task.losses(batch)
    assert len(batch.candidates) == candidates * len(batch)
    every = [*batch.anchors, *batch.candidates]
    assert sorted(seen[0]) == (sorted(every) if texts else sorted(set(every)))


def test_without_a_mask_a_text_with_the_label_of_the_anchor_is_its_negative(make):
    _, task = make(objective="multiple_negatives", masked=False)
    batch = task.batches(0)[0]
    shared = task.curriculum.lessons[0].maker.shared
    masked = task._masked(shared, batch.anchors, batch.candidates).numpy()
    assert (masked == same_text_mask(batch.anchors, batch.candidates)).all()
    assert masked.sum() < in_batch_mask(shared, batch.anchors, batch.candidates).sum()


@pytest.mark.parametrize("given", COMBINED[2:], ids=NAMES[2:])
@pytest.mark.parametrize("layers", [1, "all"])
def test_pieces_change_no_gradient(make, given, layers):
    found = []
    for at_once in (None, 3):
        _, task = make(layers_tuned=layers, dropout=False, embed_at_once=at_once, **given)
        loss = task.losses(task.batches(0)[0])["loss"]
        loss.backward()
        parameters = {name: p for group in task.groups for name, p in group.parameters.items()}
        found.append((loss, {name: p.grad for name, p in parameters.items() if p.grad is not None}))
    (whole, plain), (pieced, cached) = found
    torch.testing.assert_close(whole, pieced, atol=1e-5, rtol=1e-5)
    assert plain.keys() == cached.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(cached[name], gradient, atol=1e-5, rtol=1e-4)


def test_pieces_are_embedded_again_with_the_same_dropout(make):
    gradients = []
    for at_once in (4, None):
        _, task = make()
        backbone, texts = task.backbone, np.arange(12)
        texts = texts[np.argsort(task.tokens.lengths[texts], kind="stable")]
        task.train()
        torch.manual_seed(3)
        if at_once:
            embedded = embed_together(backbone, task.tokens, texts, at_once=at_once)
        else:
            embedded = torch.cat([backbone.embed(task.tokens, piece) for piece in np.split(texts, 3)])
        torch.rand(7)  # what follows in the stream of random numbers is not disturbed
        (embedded[:, :5] * torch.arange(12)[:, None]).sum().backward()
        gradients.append([p.grad for p in backbone.tuned_parameters().values()] + [torch.rand(3)])
    for again, once in zip(*gradients, strict=True):
        torch.testing.assert_close(again, once, atol=1e-5, rtol=1e-4)


def test_a_route_begins_as_the_backbone(make, tiny_encoder):
    _, task = make(**COMBINED[3])
    texts = ["the cat in the park", "a red dog"]
    expected = SentenceTransformer(str(tiny_encoder), device="cpu").encode(texts)
    for route in ("animal", "place"):
        np.testing.assert_allclose(task.backbone.model.encode(texts, task=route), expected, atol=1e-5)


def test_embeddings_that_are_not_finite_have_no_dev_score_and_the_loop_says_what_helps(make):
    _, task = make()
    for weights in task.backbone.tuned_parameters().values():
        weights.data.fill_(np.nan)
    assert np.isnan(task.judge().value)


def test_dev_texts_that_are_all_alike_choose_nothing(make):
    _, task = make()
    (lesson,) = task.curriculum.lessons
    alike = pl.DataFrame([(0, "animal", "cat"), (1, "animal", "cat")], schema=NO_LABELS.schema, orient="row")
    dev = TripletMaker(alike, ["animal"], "any", every=alike, n_texts=len(task.tokens.lengths))
    task.curriculum = replace(task.curriculum, lessons=(replace(lesson, dev=dev),))
    assert task.judge() is None


def test_dev_texts_are_embedded_by_the_route_of_their_lesson_without_dropout_and_the_lowest_loss_is_best(make):
    _, task = make(**COMBINED[3], choose_by="loss")
    task.train()
    judged = task.judge()
    assert task.judge().scores == judged.scores
    assert judged.value == -judged.scores["loss"]
    place = task.backbone.model[position_of_layers(task.backbone.model, task.settings)]
    torch.nn.init.normal_(place.sub_modules["place"][0].linear.weight)
    again = task.judge().scores
    assert again["loss_animal"] == judged.scores["loss_animal"]
    assert again["loss_place"] != judged.scores["loss_place"]


def test_the_dev_scores_of_routes_have_the_names_of_these_routes(make, caplog):
    """If the dev texts of the first route yield no score, the second keeps its own name."""
    _, task = make(aspects=["animal", "place"], combine="routes")
    both = task.judge().scores
    assert {"mrr_animal", "mrr_place"} <= both.keys()
    first, second = task.curriculum.lessons
    nothing = replace(first, dev=TripletMaker(NO_LABELS, ["animal"], "any", every=NO_LABELS, n_texts=0))
    task.curriculum = replace(task.curriculum, lessons=(nothing, second))
    alone = task.judge().scores
    assert "mrr_animal" not in alone
    assert alone["mrr_place"] == alone["mrr"] == pytest.approx(both["mrr_place"])


@pytest.mark.parametrize("objective", ["info_nce", "multiple_negatives"])
def test_the_dev_loss_is_that_of_the_objective(make, objective):
    _, task = make(objective=objective)
    (lesson,) = task.curriculum.lessons
    drawn = lesson.dev.draw(seed=0, epoch=0)
    texts = lesson.dev.texts
    vectors = dict(zip(texts.tolist(), task.backbone.embed_many(task.tokens, texts), strict=True))
    size, expected = task.settings.loop.batch_size, 0.0
    for start in range(0, len(drawn), size):
        some = slice(start, start + size)
        of = (drawn.positives,) if objective == "multiple_negatives" else (drawn.positives, drawn.negatives)
        anchors, candidates = drawn.anchors[some], np.concatenate([each[some] for each in of])
        mask = torch.from_numpy(in_batch_mask(lesson.dev.shared, anchors, candidates))
        sides = [torch.from_numpy(np.stack([vectors[text] for text in side])) for side in (anchors, candidates)]
        expected += len(anchors) * info_nce_loss(*sides, mask, task.settings.temperature).item()
    assert task.judge().scores["loss"] == pytest.approx(expected / len(drawn))


def test_a_text_that_fits_exactly_is_not_cut(make):
    _, task = make()
    text = "the cat in the park"
    length = len(task.backbone.tokenize([text]).ids)
    for limit, cut in ((length + 1, False), (length, False), (length - 1, True)):
        task.backbone.model.max_seq_length = limit
        assert task.backbone.tokenize([text, ""]).cut.tolist() == [cut, False]


@pytest.mark.parametrize("name", ["type", "of.place"])
def test_a_route_cannot_have_a_name_that_torch_takes(job, tiny_encoder, name):
    settings = job(aspects=["animal", name], combine="routes").settings
    with refused(NameNotAllowed):
        start_model(tiny_encoder, settings, settings.aspects, "cpu")


def test_a_backbone_with_routes_gets_no_others(make, tmp_path):
    _, task = make(aspects=["animal", "place"], combine="routes")
    task.backbone.model.save_pretrained(str(tmp_path), create_model_card=False)
    with refused(ModelUnfit):
        start_model(tmp_path, task.settings, ["animal", "country"], "cpu")


@pytest.mark.parametrize("routes", [[], ["animal", "place"]], ids=["map", "routes"])
def test_new_layers_come_before_embeddings_are_normalised_at_a_rate_of_their_own_and_do_not_decay(
    job, tiny_encoder, tmp_path, routes
):
    model = SentenceTransformer(str(tiny_encoder), device="cpu")
    model.append(Normalize())
    model.save_pretrained(str(tmp_path / "unit"), create_model_card=False)
    settings = job(**(COMBINED[3] if routes else {"layers_tuned": 0}), route_learning_rate=4e-3).settings
    model = start_model(tmp_path / "unit", settings, routes, "cpu")
    assert isinstance(model[-1], Normalize)
    assert isinstance(model[position_of_layers(model, settings)], Router if routes else Dense)
    backbone = Backbone(model, settings, torch.float32)
    (layers,) = (group for group in AspectTask(backbone, None, None, settings).groups if group.factor != 1)
    assert (layers.factor, layers.decays, len(layers.parameters)) == (4, False, max(1, len(routes)))


@pytest.mark.parametrize(("kind", "asked", "longest"), [("bert", 8, 8), ("bert", 999, 0), ("roberta", 999, -2)])
def test_texts_are_cut_where_the_settings_or_the_backbone_say(job, tiny_encoder, monkeypatch, kind, asked, longest):
    model = load_start(tiny_encoder, "tiny", device="cpu")
    config = model.transformers_model.config
    monkeypatch.setattr(config, "model_type", kind)
    monkeypatch.setattr("training.encoders.aspect.train.load_start", lambda *_, **__: model)
    found = start_model(tiny_encoder, job(max_tokens=asked).settings, [], "cpu").max_seq_length
    assert found == (longest if longest > 0 else config.max_position_embeddings + longest)
