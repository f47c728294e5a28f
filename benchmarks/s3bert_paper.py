"""The tables of the S3BERT paper (Opitz & Frank 2022) for the systems of facetflow: Tables 2, 3, 4 and 7.

    python benchmarks/s3bert_paper.py --data FOLDER                  the encoder that comes with facetflow
    python benchmarks/s3bert_paper.py --data FOLDER --seeds RUN/encoder RUN/encoder RUN/encoder --out docs/results

    FOLDER/bamboo/sts/orig.test.txt.gz         STS benchmark, test pairs
           sick/SICK_test_annotated.txt.gz     SICK, test pairs
           sts12_16/20??/*.test.tsv.gz         SemEval's STS tasks; the pairs of a year are pooled
           ukp_aspect/UKP_ASPECT.tsv           UKP ASPECT

Systems: shared words, the paper's metrics on graphs that the embedded parser makes of the sentences, the start model,
the encoder, and the mean of its facets. Correlations are Spearman's, as in the paper. `--seeds` adds the mean of
trainings that differ in their seed alone, with the standard deviation. With `--out` each table is also written as a CSV
file. Five minutes of one core, two more for each seed; `--limit 100` tries it on 100 pairs of each set.
"""

import argparse
import csv
import io
import os
import sys
import timeit
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

os.environ.setdefault("OMP_NUM_THREADS", "1")  # on a shared machine, threads wait for each other

import numpy as np
import polars as pl
from project_commands import spread

import facetflow
from facetflow import metrics
from features.corpora.reading import EvaluationPairs, read_evaluation
from features.corpora.settings import EvaluationSet
from features.metrics.bootstrap import Bootstrap
from features.models import locate
from training.encoders.s3bert.facets import RESIDUAL, FacetLayout
from training.evaluation.bootstrap import Drawn, correlate, in_groups
from training.similarity import cosines, spearman

YEARS = {f"sts{year}": f"sts12_16/20{year}/*.test.tsv.gz" for year in range(12, 17)}
SETS = {"stsb": "bamboo/sts/orig.test.txt.gz", "sick": "sick/SICK_test_annotated.txt.gz", **YEARS}
SETS["ukp_aspect"] = "ukp_aspect/UKP_ASPECT.tsv"
WORDS, START, ENCODER, MEAN, SEEDS = "shared words", "start model", "encoder", "mean of its facets", "seeds"
METRICS = ("smatch", "concepts", "wlk", "wwlk")
REPEATS, DIVISIONS, FOLDS = 2, 10, 4
Columns = Mapping[str, np.ndarray]  # what a system says of pairs, (n_pairs, n_seeds)
Slices = Mapping[str, slice]  # the columns of a system among those of all
Seeds = Sequence[tuple[Any, FacetLayout]]  # encoders that differ in their seed alone
PAPER = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))  # by table and row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--encoder", help="name or folder of an S3BERT; by default the one in the package")
    parser.add_argument(
        "--seeds", type=Path, nargs="+", default=[], help="folders of an S3BERT trained with other seeds"
    )
    parser.add_argument("--start", default="all-MiniLM-L6-v2", help="their start model")
    parser.add_argument("--out", type=Path, help="folder for the tables as CSV")
    parser.add_argument("--limit", type=int, help="this many pairs of each set, evenly spaced")
    arguments = parser.parse_args()
    start = facetflow.load_encoder(locate(arguments.start), device="cpu")
    encoders = {ENCODER: [load(arguments.encoder)]}
    if arguments.seeds:
        encoders[f"{len(arguments.seeds)} {SEEDS}"] = [load(folder) for folder in arguments.seeds]
    sets = {name: read(name, arguments.data, arguments.limit) for name in SETS}
    times = measure_times(sets["stsb"], start, encoders[ENCODER][0][0])
    systems, facets = {}, {}
    for name, rated in sets.items():
        systems[name], facets[name] = similarities(rated, start, encoders)
    columns, bootstrap = slices(systems["stsb"]), Bootstrap()
    drawn = {
        name: correlate(stack(systems[name]), rated.scores, in_groups(bootstrap.of(rated.name), rated.texts_a))
        for name, rated in sets.items()
    }
    table = pl.read_csv(arguments.data / SETS["ukp_aspect"], separator="\t", quote_char=None)
    ukp = sets["ukp_aspect"], few(table["topic"].to_numpy(), arguments.limit), systems["ukp_aspect"]
    show(arguments, "similarity", *table_2(times, columns, drawn))
    of_models = {name: columns[name] for name in list(columns)[list(columns).index(START) :]}
    show(arguments, "years", *table_of_years(of_models, drawn))
    show(arguments, "arguments", *table_3(*ukp, columns, drawn["ukp_aspect"]))
    show(arguments, "facets", *table_4(sets["stsb"].scores, systems["stsb"][ENCODER], facets["stsb"]))
    show(arguments, "examples", *table_7(start, *encoders[ENCODER][0]))


def load(name: str | None) -> tuple[Any, FacetLayout]:
    encoder = facetflow.load_encoder(name, device="cpu")
    return encoder, FacetLayout.load(encoder.folder)


