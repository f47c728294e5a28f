"""The suite of labels: how often does an encoder's classifier give a pair the label that people gave it?

    corpus   labels of its pairs                    scored
    nli      entailment, neutral, contradiction     here: the accuracy, and F1 label by label
    mrpc     0, 1                                   as paraphrase or not, by the suite `paraphrase`

A classifier of only two of the labels is scored on their pairs, in corpora with the labels of those it was trained on.
For encoders with a classifier; their start models have none, so what stands beside the accuracy is that of always
predicting the label that is the most frequent one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from features.core.pages import UNDEFINED
from features.core.wording import counted
from training.data.labelled_pairs import LabelledPairs
from training.evaluation.bars import with_mean
from training.evaluation.bootstrap import Drawn, draw_right, paired_mean
from training.evaluation.items import ItemScores, read_sets, right_items
from training.evaluation.models import Models
from training.evaluation.seen import tell_seen
from training.evaluation.suites import Chapter, Figure, Result, Subject, Suite
from training.evaluation.tables import Column, ScoreTable, count, ends, hundred, lines, table
from training.thresholds import positive_of

if TYPE_CHECKING:
    from training.modules.pair_classifier import PairClassifier

_COLUMNS = (
    Column("corpus", "name"),
    Column("pairs", "pairs", count),
    Column("most frequent label", "most_frequent", hundred),
    Column("encoder", "encoder", hundred),
    Column("95 % interval", "encoder_interval", ends),
    Column(
        "vs most frequent", "over_most_frequent", lambda difference: difference["verdict"] if difference else UNDEFINED
    ),
)
_LABEL_COLUMNS = (
    Column("label", "name"),
    *(Column(key, key, count) for key in ("pairs", "predicted")),
    *(Column(title, title.lower(), hundred) for title in ("precision", "recall", "F1")),
)


@dataclass
class LabelSuite(Suite):
    """Judged pairs of the split with labels that a classifier knows, and that are not judged as paraphrase or not."""

    name: ClassVar[str] = "labels"
    title: ClassVar[str] = "Labels of pairs"
    measure: ClassVar[str] = "accuracy"
    mean: ClassVar[str] = "mean accuracy"
    called: ClassVar[str] = "accuracy of the labels"
    file: ClassVar[str] = "labels.parquet"
    needs: ClassVar[str] = (
        "a classifier, and a corpus of more than two labels with pairs in the split whose label it knows (those with "
        "two: suite 'paraphrase')"
    )

    corpora: Mapping[str, LabelledPairs]  # name → pairs whose label the classifier knows
    classifier: "PairClassifier"  # of the encoder
    part: Mapping[str, Any]  # of the split (`Subject.part`), of such pairs
    subject: Subject  # the encoder and the job
    unknown: Mapping[str, int]  # name → number of pairs whose label the classifier does not know

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        job, classifier = subject.job, subject.classifier
        if classifier is None or (judged := subject.judged) is None:
            return None
        named = subject.settings.get("positive_label")
        labels_of = judged.labels_by_corpus
        learnt_from = {frozenset(labels_of.get(corpus, ())) for corpus in subject.training.get("corpora", ())}

        def is_scored(labels: Sequence[str]) -> bool:
            if len({*labels} & {*classifier.labels}) < 2:
                return False
            # Some of the labels of what it was trained on: `labels = ["entailment", "contradiction"]`.
            if len(labels) > 2 and frozenset(labels) in learnt_from:
                return True
            if len(labels) == 2:
                return positive_of(labels, named) is None
            # Of a classifier of two labels, pairs with more are another task: grades that happen to be called 0 and 1.
            return min(len(labels), len(classifier.labels)) > 2

        corpora = [corpus for corpus, labels in labels_of.items() if is_scored(labels)]
        if not corpora:
            return None
        every = judged.select(corpora=corpora)
        data = every.select(labels=classifier.labels)
        by_corpus = {corpus: data.select(splits=(job.split,), corpora=(corpus,)) for corpus in corpora}
        scored = {corpus: pairs for corpus, pairs in by_corpus.items() if len(pairs)}
        in_split = every.pairs.filter(split=job.split)
        unknown = {corpus: in_split.filter(corpus=corpus).height - len(pairs) for corpus, pairs in scored.items()}
        return cls(scored, classifier, subject.part(list(scored), data.by_split), subject, unknown) if scored else None

    def score(self, models: Models) -> Result:
        rows, drawn = [], list[Drawn]()
        for corpus, pairs in self.corpora.items():
            vectors = models.encoder(pairs.texts)
            probabilities = self.classifier.probabilities(vectors[pairs.first], vectors[pairs.second])
            labels = np.array(pairs.pairs["label"].to_list())
            predicted = np.array(self.classifier.labels)[probabilities.argmax(axis=1)]
            names, counts = np.unique(labels, return_counts=True)
            right = np.stack([predicted == labels, labels == names[counts.argmax()]], axis=1)
            both = draw_right(right, pairs.first.tolist(), self.subject.bootstrap.of(corpus))
            difference = both.difference()
            drawn.append(replace(both, scores=both.scores[:1], draws=both.draws[:, :1]))
            rows.append(
                {
                    "name": corpus,
                    "pairs": len(pairs),
                    "unknown": self.unknown[corpus],
                    "most_frequent": both.scores[1],
                    "over_most_frequent": difference and asdict(difference),
                    "labels": [_label_scores(name, labels, predicted) for name in self.classifier.labels],
                    **drawn[-1].paired(),
                }
            )
            self.keep(corpus, *pairs.sides(), label=labels.tolist(), predicted=predicted.tolist())
        return {
            **self.part,
            "rows": rows,
            "mean": paired_mean(drawn),
            "data": {corpus: pairs.digest() for corpus, pairs in self.corpora.items()},
        }

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        corpora = result["rows"]
        unknown = [
            f"Left out: {counted(row['unknown'], 'pair')} of {row['name']} with labels that the classifier does not "
            "know."
            for row in corpora
            if row["unknown"]
        ]
        none = {"most_frequent": None, "over_most_frequent": None}
        mean = result["mean"] and none | result["mean"]
        by_label = [{**label, "name": f"{row['name']}: {label['name']}"} for row in corpora for label in row["labels"]]
        return [
            table(
                "Accuracy × 100 of the classifier's most probable labels",
                _COLUMNS,
                with_mean(corpora, mean, f"mean of {len(corpora)}"),
                lines(tell_seen(result), *unknown),
            ),
            table("Labels, × 100", _LABEL_COLUMNS, by_label),
        ]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        corpora = result["rows"]
        score = result["mean"] or corpora[0]
        on = f"{len(corpora)} corpora" if result["mean"] else corpora[0]["name"]
        pairs = ", ".join(f"{row['name']} ({counted(row['pairs'], 'pair')})" for row in corpora)
        return Chapter(
            facts={"Labels of": f"{pairs} of {result['split']}"},
            warnings=[tell_seen(result)],
            figures=[Figure(hundred(score["encoder"]), f"accuracy of the labels of {on}")],
            origin={f"pairs of {name}": digest for name, digest in result["data"].items()},
        )

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return whether each pair was given its label, corpus by corpus; a pair whose label changed is another one."""
        sets = read_sets(folder / cls.file, cls.numbers(result), "label", "predicted")
        return [right_items(name, rows) for name, rows in sets]


def _label_scores(name: str, labels: NDArray[np.str_], predicted: NDArray[np.str_]) -> dict[str, Any]:
    """Return precision, recall and F1 of one label, None where they are undefined, and the counts behind them."""
    has, called = labels == name, predicted == name
    both, pairs, calls = int((has & called).sum()), int(has.sum()), int(called.sum())
    return {
        "name": name,
        "pairs": pairs,
        "predicted": calls,
        "precision": both / calls if calls else None,
        "recall": both / pairs if pairs else None,
        "f1": 2 * both / (pairs + calls) if pairs + calls else None,
    }
