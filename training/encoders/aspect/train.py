"""Train an encoder of aspects: batches of triplets, InfoNCE, and the neighbours of dev texts.

The encoder is the backbone with the chosen pooling, and a layer for each route:

    transformer ── pooling ──┬── country   linear layer, at first the identity     encode(texts, task="country")
                             └── industry  likewise                                normalisation, as in the backbone

Without routes there is such a layer only where no layer of the transformer is tuned. The encoder has only modules of
sentence-transformers: plain `SentenceTransformer(folder)` loads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Router
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import Tensor, nn

from features.core.faults import ModelUnfit, NameNotAllowed
from training.data.labelled_texts import LabelledTexts
from training.data.shared_labels import SharedLabels
from training.data.triplets import Triplets, in_batch_mask, same_text_mask
from training.encoders.aspect.data import Curriculum, Lesson, learnt_from, plan_lessons, resolved
from training.encoders.aspect.settings import AspectSettings
from training.encoders.backbone import Backbone, Tokens
from training.encoders.embedding import embed_together
from training.encoders.learning import learn
from training.encoders.loading import load_start
from training.encoders.running import Learnt, TrainingPlan, corpora_of, train_once, write_encoder
from training.jobs import Source, TrainingJob
from training.loop.batches import epoch_batches
from training.loop.machine import prepare_machine
from training.loop.task import Group, Judgement, decaying_matrices
from training.nearest import neighbours_of, unit
from training.objectives import info_nce_loss
from training.ranking import MEASURES, judge
from training.types import Positions

AspectJob = TrainingJob[Source, AspectSettings]

_DEPTH = 10  # neighbours that are scored
# Their positions start after that of the padding.
_FROM_PADDING = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})


def train(job: AspectJob) -> Path:
    """Train an encoder, from a checkpoint in the run's folder if there is one, and return its folder."""
    data = job.source.read(LabelledTexts)
    settings = resolved(data, job.settings)
    data = learnt_from(data, settings)
    plan = TrainingPlan.of(job, settings, data.digest(), data.source)
    return train_once(plan, lambda: _train(plan, settings, data))