def few(items: Sequence[Any] | np.ndarray, limit: int | None) -> np.ndarray:
    """Return some items, evenly spaced, or all."""
    return np.array(items)[np.linspace(0, len(items) - 1, limit or len(items)).astype(int)]


def read(name: str, data: Path, limit: int | None) -> EvaluationPairs:
    rated = read_evaluation(EvaluationSet.model_validate({"dataset": name, "file": SETS[name]}), data)
    a, b, scores, labels = (few(all_, limit) for all_ in (rated.texts_a, rated.texts_b, rated.scores, rated.labels))
    return EvaluationPairs(rated.name, a.tolist(), b.tolist(), scores, labels.tolist())


def similarities(rated: EvaluationPairs, start, encoders: Mapping[str, Seeds]) -> tuple[Columns, Columns]:
    """Return the similarity of each pair by each system, and by each facet of `ENCODER`."""
    sides = rated.texts_a, rated.texts_b
    texts, where = np.unique([*rated.texts_a, *rated.texts_b], return_inverse=True)  # each is parsed and encoded once
    measured = metrics.measure(*(side.tolist() for side in np.split(np.array(parse(texts.tolist()), object)[where], 2)))
    singles = {WORDS: shared_words(*sides)} | {name: measured[name].to_numpy() for name in METRICS}
    singles[START] = start.similarity(*sides)
    systems, facets = {name: values[:, None] for name, values in singles.items()}, {}
    for name, seeds in encoders.items():
        embedded = [(layout, encoder.encode(texts.tolist())[where.reshape(2, -1)]) for encoder, layout in seeds]
        systems[name] = np.stack([cosines(left, right) for _, (left, right) in embedded], axis=1)
        each = np.stack([layout.similarities(left, right) for layout, (left, right) in embedded], axis=2)
        systems[MEAN if name == ENCODER else f"{name}, {MEAN}"] = each.mean(axis=1)
        if name == ENCODER:
            ((layout, (left, right)),) = embedded
            facets = dict(zip(layout.names, each.swapaxes(0, 1), strict=True))
            facets[RESIDUAL] = cosines(left[:, layout.residual], right[:, layout.residual])[:, None]
    return systems, facets


def parse(texts: Sequence[str]) -> list[str]:
    parsed = facetflow.parse_amr(texts, device="cpu")
    if wrong := [graph.message for graph in parsed if not isinstance(graph, str)]:
        raise SystemExit(f"{len(wrong)} sentences have no graph: {wrong[0]}")
    return [graph for graph in parsed if isinstance(graph, str)]


def shared_words(a: Sequence[str], b: Sequence[str]) -> np.ndarray:
    """Return Jaccard's coefficient of the words as written: the paper's baseline, to the digit."""
    words = [(set(left.split()), set(right.split())) for left, right in zip(a, b, strict=True)]
    return np.array([len(left & right) / len(left | right) for left, right in words])


def stack(columns: Columns) -> np.ndarray:
    return np.concatenate(list(columns.values()), axis=1)


def slices(columns: Columns) -> Slices:
    """Return where the columns of each system are in those of `stack`."""
    ends = np.cumsum([values.shape[1] for values in columns.values()])
    return {name: slice(end - columns[name].shape[1], end) for name, end in zip(columns, ends, strict=True)}


def measure_times(rated: EvaluationPairs, start, encoder) -> dict[str, str]:
    """Return of each system its seconds, of parsing and of comparing, for 1,000 pairs."""
    sides = rated.texts_a, rated.texts_b
    texts, where = np.unique([*rated.texts_a, *rated.texts_b], return_inverse=True)
    penman = np.split(np.array(parse(texts.tolist()), object)[where], 2)
    calls = {WORDS: lambda: shared_words(*sides)}
    calls |= {name: lambda name=name: metrics.metric(name)(*penman) for name in METRICS}
    calls |= {START: lambda: start.similarity(*sides), ENCODER: lambda: encoder.similarity(*sides)}
    scale = 1000 / len(rated.scores)
    parsing, times = scale * timed(lambda: parse(texts.tolist())), {}
    for name, call in calls.items():
        times[name] = (name in METRICS) * f"{parsing:.1f} + " + f"{scale * timed(call):.2f}"
    return times | {MEAN: times[ENCODER]}  # of the same embeddings


def timed(call: Callable[[], object]) -> float:
    """Return the seconds of the fastest of some calls."""
    return min(timeit.repeat(call, number=1, repeat=REPEATS))


def hundreds(values: Sequence[float | None]) -> str:
    """Return the mean of the seeds' scores, and its deviation, × 100; nothing where one is undefined."""
    defined = [100 * value for value in values if value is not None and np.isfinite(value)]
    return spread(defined, digits=1) if len(defined) == len(values) else ""


def scored(drawn: Drawn | None, column: slice) -> str:
    """Return the score of a system with its interval over pairs, × 100; nothing where it is undefined."""
    if drawn is None or not (text := hundreds(drawn.scores[column])):
        return ""
    mean = float(np.mean(np.array(drawn.scores[column], float)))
    ends = replace(drawn, scores=[mean], draws=drawn.draws[:, column].mean(axis=1, keepdims=True)).interval()
    return text + (f" ({100 * ends['low']:.1f} to {100 * ends['high']:.1f})" if ends else "")


