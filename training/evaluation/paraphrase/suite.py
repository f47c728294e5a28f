"""The suite of judged pairs: does an encoder tell paraphrases? For encoders of every kind.

An encoder whose classifier knows both labels of a set is scored by its probability of the positive one; all others,
including start models, by the cosine of the embeddings.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import NothingToScore
from training.evaluation.bootstrap import Drawn, differing, in_groups
from training.evaluation.items import ItemScores, Scale, ScoredPairs, numbers_of, read_items, read_sets
from training.evaluation.measures import MEANS, MEASURES, THRESHOLDED, Scored, reliability
from training.evaluation.models import Embed, Models
from training.evaluation.paraphrase.report import paraphrase_chapter, paraphrase_tables
from training.evaluation.paraphrase.sets import Found, JudgedPairs, JudgedSet, find_sets
from training.evaluation.seen import seen_part, sets_chosen_by
from training.evaluation.suites import Chapter, Result, Subject, Suite
from training.evaluation.tables import ScoreTable
from training.kinds import learns_labels
from training.similarity import cosines
from training.thresholds import HALF, best_f1

if TYPE_CHECKING:
    from training.modules.pair_classifier import PairClassifier

PAIRS_FILE = "paraphrase.parquet"
"""Scores and predictions of each pair: the basis for comparing two encoders."""
_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class _Judge:
    """A model that scores pairs, with its classifier where it has one: start models have none."""

    embed: Embed
    classifier: "PairClassifier | None"

    def fits(self, judged: JudgedSet) -> bool:
        """Return whether the classifier knows both labels of a set: then it decides, otherwise the cosine."""
        return self.classifier is not None and set(judged.labels) <= set(self.classifier.labels)

    def score(self, pairs: JudgedPairs, judged: JudgedSet) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of pairs, and those of the same pairs swapped, (n_pairs,) each."""
        left, right = self.embed(pairs.texts_a), self.embed(pairs.texts_b)
        if self.classifier is None or not self.fits(judged):
            return cosines(left, right), cosines(right, left)
        sides = ((left, right), (right, left))
        straight, swapped = (self.classifier.probabilities(*side, judged.labels)[:, 0] for side in sides)
        return straight, swapped

    def threshold(self, judged: JudgedSet, learnt: Sequence[JudgedSet]) -> dict[str, Any]:
        """Return the score from which a pair of a set is predicted positive, as JSON: `value`, None without one.

        dev pairs of the set ──(none with both labels)──> those of `learnt` that are scored in the same way
                                                              │ (none with both labels)
                                                              v
                                                 .5 for a probability, nothing for a cosine

        `learnt` are dev pairs of the corpora that the encoder was trained on.
        """
        fits = self.fits(judged)
        choosers = {"dev": [judged], "learnt": [each for each in learnt if self.fits(each) == fits]}
        for by, sets in choosers.items():
            dev = [(each, each.dev) for each in sets if each.dev is not None]
            positive = np.concatenate([np.zeros(0, dtype=np.bool_), *(pairs.positive for _, pairs in dev)])
            if positive.any() and not positive.all():
                value = best_f1(positive, np.concatenate([self.score(pairs, each)[0] for each, pairs in dev]))
                same = by == "dev" and dev[0][1].digest() == judged.pairs.digest()
                corpora = [each.name for each, _ in dev]
                return {"value": value, "by": by, "corpora": corpora, "pairs": len(positive), "same": same}
        none = {"corpora": [], "pairs": 0, "same": False}
        return {"value": HALF, "by": "half", **none} if fits else {"value": None, "by": "nothing", **none}