def _train(plan: TrainingPlan, settings: AspectSettings, data: LabelledTexts) -> None:
    curriculum = plan_lessons(data, settings)
    machine = prepare_machine(settings.loop, plan.job.output)
    routes = [lesson.route for lesson in curriculum.lessons if lesson.route is not None]
    model = start_model(plan.backbone, settings, routes, str(machine.device))
    backbone = Backbone(model, settings, machine.precision)
    tokens = backbone.tokenize(data.texts)
    texts, dev = curriculum.texts, curriculum.dev
    used = np.union1d(texts, dev)
    position = position_of_layers(model, settings)
    if settings.layers_tuned or position is None:
        backbone.keep_states(tokens, plan.shared)
    else:
        backbone.keep_embeddings(tokens, used, before=position)
    cut = f"{int(tokens.cut[used].sum())} of these {len(used)} truncated at {backbone.model.max_seq_length} tokens"

    def complete(learnt: Learnt[AspectTask]) -> None:
        drawn = [lesson.maker.draw(seed=0, epoch=0) for lesson in curriculum.lessons]
        # Of a split, what was trained on or chosen by; others lack the label for it.
        splits = zip(settings.splits, (texts, dev), strict=True)
        used = ((pl.col("split") == split) & pl.col("text").is_in(some) for split, some in splits)
        rows = data.labels.select("corpus", "split", "text").unique().filter(pl.any_horizontal(used))
        facts = {
            "corpora": corpora_of(plan, rows, unit="texts"),
            "labels": {aspect: dict(counts) for aspect, counts in curriculum.chosen.counts.items()},
            "held_out_labels": {aspect: list(labels) for aspect, labels in curriculum.chosen.held_out.items()},
            "routes": routes,
            "anchors": [{"texts": len(np.unique(some.anchors)), **some.counts} for some in drawn],
        }
        write_encoder(plan, learnt, backbone, facts)

    learn(
        plan,
        machine,
        lambda settings: AspectTask(backbone, tokens, curriculum, settings),
        complete,
        about=f"{len(texts)} training texts, {len(dev)} dev texts, {cut}, {backbone.computing}",
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts of a step, by their positions; all take the same route."""

    lesson: int  # number of the lesson, from 0
    anchors: Positions  # (b,)
    candidates: Positions  # positives in the order of the anchors, then negatives, (b,) or (2b,)

    def __len__(self) -> int:
        return len(self.anchors)


class AspectTask:
    """Tune a backbone so that texts with a common label are close to each other."""

    unit = "triplets"

    def __init__(self, backbone: Backbone, tokens: Tokens, curriculum: Curriculum, settings: AspectSettings) -> None:
        self.backbone, self.tokens, self.curriculum, self.settings = backbone, tokens, curriculum, settings
        self.train = backbone.train
        factor = settings.route_learning_rate / settings.loop.learning_rate
        self.groups: Sequence[Group] = decaying_matrices(backbone.tuned_parameters())
        position = position_of_layers(backbone.model, settings)
        if position is not None:
            module = backbone.model[position].requires_grad_(requires_grad=True)
            layers = {f"routes.{name}": parameter for name, parameter in module.named_parameters()}
            # Weight decay would pull these layers, initially the identity, towards 0.
            self.groups = [*self.groups, Group(layers, factor, decays=False)]

    def batches(self, epoch: int) -> list[Batch]:
        """Return the batches of an epoch, each of one lesson; every epoch draws new triplets."""
        loop = self.settings.loop
        batches = []
        for number, lesson in enumerate(self.curriculum.lessons):
            drawn = self._drawn(lesson, epoch)
            texts = np.stack(drawn)  # (2 or 3, n)
            groups = np.arange(texts.shape[1], dtype=np.int64)
            lengths = self.tokens.lengths[texts].max(axis=0)
            some = epoch_batches(groups, lengths, batch_size=loop.batch_size, seed=loop.seed, epoch=epoch)
            # A single triplet has no in-batch negatives.
            batches += [Batch(number, texts[0, batch], texts[1:, batch].ravel()) for batch in some if len(batch) > 1]
        order = np.random.default_rng((loop.seed, epoch, 1)).permutation(len(batches))
        return [batches[position] for position in order]

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """Return the loss of a batch; each text is embedded once, by one of the processes."""
        lesson = self.curriculum.lessons[batch.lesson]
        every = np.concatenate([batch.anchors, batch.candidates])
        if self.settings.objective == "simcse":  # each text is embedded twice, with different dropout
            texts, positions = every, np.arange(len(every))
        else:
            texts, positions = np.unique(every, return_inverse=True)
        embeddings = embed_together(
            self.backbone, self.tokens, texts, route=lesson.route, at_once=self.settings.embed_at_once
        )
        where = torch.from_numpy(positions).to(embeddings.device)
        anchors, candidates = embeddings[where[: len(batch.anchors)]], embeddings[where[len(batch.anchors) :]]
        if self.settings.objective == "simcse":
            masked = torch.zeros((len(anchors), len(candidates)), dtype=torch.bool)
        else:
            masked = self._masked(lesson.maker.shared, batch.anchors, batch.candidates)
        return {"loss": info_nce_loss(anchors, candidates, masked.to(embeddings.device), self.settings.temperature)}

    @torch.no_grad()
    def judge(self) -> Judgement | None:
        """Return how well the neighbours of dev texts share their labels, as means over the routes."""
        judged = [(lesson.route, scores) for lesson in self.curriculum.lessons if (scores := self._judge(lesson))]
        if not judged:
            return None
        by, (_, first) = self.settings.choose_by, judged[0]
        means = {name: float(np.mean([scores[name] for _, scores in judged])) for name in (by, *first)}
        means |= {f"{by}_{route}": scores[by] for route, scores in judged if route is not None}
        return Judgement(means, value=-means[by] if by == "loss" else means[by])

    def _drawn(self, lesson: Lesson, epoch: int) -> tuple[Positions, ...]:
        if self.settings.objective == "simcse":
            return self.curriculum.texts, self.curriculum.texts
        drawn: Triplets = lesson.maker.draw(
            seed=self.settings.loop.seed, epoch=epoch, each=self.settings.triplets_per_text
        )
        return drawn.anchors, *self._candidates(drawn)

    def _candidates(self, drawn: Triplets) -> tuple[Positions, ...]:
        if self.settings.objective == "multiple_negatives":
            return (drawn.positives,)
        return drawn.positives, drawn.negatives

    def _masked(self, shared: SharedLabels, anchors: Positions, candidates: Positions) -> Tensor:
        """Return which candidates must not be negatives of an anchor, (n_anchors, n_candidates)."""
        if not self.settings.masked:
            return torch.from_numpy(same_text_mask(anchors, candidates))
        return torch.from_numpy(in_batch_mask(shared, anchors, candidates))

    def _judge(self, lesson: Lesson) -> dict[str, float] | None:
        """Return how well the neighbours of a lesson's dev texts share labels, and the loss on their triplets.

        All are NaN where an embedding is not finite. SimCSE is evaluated with labels like all others, although its own
        loss uses none.
        """
        dev, drawn = lesson.dev, lesson.dev.draw(seed=0, epoch=0)
        vectors = self.backbone.embed_many(self.tokens, dev.texts, lesson.route)
        if not np.isfinite(vectors).all():
            return dict.fromkeys(("mrr", "ndcg", "loss"), np.nan)
        neighbours = score_neighbours(vectors, dev.shared, dev.texts)
        if neighbours is None or not len(drawn):
            return None
        rows = np.zeros(len(self.tokens.lengths), dtype=np.int64)
        rows[dev.texts] = np.arange(len(dev.texts))
        size, losses = self.settings.loop.batch_size, []
        for start in range(0, len(drawn), size):
            some = slice(start, start + size)
            anchors = drawn.anchors[some]
            candidates = np.concatenate([texts[some] for texts in self._candidates(drawn)])
            masked = self._masked(dev.shared, anchors, candidates)
            left, right = (torch.from_numpy(vectors[rows[texts]]) for texts in (anchors, candidates))
            losses.append(len(anchors) * info_nce_loss(left, right, masked, self.settings.temperature).item())
        return {**neighbours, "loss": sum(losses) / len(drawn)}


def score_neighbours(vectors: NDArray[np.float32], shared: SharedLabels, texts: Positions) -> dict[str, float] | None:
    """Return `mrr` and `ndcg` of the first ten neighbours of each text (`training.ranking`), in [0, 1].

    Means over the texts that share a label with another; None if there are none. The embeddings of the texts are
    (n, d), their positions in `shared` (n,); each is a query to all others.
    """
    n = len(texts)
    if n < 2:
        return None
    nearest = neighbours_of(unit(vectors), _DEPTH)
    counts, values = judge(partial(shared.relevant, texts), {"encoder": nearest}, texts=n, k=_DEPTH)
    queries = counts > 0
    if not queries.any():
        return None
    means = dict(zip(MEASURES, values["encoder"][queries].mean(axis=0).tolist(), strict=True))
    return {name: means[name] for name in ("mrr", "ndcg")}


def start_model(folder: Path, settings: AspectSettings, routes: Sequence[str], device: str) -> SentenceTransformer:
    """Return the encoder before training; each route, if there are any, gives the embeddings of the backbone.

    Raises:
        ModelUnfit: as `load_start`; when `pooling` is set, and the backbone has none to replace; when it has routes.
        NameNotAllowed: when torch does not allow the name of a route.
    """
    model = load_start(folder, settings.backbone, device=device)
    config: Any = getattr(model.transformers_model, "config", None)
    longest = int(getattr(config, "max_position_embeddings", None) or model.max_seq_length or 512)
    longest -= 2 if getattr(config, "model_type", "") in _FROM_PADDING else 0
    model.max_seq_length = min(settings.max_tokens, longest)
    modules = list(model)
    if routes and any(isinstance(module, Router) for module in modules):
        raise ModelUnfit(
            f"the backbone {settings.backbone!r} has routes already: choose another one for the encoder "
            f'{settings.name!r}, which has combine = "routes"'
        )
    if settings.pooling is not None:
        positions = [position for position, module in enumerate(modules) if isinstance(module, Pooling)]
        if not positions:
            raise ModelUnfit(
                f"the backbone {settings.backbone!r} has no pooling to replace by {settings.pooling!r}; leave "
                f"`pooling` of the encoder {settings.name!r} out"
            )
        modules[positions[0]] = Pooling(modules[positions[0]].embedding_dimension, pooling_mode=settings.pooling)
    if taken := [route for route in routes if "." in route or hasattr(nn.ModuleDict(), route)]:
        raise NameNotAllowed(
            f"the aspect {taken[0]!r} cannot be the name of a route of the encoder {settings.name!r}: it has a dot, or "
            "torch uses it itself; give it another name in `aspects` of its corpus"
        )
    if routes or not settings.layers_tuned:
        width = int(model.get_embedding_dimension() or 0)
        layers = {route: [_identity(width)] for route in routes}
        end = len(modules) - 1 if isinstance(modules[-1], Normalize) else len(modules)
        modules.insert(end, Router(layers, default_route=routes[0]) if routes else _identity(width))
    return SentenceTransformer(modules=modules, device=device)


def position_of_layers(model: SentenceTransformer, settings: AspectSettings) -> int | None:
    """Return the position of the module with the linear layers; None if there are none."""
    if settings.combine != "routes" and settings.layers_tuned:
        return None
    return len(model) - (2 if isinstance(model[-1], Normalize) else 1)


def _identity(width: int) -> Any:
    return Dense(width, width, bias=False, activation_function=nn.Identity(), init_weight=torch.eye(width))
