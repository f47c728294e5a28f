"""The suite of judged pairs: does an encoder tell paraphrases? For encoders of every kind.

An encoder whose classifier knows both labels of a set is scored by its probability of the positive one; all others,
including start models, by the cosine of the embeddings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.faults import NothingToScore
from features.core.pages import UNDEFINED, render, tell
from features.core.wording import counted
from training.evaluation.bars import PAIRED, Row, draw, figure_of, with_mean
from training.evaluation.bootstrap import Drawn, differing, in_groups, paired_mean
from training.evaluation.figures import draw_precision, draw_reliability
from training.evaluation.items import ItemScores, Scale, numbers_of, pair_scores, read_items, read_sets
from training.evaluation.measures import BINS, MEANS, MEASURES, THRESHOLDED, Scored, reliability, without_looking
from training.evaluation.models import Embed, Models
from training.evaluation.paraphrase.sets import JudgedPairs, JudgedSet, JudgedSets, find_sets
from training.evaluation.seen import seen_part, sets_chosen_by, tell_seen
from training.evaluation.suites import Chapter, Figure, Result, Subject, Suite
from training.evaluation.tables import NOTES, Column, ScoreTable, count, hundred, lines, mean_of, table
from training.progress import log
from training.similarity import cosines
from training.thresholds import HALF, best_f1, positive_of

if TYPE_CHECKING:
    from training.modules.pair_classifier import PairClassifier

_SHORT = dict(zip(MEASURES, ("accuracy", "F1", "AP", "MCC", "AUROC"), strict=True))
_WRONG = 5
"""Pairs shown per set for each kind of error."""
_POINTS = 200  # of a curve: more would not be visible


def _tell_share(share: float | None) -> str:
    """Return a share in percent, a dash where it is undefined; "< 0.1 %" for one that would round to zero."""
    if share is None:
        return UNDEFINED
    return f"{100 * share:.1f} %" if share == 0 or share >= 0.0005 else "< 0.1 %"


_COLUMNS = (
    Column("judged pairs", "name"),
    Column("pairs", "pairs", count),
    Column("positive", "positives", count),
    *PAIRED,
)
_ANSWERS = (
    Column("judged pairs: who answers", "name"),
    *(Column(short, name, hundred) for name, short in _SHORT.items()),
    Column("swapped", "swapped", _tell_share),
)
_PROBABILITIES = (
    Column("judged pairs", "name"),
    Column("predicted", "reliability.said", hundred),
    Column("observed", "reliability.so", hundred),
    Column("error", "reliability.error", hundred),
)


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
                same = any(pairs.digest() == judged.pairs.digest() for _, pairs in dev)
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
    file: ClassVar[str] = "paraphrase.parquet"
    needs: ClassVar[str] = (
        "pairs in the split that are judged as paraphrase or not: name a corpus of them under [[corpora]], or a set "
        "under [[evaluation]]"
    )

    judged: JudgedSets
    classifier: "PairClassifier | None"
    subject: Subject

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        judged = find_sets(subject)
        if not judged.scored:
            message = f"Paraphrases cannot be scored. {' '.join([*judged.skipped, *_sentences(judged.foreign)])}"
            if cls.name in subject.job.suites and (judged.skipped or judged.foreign):
                raise NothingToScore(f"{message} Evaluate on another split (--split), or add pairs.")
            learnt = subject.settings.get("labels", ())
            if judged.skipped or (judged.foreign and len(learnt) == 2 and positive_of(learnt)):
                log.warning("%s", message)
            return None
        return cls(judged, subject.classifier, subject)

    def score(self, models: Models) -> Result:
        judges = {"encoder": _Judge(models.encoder, self.classifier)}
        if models.start is not None:
            judges["start"] = _Judge(models.start, None)
        sets, training = self.judged.scored, self.subject.training
        calibration = self.classifier and self.classifier.calibration
        scored = [self._score_set(judged, judges) for judged in sets]
        means = {name: paired_mean([drawn[name] for _, drawn in scored]) for name in MEASURES}
        of_release = [judged.name for judged in sets if judged.split]
        chosen_by = sets_chosen_by(training, self.subject.rating_sets)
        return {
            "split": self.subject.job.split,
            "rows": [row for row, _ in scored],
            "mean": means["f1"],
            "means": means,
            "data": {judged.name: judged.pairs.digest() for judged in sets},
            "skipped": [*self.judged.skipped, *_sentences(self.judged.foreign)],
            "classifier": self.classifier
            and {
                "labels": list(self.classifier.labels),
                "symmetric": self.classifier.is_symmetric,
                "calibrated_by": calibration.pairs if calibration else None,
            },
            "seen": seen_part(training, self.subject.job.split, of_release),
            "others": dict(self.judged.others),
            "chosen_by": [name for name in chosen_by if any(judged.name == name for judged in sets)],
        }

    def _score_set(self, judged: JudgedSet, judges: Mapping[str, _Judge]) -> tuple[dict[str, Any], dict[str, Drawn]]:
        pairs = judged.pairs
        thresholds = {name: judge.threshold(judged, self.judged.learnt) for name, judge in judges.items()}
        both = {name: judge.score(pairs, judged) for name, judge in judges.items()}
        scored = {name: Scored(pairs.positive, scores, thresholds[name]["value"]) for name, (scores, _) in both.items()}
        values = [each.measure() for each in scored.values()]
        bootstrap = in_groups(self.subject.bootstrap.of(judged.name), pairs.texts_a)
        draws = [each.draw(bootstrap) for each in scored.values()]
        swapped = Scored(pairs.positive, both["encoder"][1], thresholds["encoder"]["value"]).predicted
        own, of_start = scored["encoder"].predicted, scored["start"].predicted if "start" in scored else None
        changed = None if own is None or swapped is None else int((own != swapped).sum())
        differ = None if own is None or of_start is None else differing(own, of_start, pairs.texts_a)
        drawn = {
            name: Drawn(
                [measures[name] for measures in values],
                np.stack([draw[name] for draw in draws], axis=1),
                bootstrap,
                mean=name in MEANS,
                differ=differ if name in THRESHOLDED else None,
            )
            for name in MEASURES
        }
        scores = {name: score.paired() for name, score in drawn.items()}
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

        def labels_of(positive: NDArray[np.bool_] | None) -> pl.Series:
            values = [None] * len(pairs) if positive is None else np.where(positive, *judged.labels)
            return pl.Series(values, dtype=pl.String)

        self.keep(
            judged.name,
            pairs.texts_a,
            pairs.texts_b,
            label=labels_of(pairs.positive),
            score=both["encoder"][0],
            swapped_score=both["encoder"][1],
            predicted=labels_of(own),
            swapped_predicted=labels_of(swapped),
            start_score=pl.Series(both["start"][0] if "start" in both else [None] * len(pairs), dtype=pl.Float64),
            start_predicted=labels_of(of_start),
        )
        return row, drawn

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return F1 next to that of the start model, all measures of both, and the calibration of the probabilities."""
        sets = result["rows"]
        rows = with_mean(sets, result["mean"], f"mean of {len(sets)}")
        calibrated = [row for row in sets if row["reliability"]]
        thresholds = [tell(NOTES, "threshold", row) for row in sets]
        note = lines(*_tell_seen_pairs(result), *thresholds, *map(_tell_trivial, sets), *result["skipped"])
        tables = [
            table("F1 × 100 of pairs that are paraphrases, at the thresholds below", _COLUMNS, rows, note),
            table("All measures × 100", _ANSWERS, _answers(sets), tell(NOTES, "answers", sets)),
        ]
        if calibrated:
            note = tell(NOTES, "reliability", result["classifier"]["calibrated_by"], BINS)
            tables.append(table("Probabilities of a paraphrase × 100", _PROBABILITIES, calibrated, note))
        return tables

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        pairs = read_items(folder / cls.file, "set", "text_a", "text_b", "label", "score", "predicted")
        sets, shown, names = result["rows"], [], []
        for row in sets:
            rows = pairs.filter(set=row["name"])
            wrong = {kind: _most_wrong(row, rows, row["labels"][kind]).to_dicts() for kind in ("positive", "negative")}
            caveats = f"{tell(NOTES, 'threshold', row)} {_tell_trivial(row)}".rstrip()
            shown.append({"row": row, "about": caveats, "plots": _curves(row, rows), "wrong": wrong})
            names.append(f"{row['name']} ({counted(row['pairs'], 'pair')}{row['split'] and ' of ' + row['split']})")
        about = [f"{counted(row['pairs'], 'pair')}, paraphrases: {row['positives']:,}" for row in sets]
        bars = with_mean(sets, result["mean"], "mean")
        return Chapter(
            about="How well paraphrases are distinguished from other pairs. A bar is the F1 of the predicted "
            "paraphrases; the thresholds are given below.",
            charts={"": draw(bars, [*about, f"of {len(sets)} sets"][: len(bars)], "F1 × 100 of the paraphrases")},
            more=render("training.evaluation/paraphrase.html", sets=shown),
            facts={"Judged pairs": ", ".join(names)},
            warnings=_tell_seen_pairs(result),
            figures=[_figure(result)],
            origin={f"pairs of {name}": digest for name, digest in result["data"].items()},
        )

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return the predictions of each set that has a threshold, and the scores of all sets, by AUROC."""
        sets = {row["name"]: row for row in result["rows"]}
        predicted, scored = [], []
        for name, rows in read_sets(folder / cls.file, sets, "label", "score", "predicted"):
            positive = sets[name]["labels"]["positive"]
            scores = pair_scores(name, rows, rows["score"], rows["label"] == positive)
            if not rows["predicted"].null_count():
                labelled = numbers_of(rows["predicted"] == positive)
                predicted.append(replace(scores, predicted=labelled, scored_by="f1", texts=()))
            scale: Scale = "probability" if sets[name]["scored_by"] == "classifier" else "cosine"
            scored.append(replace(scores, scored_by="auroc", measure="AUROC", scale=scale))
        return [*predicted, *scored]


def _sentences(clauses: Sequence[str]) -> list[str]:
    return [f"Not scored, because a paraphrase judgement has two labels: {'; '.join(clauses)}."] if clauses else []


def _tell_seen_pairs(result: Row) -> list[str]:
    """Return caveats to read before any number, a sentence each: scored pairs that also chose a model or threshold."""
    same = [row["name"] for row in result["rows"] if row["thresholds"]["encoder"]["same"]]
    return [tell_seen(result), tell(NOTES, "chosen_by", result["chosen_by"]), tell(NOTES, "same_pairs", same)]


def _tell_trivial(row: Row) -> str:
    """Return a caveat on a set of one label, or on an F1 or an accuracy to be had without looking; perhaps none."""
    if not 0 < row["positives"] < row["pairs"]:
        return tell(NOTES, "single", row)
    answers, clauses = _trivial(row), []
    for name in ("f1", "accuracy"):
        answer, value = max(
            ((answer, values[name] or 0.0) for answer, values in answers.items()), key=lambda entry: entry[1]
        )
        interval = row["scores"][name]["encoder_interval"]
        if interval is not None and interval["low"] <= value:
            above = f"{_SHORT[name]} is not clearly above that of calling {answer} a paraphrase ({hundred(value)})"
            clauses.append(above)
    return f"{row['name']}: {' and '.join(clauses)}; AP, MCC and AUROC say more here." if clauses else ""


def _trivial(row: Row) -> dict[str, dict[str, float | None]]:
    """Return answer → its measures, for the answers that take no look at the pairs of a set."""
    pairs, positives = row["pairs"], row["positives"]
    every, none = (without_looking(pairs, positives, positive=positive) for positive in (True, False))
    return {"every pair": every, "no pair": none, "most frequent label": every if 2 * positives >= pairs else none}


def _answers(sets: Sequence[Row]) -> list[Row]:
    of_sets: list[dict[str, Mapping[str, float | None]]] = []
    rows: list[Row] = []
    for row in sets:
        encoder, start = ({name: row["scores"][name][model] for name in MEASURES} for model in ("encoder", "start"))
        answers: dict[str, Mapping[str, Any]] = {"encoder, chosen threshold": {**encoder, "swapped": row["swapped"]}}
        if row["more_probable"]:
            answers["encoder, more probable label"] = row["more_probable"]
        if "start" in row["thresholds"]:
            answers["start model, chosen threshold"] = start
        of_sets.append(answers | _trivial(row))
        rows += [{**values, "name": f"{row['name']}: {who}"} for who, values in of_sets[-1].items()]
    for who in of_sets[0] if len(of_sets) > 1 else ():
        if all(who in answers for answers in of_sets):
            means = {name: mean_of([answers[who][name] for answers in of_sets]) for name in MEASURES}
            rows.append({**means, "name": f"mean: {who}"})
    return rows


def _precision_curve(
    positive: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return recall and precision at each score, from the highest down, (n_points,) each; 200 points at most."""
    from sklearn.metrics import precision_recall_curve  # here, since its import takes a second

    # Without the last point, which has no threshold, and from the highest score down.
    precision, recall = (values[-2::-1] for values in precision_recall_curve(positive, scores)[:2])
    points = np.unique(np.linspace(0, len(recall) - 1, _POINTS).astype(int))
    return recall[points], precision[points]


