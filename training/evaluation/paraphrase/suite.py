"""The suite of judged pairs: does an encoder tell paraphrases? For encoders of every kind.

An encoder whose classifier knows both labels of a set is scored by its probability of the positive one; all others,
including start models, by the cosine of the embeddings. Thresholds are chosen on dev pairs (`threshold`).
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.errors import InputError
from features.core.files import write_table
from features.metrics.bootstrap import Bootstrap
from training.evaluation.bootstrap import differing, in_groups
from training.evaluation.items import ItemScores, ScoredPairs, numbered, read_items
from training.evaluation.measures import MEANS, MEASURES, THRESHOLDED, Scored
from training.evaluation.models import Embed, Models
from training.evaluation.paired import average, pair
from training.evaluation.paraphrase.reliability import reliability
from training.evaluation.paraphrase.sets import Found, JudgedPairs, JudgedSet, find_sets
from training.evaluation.paraphrase.tables import paraphrase_tables
from training.evaluation.paraphrase.threshold import DevPairs, Threshold, choose_threshold, joined
from training.evaluation.seen import seen_part, sets_chosen_by
from training.evaluation.subject import Subject
from training.evaluation.suites import Chapter, Result, Suite
from training.evaluation.tables import ScoreTable
from training.kinds import learns_labels
from training.similarity import cosines
from training.thresholds import HALF

if TYPE_CHECKING:
    from training.modules.pair_classifier import PairClassifier

PAIRS_FILE = "paraphrase.parquet"
"""Scores and predictions of each pair: the basis for comparing two encoders."""
_log = logging.getLogger("training")


@dataclass(frozen=True, slots=True)
class _Judge:
    """A model that scores pairs.

    Args:
        embed: the model.
        classifier: its classifier; None where it has none, as start models.
    """

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
        said = (self.classifier.probabilities(*sides, judged.labels) for sides in ((left, right), (right, left)))
        straight, swapped = (each[:, 0] for each in said)
        return straight, swapped

    def dev_pairs(self, pairs: JudgedPairs, judged: JudgedSet) -> DevPairs:
        """Return the scored dev pairs of a set."""
        return DevPairs((judged.name,), pairs.positive, self.score(pairs, judged)[0])

    def threshold(self, judged: JudgedSet, learnt: Sequence[JudgedSet]) -> Threshold:
        """Return the threshold of a set.

        Args:
            judged: the set.
            learnt: dev pairs of the corpora that the encoder was trained on; only those scored in the same way count.
        """
        own = None if judged.dev is None else self.dev_pairs(judged.dev, judged)
        fits = self.fits(judged)
        others = None
        if own is None or not own.has_both:
            others = joined([self.dev_pairs(each.pairs, each) for each in learnt if self.fits(each) == fits])
        return choose_threshold(own, others, probabilities=fits)


class ParaphraseSuite(Suite):
    """Pairs that are judged as paraphrase or not, by corpus.

    Args:
        found: the pairs.
        classifier: of the encoder; None where it has none.
        split: the requested split.
        bootstrap: how intervals are computed.
        training: content of the encoder's training.json; perhaps empty.
        chosen_by: names of the sets that the model was chosen by.
    """

    name: ClassVar[str] = "paraphrase"
    title: ClassVar[str] = "Paraphrase or not"
    measure: ClassVar[str] = "F1"
    mean: ClassVar[str] = "mean F1"
    called: ClassVar[str] = "paraphrase F1"
    needs: ClassVar[str] = (
        "pairs in the split that are judged as paraphrase or not: name a corpus of them under [[corpora]], or a set "
        "under [[evaluation]] (docs/concepts/evaluation.md)"
    )

    def __init__(
        self,
        found: Found,
        classifier: "PairClassifier | None",
        split: str,
        bootstrap: Bootstrap,
        training: Mapping[str, Any],
        chosen_by: Sequence[str] = (),
    ) -> None:
        self._found = found
        self._classifier = classifier
        self._split = split
        self._bootstrap = bootstrap
        self._training = training
        self._chosen_by = chosen_by
        self._said: list[pl.DataFrame] = []

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the judged pairs, and the classifier of the encoder.

        Raises:
            InputError: when the suite is requested by name, and no pairs can be scored.
            ModelError: when the classifier is damaged or missing.
        """
        found = find_sets(subject)
        if not found.sets:
            said = f"Paraphrases cannot be scored. {' '.join([*found.skipped, *_sentences(found.foreign)])}"
            if cls.name in subject.job.suites and (found.skipped or found.foreign):
                raise InputError(f"{said} Evaluate on another split (--split), or add pairs.")
            if found.skipped:
                _log.warning("%s", said)
            return None
        from training.modules.pair_classifier import PairClassifier

        job = subject.job
        learnt = learns_labels(subject.settings)
        classifier = PairClassifier.load(job.encoder) if learnt else PairClassifier.of(job.encoder)
        chosen_by = sets_chosen_by(subject.training, subject.rating_sets)
        return cls(found, classifier, job.split, subject.bootstrap, subject.training, chosen_by)

    def score(self, models: Models) -> Result:
        """Return the measures of each set by the encoder and its start model, and their means."""
        judges = {"encoder": _Judge(models.encoder, self._classifier)}
        if models.start is not None:
            judges["start"] = _Judge(models.start, None)
        known: dict[str, list[list[float | None]]] = {name: [] for name in MEASURES}
        drawn: dict[str, list[NDArray[np.float64]]] = {name: [] for name in MEASURES}
        corpora = []
        for judged in self._found.sets:
            entry, values, draws = self._score_set(judged, judges)
            corpora.append(entry)
            for name in MEASURES:
                known[name].append([of[name] for of in values])
                drawn[name].append(np.stack([of[name] for of in draws], axis=1))
        fewest = min(len(set(judged.pairs.texts_a)) for judged in self._found.sets)
        differ = [each["differ"] for each in corpora]
        told = None if None in differ else sum(differ)
        of_release = [each.name for each in self._found.sets if each.split]
        return {
            "split": self._split,
            "corpora": corpora,
            "averages": {
                name: average(
                    known[name],
                    drawn[name],
                    self._bootstrap,
                    fewest,
                    mean=name in MEANS,
                    differ=told if name in THRESHOLDED else None,
                )
                for name in MEASURES
            },
            "skipped": [*self._found.skipped, *_sentences(self._found.foreign)],
            "classifier": None
            if self._classifier is None
            else {
                "labels": list(self._classifier.labels),
                "symmetric": self._classifier.is_symmetric,
                "calibrated_by": self._classifier.calibration.pairs if self._classifier.calibration else None,
            },
            "seen": seen_part(self._training, self._split, of_release),
            "others": dict(self._found.others),
            "chosen_by": [name for name in self._chosen_by if any(each.name == name for each in self._found.sets)],
        }

    def _score_set(
        self, judged: JudgedSet, judges: Mapping[str, _Judge]
    ) -> tuple[dict[str, Any], list[dict[str, float | None]], list[dict[str, NDArray[np.float64]]]]:
        """Return the entry of a set, and for each model its measures and their draws."""
        pairs = judged.pairs
        thresholds = {name: judge.threshold(judged, self._found.learnt) for name, judge in judges.items()}
        both = {name: judge.score(pairs, judged) for name, judge in judges.items()}
        scored = {name: Scored(pairs.positive, scores, thresholds[name].value) for name, (scores, _) in both.items()}
        values = [each.measure() for each in scored.values()]
        bootstrap = in_groups(self._bootstrap.of(judged.name), pairs.texts_a)
        draws = [each.draw(bootstrap) for each in scored.values()]
        swapped = Scored(pairs.positive, both["encoder"][1], thresholds["encoder"].value)
        called, swapped_called = scored["encoder"].predicted, swapped.predicted
        differ = _differing(scored, pairs)
        by_classifier = judges["encoder"].fits(judged)
        changed = None if called is None or swapped_called is None else int((called != swapped_called).sum())
        entry: dict[str, Any] = {
            "name": judged.name,
            "split": judged.split,
            "pairs": len(pairs),
            "positives": int(pairs.positive.sum()),
            "labels": {"positive": judged.positive_label, "negative": judged.negative_label},
            "scored_by": "classifier" if by_classifier else "cosine",
            "threshold": thresholds["encoder"].value,
            "threshold_from": self._explain(judged, thresholds["encoder"]),
            "start_threshold": thresholds["start"].value if "start" in thresholds else None,
            "start_threshold_from": self._explain(judged, thresholds["start"]) if "start" in thresholds else None,
            "scores": {
                name: asdict(
                    pair(
                        [of[name] for of in values],
                        np.stack([of[name] for of in draws], axis=1),
                        bootstrap,
                        bootstrap.count,
                        mean=name in MEANS,
                        differ=differ if name in THRESHOLDED else None,
                    )
                )
                for name in MEASURES
            },
            "more_probable": replace(scored["encoder"], threshold=HALF).measure() if by_classifier else None,
            "reliability": reliability(pairs.positive, both["encoder"][0]) if by_classifier else None,
            "swapped": None if changed is None else changed / len(pairs),
            "changed": changed,
            "differ": differ,
            "digest": pairs.digest(),
        }
        self._said.append(_table_of(judged, both, {name: each.predicted for name, each in scored.items()}, swapped))
        return entry, values, draws

    def _explain(self, judged: JudgedSet, threshold: Threshold) -> dict[str, Any]:
        """Return where a threshold comes from, as JSON."""
        return {
            "by": threshold.by,
            "corpora": list(threshold.of),
            "pairs": threshold.pairs,
            "same": threshold.by == "dev" and judged.dev is not None and judged.dev.digest() == judged.pairs.digest(),
        }

    def write(self, folder: Path) -> None:
        """Write paraphrase.parquet."""
        write_table(pl.concat(self._said), folder / PAIRS_FILE)

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return F1 next to that of the start model, and all measures."""
        return paraphrase_tables(result)

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return bars, the numbers, precision-recall curves, and the worst mistakes."""
        from training.evaluation.paraphrase.chapter import paraphrase_chapter

        table = read_items(folder / PAIRS_FILE, "corpus", "text_a", "text_b", "label", "score", "predicted")
        return paraphrase_chapter(result, table)

    @classmethod
    def numbers(cls, result: Result) -> dict[str, float | None]:
        """Return the F1 of each set."""
        return {each["name"]: each["scores"]["f1"]["encoder"] for each in result["corpora"]}

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return the mean of F1 over the sets."""
        return {f"{cls.name} F1": super().headline(result)[cls.name]}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return the predictions of each set that has a threshold, and the scores of all sets."""
        named = numbered(read_items(folder / PAIRS_FILE, "corpus", "text_a", "text_b", "label", "predicted"), "corpus")
        found = []
        for each in result["corpora"]:
            rows = named.filter(corpus=each["name"])
            if rows.is_empty() or rows["predicted"].null_count():
                continue
            positive = each["labels"]["positive"]
            found.append(
                ItemScores(
                    name=each["name"],
                    items=rows["item"].to_list(),
                    predicted=(rows["predicted"] == positive).cast(pl.Float64).to_numpy(),
                    expected=(rows["label"] == positive).cast(pl.Float64).to_numpy(),
                    scored_by="f1",
                    groups=rows["text_a"].to_list(),
                )
            )
        return [*found, *(replace(each.scores, measure="AUROC") for each in cls.pairs(folder, result))]

    @classmethod
    def pairs(cls, folder: Path, result: Result) -> list[ScoredPairs]:
        """Return the pairs with their scores, set by set, including sets without a threshold."""
        table = read_items(folder / PAIRS_FILE, "corpus", "text_a", "text_b", "label", "score")
        named = numbered(table, "corpus")
        return [
            ScoredPairs(
                ItemScores(
                    name=each["name"],
                    items=rows["item"].to_list(),
                    predicted=rows["score"].cast(pl.Float64).to_numpy(),
                    expected=(rows["label"] == each["labels"]["positive"]).cast(pl.Float64).to_numpy(),
                    scored_by="auroc",
                    groups=rows["text_a"].to_list(),
                ),
                texts=rows.select("text_a", "text_b").rows(),
                scale="probability" if each["scored_by"] == "classifier" else "cosine",
            )
            for each in result["corpora"]
            if not (rows := named.filter(corpus=each["name"])).is_empty()
        ]

    @classmethod
    def same_data(cls, new: Result, current: Result) -> bool:
        """Return whether the sets have the same names, pairs and judgements."""
        first, second = ({each["name"]: each["digest"] for each in found["corpora"]} for found in (new, current))
        return first == second