def table_2(times, columns: Slices, drawn) -> tuple[list[str], list[list]]:
    rows = []
    for name, column in columns.items():
        values = [scored(drawn[rated], column) for rated in ("stsb", "sick")]
        rows.append([name, times.get(name, ""), *values, *PAPER["table_2"].get(name, [""] * 3)])
    return ["system", "seconds", "STSb", "SICK", "paper: time", "paper: STSb", "paper: SICK"], rows


def table_of_years(columns: Slices, drawn) -> tuple[list[str], list[list]]:
    mean = Drawn.average([drawn[year] for year in YEARS])
    rows = [
        [name, *(hundreds(drawn[year].scores[column]) for year in YEARS), scored(mean, column)]
        for name, column in columns.items()
    ]
    return ["system", *(year.upper() for year in YEARS), "mean"], rows


def table_3(rated, topics, systems: Columns, columns: Slices, drawn) -> tuple[list[str], list[list]]:
    similar, rows = np.isin(rated.labels, ["SS", "HS"]), []
    for name, values in systems.items():
        f1 = hundreds([across_topics(seed, similar, topics) for seed in values.T])
        rows.append([name, scored(drawn, columns[name]), f1, *PAPER["table_3"].get(name, [""] * 2)])
    return ["system", "Spearman", "macro F1", "paper: Spearman", "paper: macro F1"], rows


def across_topics(values: np.ndarray, similar: np.ndarray, topics: np.ndarray) -> float:
    """Return macro F1, where thresholds are chosen by macro F1 on other topics.

    As in the script of Opitz et al. (2021) that the paper uses: the mean of ten random divisions of the topics into
    four folds; here the divisions are the same in every run.
    """
    random, names, found = np.random.default_rng(0), np.unique(topics), []
    for _ in range(DIVISIONS):
        order = random.permutation(names)
        for fold in range(FOLDS):
            tested = np.isin(topics, order[fold::FOLDS])
            levels = np.unique(values[~tested])
            best = macro_f1(values[~tested], similar[~tested], levels).argmax()
            found.append(macro_f1(values[tested], similar[tested], levels[[best]])[0])
    return float(np.mean(found))


def macro_f1(values: np.ndarray, similar: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return the mean of F1 of similar and of other pairs for each threshold, (n_thresholds,)."""
    n = len(values)
    called = n - np.searchsorted(np.sort(values), thresholds)
    right = similar.sum() - np.searchsorted(np.sort(values[similar]), thresholds)
    positive = 2 * right / (called + similar.sum())
    negative = 2 * (n - called - similar.sum() + right) / (2 * n - called - similar.sum())
    return (positive + negative) / 2


def table_4(ratings: np.ndarray, whole: np.ndarray, facets: Columns) -> tuple[list[str], list[list]]:
    columns = [spearman(stack(facets), other) for other in (ratings, whole[:, 0])]
    rows = [
        [facet, *(hundreds([value]) for value in row), *PAPER["table_4"].get(facet, [""] * 2)]
        for facet, *row in zip(facets, *columns, strict=True)
    ]
    return ["facet", "human", "encoder", "paper: human", "paper: encoder"], rows


def table_7(start, encoder, layout: FacetLayout) -> tuple[list[str], list[list]]:
    """Return the paper's examples: similarities, and of its notable facets what is predicted, and measured."""
    rows = []
    for example in PAPER["table_7"]:
        a, b = example["a"], example["b"]
        left, right = encoder.encode([a]), encoder.encode([b])
        predicted = dict(zip(layout.names, layout.predictions(layout.similarities(left, right))[0], strict=True))
        measured = metrics.measure(parse([a]), parse([b]))
        facets = [f"{name} {predicted[name]:.2f} ({measured[name][0]:.2f})" for name in example["facets"]]
        of_paper = [f"{name} {value:.2f}" for name, value in example["facets"].items()]
        whole = [f"{model.similarity([a], [b])[0]:.2f}" for model in (start, encoder)]
        rows.append(
            [
                f"{a} / {b}",
                *whole,
                ", ".join(facets),
                *(f"{value:.2f}" for value in example["whole"]),
                ", ".join(of_paper),
            ]
        )
    return [
        "pair",
        START,
        ENCODER,
        "facets: predicted (measured)",
        "paper: SBERT",
        "paper: S3BERT",
        "paper: facets",
    ], rows


def show(arguments: argparse.Namespace, name: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    print(f"{name}\n{text.getvalue()}", flush=True)
    if arguments.out is not None:
        given = " --encoder FOLDER" * bool(arguments.encoder) + " --seeds" * bool(arguments.seeds)
        given += " FOLDER" * len(arguments.seeds) + f" --limit {arguments.limit}" * bool(arguments.limit)
        command = f"# python benchmarks/s3bert_paper.py --data FOLDER{given}\n"
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / f"s3bert_paper_{name}.csv").write_text(command + text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()