def _most_wrong(row: Row, rows: pl.DataFrame, predicted: str) -> pl.DataFrame:
    """Return the pairs of a set that are wrongly given a label, those furthest beyond the threshold first."""
    wrong = rows.filter((pl.col("predicted") == predicted) & (pl.col("label") != predicted))
    by = ["score", "text_a", "text_b"]
    return wrong.sort(*by, descending=[predicted == row["labels"]["positive"], False, False]).head(_WRONG)


def _curves(row: Row, rows: pl.DataFrame) -> list[str]:
    positive = (rows["label"] == row["labels"]["positive"]).to_numpy()
    if positive.all() or not positive.any():
        return []
    curves = {"encoder": _precision_curve(positive, rows["score"].to_numpy())}
    if not rows["start_score"].null_count():
        curves["start model"] = _precision_curve(positive, rows["start_score"].to_numpy())
    calibrated = [draw_reliability(row["reliability"]["bins"], row["name"])] if row["reliability"] else []
    return [draw_precision(curves, row["name"]), *calibrated]


def _figure(result: Row) -> Figure:
    sets = result["rows"]
    score = result["mean"] or (sets[0] if len(sets) == 1 else None)
    if score is None:
        return Figure("–", "mean F1 of paraphrases: one of the sets has none")
    measure = f"mean F1 of paraphrases over {len(sets)} sets" if len(sets) > 1 else f"F1 on {sets[0]['name']}"
    after = ""
    if swapped := [row for row in sets if row["swapped"] is not None]:
        pairs, changed = (sum(row[number] for row in swapped) for number in ("pairs", "changed"))
        after = f" Swapping the sentences changes {_tell_share(changed / pairs)} of the predictions."
    return figure_of(score, f"{measure}.", after)