def _differing(scored: Mapping[str, Scored], pairs: JudgedPairs) -> int | None:
    """Return for how many first sentences the models predict differently; None without a start model or threshold."""
    called = [each.predicted for each in scored.values()]
    if len(called) < 2 or called[0] is None or called[1] is None:
        return None
    return differing(called[0], called[1], pairs.texts_a)


def _sentences(clauses: Sequence[str]) -> list[str]:
    return [f"Not scored, because a paraphrase judgement has two labels: {'; '.join(clauses)}."] if clauses else []


def _table_of(
    judged: JudgedSet,
    scores: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]],
    called: Mapping[str, NDArray[np.bool_] | None],
    swapped: Scored,
) -> pl.DataFrame:
    """Return the scores and predictions of a set, one row per pair."""
    pairs, labels = judged.pairs, judged.labels
    nothing = pl.Series([None] * len(pairs), dtype=pl.String)

    def label_of(positive: NDArray[np.bool_] | None) -> pl.Series:
        return nothing if positive is None else pl.Series(np.where(positive, *labels), dtype=pl.String)

    start = scores.get("start")
    return pl.DataFrame(
        {
            "corpus": [judged.name] * len(pairs),
            "text_a": pairs.texts_a,
            "text_b": pairs.texts_b,
            "label": label_of(pairs.positive),
            "score": scores["encoder"][0],
            "swapped_score": scores["encoder"][1],
            "predicted": label_of(called["encoder"]),
            "swapped_predicted": label_of(swapped.predicted),
            "start_score": pl.Series([None] * len(pairs), dtype=pl.Float64) if start is None else start[0],
            "start_predicted": label_of(called.get("start")),
        }
    )
