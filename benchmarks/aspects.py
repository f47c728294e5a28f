"""Encoders of aspects as in the tables of Schopf et al. 2023: from text to scores and reports with one command.

    python benchmarks/aspects.py examples/aspects/companies.toml --data FOLDER [--seeds 3] [--work FOLDER] [NAME …]

Builds the project of an example over the file in FOLDER, trains its encoders with some seeds, scores them on the test
texts, and prints P, R and MRR at 10 as mean ± standard deviation over the seeds, next to the start model, BM25 and
TF-IDF. Finished work in the --work folder is reused. Reports, with maps, are in `runs/*/*/seed-*/report.html`.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from project_commands import build_train_evaluate, spread, suites, with_whole_paths, working_folder

RANKINGS = {"start": "start model", "bm25": "BM25", "tfidf": "TF-IDF"}
MEASURES = ("precision", "recall", "mrr")


def main() -> None:
    arguments = _arguments()
    with working_folder(arguments.work) as folder:
        _measure(arguments, folder)


def _measure(arguments: argparse.Namespace, folder: Path) -> None:
    """Run everything in a folder and print the tables."""
    text = arguments.project.read_text(encoding="utf-8")
    project = folder / "facetflow.toml"
    named = [files for corpus in tomllib.loads(text)["corpora"] for files in corpus["files"].values()]
    paths = [path for files in named for path in ([files] if isinstance(files, str) else files)]
    project.write_text(with_whole_paths(text, paths, arguments.data), encoding="utf-8")
    names = arguments.names or [encoder["name"] for encoder in tomllib.loads(text)["encoders"]]
    build_train_evaluate(project, names, arguments.seeds)
    _show(folder / "runs", names)


def _show(runs: Path, names: Sequence[str]) -> None:
    results = {name: [found["retrieval"] for found in suites(runs, name)] for name in names}
    groups = [group["name"] for group in results[names[0]][0]["rows"]]
    for group in groups:
        (of_first,) = [found for found in results[names[0]][0]["rows"] if found["name"] == group]
        print(f"\n{group}: {of_first['queries']} queries among {of_first['texts']} texts\n")
        print(f"{'':24}{'P@10':>14}{'R@10':>14}{'MRR@10':>14}")
        if (random := of_first.get("random")) is not None:  # not in evaluations of earlier versions
            _row("random order", [[100 * random[measure] for measure in MEASURES]])
        for ranking, title in RANKINGS.items():
            _row(title, [_values(of_first, ranking)])
        for name in names:
            _row(name, [_values(found, "encoder") for result in results[name] for found in _named(result, group)])
    for name in names:
        for row in (row for result in results[name] for row in result["unseen"]):
            values = {of: 100 * row["rankings"][of]["mrr"]["value"] for of in ("encoder", "start")}
            print(
                f"\n{name}, the {row['labels']} labels of {row['name']} not seen in training ({row['queries']} "
                f"queries): MRR@10 {values['encoder']:.1f}, start model {values['start']:.1f}"
            )


def _named(result: Mapping[str, Any], group: str) -> list[Mapping[str, Any]]:
    return [found for found in result["rows"] if found["name"] == group]


def _values(group: Mapping[str, Any], ranking: str) -> list[float]:
    return [100 * group["rankings"][ranking][measure]["value"] for measure in MEASURES]


def _row(title: str, runs: Sequence[Sequence[float]]) -> None:
    cells = [spread(values, digits=1) for values in zip(*runs, strict=True)]
    print(f"{title:24}" + "".join(f"{cell:>14}" for cell in cells))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="an example: examples/aspects/companies.toml")
    parser.add_argument("names", nargs="*", help="encoders of the project; all by default")
    parser.add_argument("--data", type=Path, required=True, help="folder with the files that the project names")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="folder that is kept; a temporary one by default")
    return parser.parse_intermixed_args()  # names may follow the options


if __name__ == "__main__":
    main()
