"""The suite of labels: how often does an encoder's classifier give a pair the label that people gave it?

    corpus   labels of its pairs                    scored
    nli      entailment, neutral, contradiction     here: the accuracy, and F1 label by label
    mrpc     0, 1                                   as paraphrase or not, by the suite `paraphrase`

A classifier of only two of the labels is scored on their pairs, in corpora with the labels of those it was trained on.
For encoders with a classifier; their start models have none, so what stands beside the accuracy is that of always
predicting the label that is the most frequent one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from features.core.files import write_table
from training.data.labelled_pairs import LabelledPairs
from training.evaluation.bootstrap import compare, differing, draw_means, in_groups
from training.evaluation.items import ItemScores, numbered, read_items
from training.evaluation.models import Models
from training.evaluation.page import tables_html
from training.evaluation.paired import average, pair
from training.evaluation.seen import seen_part, tell_seen
from training.evaluation.subject import Subject
from training.evaluation.suites import Chapter, Figure, Result, Suite
from training.evaluation.tables import UNDEFINED, ScoreTable, ends, hundred
from training.kinds import learns_labels
from training.positive_labels import positive_of

if TYPE_CHECKING:
    from training.modules.pair_classifier import PairClassifier

LABELS_FILE = "labels.parquet"
"""Label and prediction of each scored pair, by corpus."""


class LabelSuite(Suite):
    """Judged pairs with labels that a classifier knows, and that are not judged as paraphrase or not.

    Args:
        corpora: name → pairs of the split whose label the classifier knows.
        classifier: of the encoder.
        others: split that the training did not use → its number of such pairs.
        subject: the encoder and the job.
        unknown: name → number of pairs of the split whose label the classifier does not know.
    """

    name: ClassVar[str] = "labels"
    title: ClassVar[str] = "Labels of pairs"
    measure: ClassVar[str] = "accuracy"
    mean: ClassVar[str] = "mean accuracy"
    called: ClassVar[str] = "accuracy of the labels"
    needs: ClassVar[str] = (
        "a classifier, and a corpus of more than two labels with pairs in the split whose label it knows (those with "
        "two: suite 'paraphrase')"
    )

    def __init__(
        self,
        corpora: Mapping[str, LabelledPairs],
        classifier: "PairClassifier",
        others: Mapping[str, int],
        subject: Subject,
        unknown: Mapping[str, int],
    ) -> None:
        self._unknown = unknown
        self._corpora = corpora
        self._classifier = classifier
        self._others = others
        self._job = subject.job
        self._training = subject.training
        self._bootstrap = subject.bootstrap
        self._said: list[pl.DataFrame] = []

    @classmethod
    def of(cls, subject: Subject) -> Self | None:
        """Read the pairs, and the classifier of the encoder.

        Raises:
            ModelError: when the classifier is damaged or missing.
        """
        from training.modules.pair_classifier import PairClassifier

        job = subject.job
        learnt = learns_labels(subject.settings)
        classifier = PairClassifier.load(job.encoder) if learnt else PairClassifier.of(job.encoder)
        if classifier is None or job.source is None:
            return None
        named = subject.settings.get("positive_label")
        labels_of = job.source.labels_of_pairs()
        learnt_from = {frozenset(labels_of.get(corpus, ())) for corpus in subject.training.get("corpora", ())}

        def is_scored(labels: Sequence[str]) -> bool:
            if len({*labels} & {*classifier.labels}) < 2:
                return False
            # Some of the labels of what it was trained on: `labels = ["entailment", "contradiction"]`.
            if len(labels) > 2 and frozenset(labels) in learnt_from:
                return True
            if len(labels) == 2:
                return {*labels} <= {*classifier.labels} and positive_of(labels, named) is None
            # Of a classifier of two labels, pairs with more are another task: grades that happen to be called 0 and 1.
            return min(len(labels), len(classifier.labels)) > 2

        corpora = [
            corpus
            for corpus, labels in labels_of.items()
            if (not job.corpora or corpus in job.corpora) and is_scored(labels)
        ]
        if not corpora:
            return None
        every = job.source.read_judged().select(corpora=corpora)
        data = every.select(labels=classifier.labels)
        trained = subject.settings.get("splits") or ()
        counts = data.pairs.group_by("split").len().sort("split").iter_rows()
        others = {split: count for split, count in counts if split not in {*trained, job.split}}
        found = {corpus: data.select(splits=(job.split,), corpora=(corpus,)) for corpus in corpora}
        found = {corpus: pairs for corpus, pairs in found.items() if len(pairs)}
        asked = every.pairs.filter(split=job.split)
        unknown = {corpus: asked.filter(corpus=corpus).height - len(pairs) for corpus, pairs in found.items()}
        return cls(found, classifier, others, subject, unknown) if found else None

    def score(self, models: Models) -> Result:
        """Return the accuracy on each corpus, and precision, recall and F1 of each label."""
        found, drawn, groups = [], [], list[int]()
        scores: list[list[float | None]] = []
        for corpus, pairs in self._corpora.items():
            vectors = models.encoder(pairs.texts)
            probabilities = self._classifier.probabilities(vectors[pairs.first], vectors[pairs.second])
            labels = np.array(pairs.pairs["label"].to_list())
            predicted = np.array(self._classifier.labels)[probabilities.argmax(axis=1)]
            known, counts = np.unique(labels, return_counts=True)
            right = np.stack([predicted == labels, labels == known[counts.argmax()]], axis=1).astype(np.float64)
            accuracy, most_frequent = map(float, right.mean(axis=0))
            bootstrap = in_groups(self._bootstrap.of(corpus), pairs.first.tolist())
            draws = draw_means(right, bootstrap)
            differ = differing(right[:, 0], right[:, 1], pairs.first.tolist())
            over = compare(draws[:, 0], draws[:, 1], bootstrap, bootstrap.count, mean=True, differ=differ)
            found.append(
                {
                    "name": corpus,
                    "pairs": len(pairs),
                    "digest": pairs.digest(),
                    "unknown": self._unknown[corpus],
                    "most_frequent": most_frequent,
                    "over_most_frequent": over and asdict(over),
                    "labels": [_of_label(name, labels, predicted) for name in self._classifier.labels],
                    **asdict(pair([accuracy], draws[:, :1], bootstrap, bootstrap.count, mean=True)),
                }
            )
            scores.append([accuracy])
            drawn.append(draws[:, :1])
            groups.append(bootstrap.count)
            self._said.append(_table_of(corpus, pairs, predicted))
        return {
            "split": self._job.split,
            "corpora": found,
            "average": average(scores, drawn, self._bootstrap, min(groups), mean=True),
            "seen": seen_part(self._training, self._job.split, list(self._corpora)),
            "others": dict(self._others),
        }

    def write(self, folder: Path) -> None:
        """Write labels.parquet."""
        write_table(pl.concat(self._said), folder / LABELS_FILE)

    @classmethod
    def tables(cls, result: Result) -> list[ScoreTable]:
        """Return the accuracy on each corpus, and the scores of its labels."""
        rows = [
            (
                each["name"],
                f"{each['pairs']:,}",
                hundred(each["most_frequent"]),
                hundred(each["encoder"]),
                ends(each["encoder_interval"]),
                over["verdict"] if (over := each.get("over_most_frequent")) else UNDEFINED,
            )
            for each in result["corpora"]
        ]
        if (mean := result["average"]) is not None:
            cells = hundred(mean["encoder"]), ends(mean["encoder_interval"])
            rows.append((f"mean of {len(rows)}", "", UNDEFINED, *cells, UNDEFINED))
        columns = ("corpus", "pairs", "always the most frequent", "encoder", "95 % interval", "vs most frequent")
        by_label = [
            (
                f"{each['name']}: {label['name']}",
                *(f"{label[count]:,}" for count in ("pairs", "predicted")),
                *(hundred(label[measure]) for measure in ("precision", "recall", "f1")),
            )
            for each in result["corpora"]
            for label in each["labels"]
        ]
        unknown = [
            f"Left out: {each['unknown']:,} pairs of {each['name']} with labels that the classifier does not know."
            for each in result["corpora"]
            if each["unknown"]
        ]
        seen = tell_seen(result["seen"], result["split"], result["others"], chosen="on")
        note = "\n".join([*([seen] if seen else []), *unknown])
        return [
            ScoreTable("Accuracy × 100 of the classifier's most probable labels", columns, tuple(rows), note),
            ScoreTable(
                "Labels, × 100", ("label", "pairs", "predicted", "precision", "recall", "F1"), tuple(by_label), ""
            ),
        ]

    @classmethod
    def chapter(cls, result: Result, folder: Path) -> Chapter:
        """Return the tables, and the accuracy for the head of the report."""
        score = result["average"] or result["corpora"][0]
        on = f"{len(result['corpora'])} corpora" if result["average"] else result["corpora"][0]["name"]
        warning = tell_seen(result["seen"], result["split"], result["others"], chosen="on")
        pairs = ", ".join(f"{each['name']} ({each['pairs']:,} pairs)" for each in result["corpora"])
        return Chapter(
            tables_html(cls.tables(result)),
            facts={"Labels of": f"{pairs} of {result['split']}"},
            warnings=[warning] if warning else [],
            figures=[Figure(hundred(score["encoder"]), f"accuracy of the labels of {escape(on)}")],
            origin={f"pairs of {each['name']}": each["digest"] for each in result["corpora"]},
        )

    @classmethod
    def numbers(cls, result: Result) -> dict[str, float | None]:
        """Return the accuracy on each corpus."""
        return {each["name"]: each["encoder"] for each in result["corpora"]}

    @classmethod
    def headline(cls, result: Result) -> dict[str, float | None]:
        """Return the mean accuracy."""
        return {f"{cls.name} accuracy": super().headline(result)[cls.name]}

    @classmethod
    def items(cls, folder: Path, result: Result) -> list[ItemScores]:
        """Return whether each pair was given its label, corpus by corpus."""
        table = read_items(folder / LABELS_FILE, "corpus", "text_a", "text_b", "label", "predicted")
        rows = numbered(table, "corpus").with_columns(right=(pl.col("label") == pl.col("predicted")).cast(pl.Float64))
        found = []
        for name in cls.numbers(result):
            of_corpus = rows.filter(corpus=name)
            # With its label: a corrected pair is another one.
            items = of_corpus.select(pl.concat_str("label", "item", separator="\t")).to_series().to_list()
            groups = of_corpus["text_a"].to_list()
            found.append(ItemScores(name, items, of_corpus["right"].to_numpy(), groups=groups))
        return found

    @classmethod
    def same_data(cls, new: Result, current: Result) -> bool:
        """Return whether the corpora have the same names, pairs and labels."""
        first, second = ({each["name"]: each["digest"] for each in found["corpora"]} for found in (new, current))
        return first == second


def _of_label(name: str, labels: NDArray[np.str_], predicted: NDArray[np.str_]) -> dict[str, Any]:
    """Return precision, recall and F1 of one label, None where they are undefined, and the counts behind them."""
    has, said = labels == name, predicted == name
    both, pairs, calls = int((has & said).sum()), int(has.sum()), int(said.sum())
    return {
        "name": name,
        "pairs": pairs,
        "predicted": calls,
        "precision": both / calls if calls else None,
        "recall": both / pairs if pairs else None,
        "f1": 2 * both / (pairs + calls) if pairs + calls else None,
    }


def _table_of(corpus: str, pairs: LabelledPairs, predicted: Sequence[str] | NDArray[np.str_]) -> pl.DataFrame:
    """Return the pairs of a corpus with their labels and predictions."""
    return pl.DataFrame(
        {
            "corpus": [corpus] * len(pairs),
            "text_a": [pairs.texts[place] for place in pairs.first],
            "text_b": [pairs.texts[place] for place in pairs.second],
            "label": pairs.pairs["label"],
            "predicted": [str(label) for label in predicted],
        }
    )