@dataclass
class ParaphraseSuite(Suite):
    """Pairs that are judged as paraphrase or not, by corpus, and the classifier of the encoder, if it has one."""

    name: ClassVar[str] = "paraphrase"
    title: ClassVar[str] = "Paraphrase or not"
    measure: ClassVar[str] = "F1"
    mean: ClassVar[str] = "mean F1"
    called: ClassVar[str] = "paraphrase F1"
    file: ClassVar[str] = PAIRS_FILE
    needs: ClassVar[str] = (
        "pairs in the split that are judged as paraphrase or not: name a corpus of them under [[corpora]], or a set "
        "under [[evaluation]] (docs/concepts/evaluation.md)"
    )

    found: Found
    classifier: "PairClassifier | None"
    subject: Subject

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        found = find_sets(subject)
        if not found.sets:
            message = f"Paraphrases cannot be scored. {' '.join([*found.skipped, *_sentences(found.foreign)])}"
            if cls.name in subject.job.suites and (found.skipped or found.foreign):
                raise NothingToScore(f"{message} Evaluate on another split (--split), or add pairs.")
            if found.skipped:
                _log.warning("%s", message)
            return None
        from training.modules.pair_classifier import PairClassifier

        load = PairClassifier.load if learns_labels(subject.settings) else PairClassifier.of
        return cls(found, load(subject.job.encoder), subject)

    def score(self, models: Models) -> Result:
        judges = {"encoder": _Judge(models.encoder, self.classifier)}
        if models.start is not None:
            judges["start"] = _Judge(models.start, None)
        found, sets, training = self.found, self.found.sets, self.subject.training
        calibration = self.classifier and self.classifier.calibration
        scored = [self._score_set(judged, judges) for judged in sets]
        means = {name: Drawn.average([drawn[name] for _, drawn in scored]) for name in MEASURES}
        of_each = {name: mean and mean.paired(self.subject.bootstrap) for name, mean in means.items()}
        of_release = [judged.name for judged in sets if judged.split]
        chosen_by = sets_chosen_by(training, self.subject.rating_sets)
        return {
            "split": self.subject.job.split,
            "rows": [row for row, _ in scored],
            "mean": of_each["f1"],
            "means": of_each,
            "data": {judged.name: judged.pairs.digest() for judged in sets},
            "skipped": [*found.skipped, *_sentences(found.foreign)],
            "classifier": self.classifier
            and {
                "labels": list(self.classifier.labels),
                "symmetric": self.classifier.is_symmetric,
                "calibrated_by": calibration.pairs if calibration else None,
            },
            "seen": seen_part(training, self.subject.job.split, of_release),
            "others": dict(found.others),
            "chosen_by": [name for name in chosen_by if any(judged.name == name for judged in sets)],
        }

    def _score_set(self, judged: JudgedSet, judges: Mapping[str, _Judge]) -> tuple[dict[str, Any], dict[str, Drawn]]:
        pairs = judged.pairs
        thresholds = {name: judge.threshold(judged, self.found.learnt) for name, judge in judges.items()}
        both = {name: judge.score(pairs, judged) for name, judge in judges.items()}
        scored = {name: Scored(pairs.positive, scores, thresholds[name]["value"]) for name, (scores, _) in both.items()}
        values = [each.measure() for each in scored.values()]
        bootstrap = in_groups(self.subject.bootstrap.of(judged.name), pairs.texts_a)
        draws = [each.draw(bootstrap) for each in scored.values()]
        swapped = Scored(pairs.positive, both["encoder"][1], thresholds["encoder"]["value"]).predicted
        predicted = {name: each.predicted for name, each in scored.items()} | {"swapped": swapped}
        own, of_start = predicted["encoder"], predicted.get("start")
        changed = None if own is None or swapped is None else int((own != swapped).sum())
        differ = None if own is None or of_start is None else differing(own, of_start, pairs.texts_a)
        drawn = {
            name: Drawn(
                [measures[name] for measures in values],
                np.stack([draw[name] for draw in draws], axis=1),
                bootstrap.count,
                mean=name in MEANS,
                differ=differ if name in THRESHOLDED else None,
            )
            for name in MEASURES
        }
        scores = {name: score.paired(bootstrap) for name, score in drawn.items()}
        by_classifier = judges["encoder"].fits(judged)
        row = {
            "name": judged.name,
            **scores["f1"],
            "split": judged.split,
            "pairs": len(pairs),
            "positives": int(pairs.positive.sum()),
            "labels": dict(zip(("positive", "negative"), judged.labels, strict=True)),
            "scored_by": "classifier" if by_classifier else "cosine",
            "thresholds": thresholds,
            "scores": scores,
            "more_probable": replace(scored["encoder"], threshold=HALF).measure() if by_classifier else None,
            "reliability": reliability(pairs.positive, both["encoder"][0]) if by_classifier else None,
            "swapped": None if changed is None else changed / len(pairs),
            "changed": changed,
        }
        self.items_of_sets.append(_table_of(judged, both, predicted))
        return row, drawn

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        return paraphrase_tables(result)

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        columns = ("set", "text_a", "text_b", "label", "score", "predicted")
        return paraphrase_chapter(result, read_items(folder / PAIRS_FILE, *columns))

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return the predictions of each set that has a threshold, and the scores of all sets."""
        pairs = cls._pairs(folder, result)
        predicted = [
            replace(each.scores, predicted=numbers_of(rows["predicted"] == positive), scored_by="f1", measure="")
            for each, rows, positive in pairs
            if not rows["predicted"].null_count()
        ]
        return [*predicted, *(each.scores for each, _, _ in pairs)]

    @classmethod
    def pairs(cls, folder: Path, result: Result) -> list[ScoredPairs]:
        return [replace(each, scores=replace(each.scores, measure="")) for each, _, _ in cls._pairs(folder, result)]

    @classmethod
    def _pairs(cls, folder: Path, result: Result) -> list[tuple[ScoredPairs, pl.DataFrame, str]]:
        """Return the pairs of each set as scored by AUROC, with their rows and their positive label."""
        sets, pairs = {row["name"]: row for row in result["rows"]}, []
        for name, rows in read_sets(folder / PAIRS_FILE, sets, "label", "score", "predicted"):
            positive = sets[name]["labels"]["positive"]
            scores = ItemScores(
                name=name,
                items=rows["item"].to_list(),
                predicted=numbers_of(rows["score"]),
                expected=numbers_of(rows["label"] == positive),
                scored_by="auroc",
                measure="AUROC",
                groups=rows["text_a"].to_list(),
            )
            scale: Scale = "probability" if sets[name]["scored_by"] == "classifier" else "cosine"
            texts = rows.select("text_a", "text_b").rows()
            pairs.append((ScoredPairs(scores, texts, scale), rows, positive))
        return pairs


def _sentences(clauses: Sequence[str]) -> list[str]:
    return [f"Not scored, because a paraphrase judgement has two labels: {'; '.join(clauses)}."] if clauses else []


def _table_of(
    judged: JudgedSet,
    scores: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    predicted: Mapping[str, NDArray[np.bool_] | None],
) -> pl.DataFrame:
    pairs = judged.pairs

    def label_of(positive: NDArray[np.bool_] | None) -> pl.Series:
        values = [None] * len(pairs) if positive is None else np.where(positive, *judged.labels)
        return pl.Series(values, dtype=pl.String)

    return pl.DataFrame(
        {
            "set": [judged.name] * len(pairs),
            "text_a": pairs.texts_a,
            "text_b": pairs.texts_b,
            "label": label_of(pairs.positive),
            "score": scores["encoder"][0],
            "swapped_score": scores["encoder"][1],
            "predicted": label_of(predicted["encoder"]),
            "swapped_predicted": label_of(predicted["swapped"]),
            "start_score": scores["start"][0] if "start" in scores else [None] * len(pairs),
            "start_predicted": label_of(predicted.get("start")),
        },
        schema_overrides={"start_score": pl.Float64},
    )
