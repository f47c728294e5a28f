"""Tables as in Peng et al. 2021: what dependency trees add to similarity and transfer, from text with one command.

    python benchmarks/dependency_trees.py examples/dependency_trees/nli.toml --data FOLDER [--work FOLDER] [NAME …]

Builds the project of an example over the files in FOLDER, trains its encoders with some seeds, scores them on rated
pairs and on SentEval's tasks, and prints both as mean ± standard deviation over the seeds, with the start model first
and, for an encoder NAME, the gain over its twin NAME-twin and a paired test. `--corpus` trains on some corpora of the
project instead of all. Finished work in the --work folder is reused, so encoders can be added later.
"""

import argparse
import json
import statistics
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from project_commands import build_train_evaluate, gain, spread, suites, with_whole_paths, working_folder

SUITES = {"ratings": "Spearman × 100 with human ratings", "transfer": "accuracy × 100 of classifiers on embeddings"}
START = "start model"
Scores = dict[str, float]


def main() -> None:
    arguments = _arguments()
    with working_folder(arguments.work) as folder:
        _measure(arguments, folder)


def _measure(arguments: argparse.Namespace, folder: Path) -> None:
    """Run everything in a folder and print the tables."""
    text = arguments.project.read_text(encoding="utf-8")
    content = tomllib.loads(text)
    project = folder / "facetflow.toml"
    text = with_whole_paths(text, list(_files(content)), arguments.data)
    if arguments.corpus:
        text = text.replace("[[encoders]]\n", f"[[encoders]]\ncorpora = {json.dumps(arguments.corpus)}\n")
    project.write_text(f"{text}\n{_transfer(arguments)}", encoding="utf-8")
    names = arguments.names or [encoder["name"] for encoder in content["encoders"]]
    build_train_evaluate(project, names, arguments.seeds, arguments.suite)
    found = {name: suites(folder / "runs", name, arguments.suite) for name in names}
    # Sets that may have chosen the step are left out of the tables.
    chosen_by = {each.get("name") for each in content["evaluation"] if each.get("split") == "dev"}
    for suite, title in SUITES.items():
        results = {
            name: [_scores(result[suite], chosen_by) for result in some if suite in result]
            for name, some in found.items()
        }
        _show(title, results)


def _transfer(arguments: argparse.Namespace) -> str:
    """Return the `[transfer]` table of the project file, empty for its defaults."""
    settings = {"classifiers": arguments.classifier, "folds": arguments.folds}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items() if value]
    return "\n".join(["[transfer]", *lines]) + "\n" if lines else ""


def _files(content: Mapping[str, Any]) -> set[str]:
    """Return the files named by a project's corpora and evaluation sets."""
    found: set[str] = set()
    for source in (*content["corpora"], *content["evaluation"]):
        for files in (*source.get("files", {}).values(), source.get("file", ())):
            found.update([files] if isinstance(files, str) else files)
    return found


def _scores(suite: Mapping[str, Any], left_out: Collection[str | None]) -> tuple[Scores, Scores]:
    """Return the scores of encoder and start model × 100: by set, in the transfer suite by task and classifier."""
    rows = {row["name"]: row for row in suite["rows"] if row["name"] not in left_out}
    own, start = ({name: 100 * row[of] for name, row in rows.items()} for of in ("encoder", "start"))
    return own, start


def _show(title: str, results: Mapping[str, Sequence[tuple[Scores, Scores]]]) -> None:
    """Print a table with a line per encoder, a column per set, and the mean."""
    known = {name: some for name, some in results.items() if some}
    if not known:
        return
    first = next(iter(known.values()))[0]
    columns = list(first[0])
    heads = "".join(f"{column:>{_width(column)}}" for column in (*columns, "mean"))
    print(f"\n{title}\n\n{'':20}{heads}    gain over the twin")
    _row(START, [first[1]], columns)
    for name, some in known.items():
        twin = known.get(f"{name}-twin", [])
        means = [[statistics.mean(own.values()) for own, _ in each] for each in (some, twin)]
        _row(name, [own for own, _ in some], columns, gain(*means))


def _row(name: str, seeds: Sequence[Scores], columns: Sequence[str], gained: str = "") -> None:
    values = [[own[column] for own in seeds] for column in columns]
    cells = [spread(some) for some in (*values, [statistics.mean(own.values()) for own in seeds])]
    widths = [_width(column) for column in (*columns, "mean")]
    line = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    print(f"{name:20}{line}" + (f"    {gained}" if gained else ""))


def _width(column: str) -> int:
    """Return the width of a column of the table, with a gap before its name."""
    return max(16, len(column) + 2)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="an example: examples/dependency_trees/nli.toml")
    parser.add_argument("names", nargs="*", help="encoders of the project; all by default")
    parser.add_argument("--data", type=Path, required=True, help="folder with the files that the project names")
    parser.add_argument("--corpus", action="append", help="corpus to train on; may be repeated; all by default")
    parser.add_argument("--suite", choices=SUITES, help="suite to score with; both by default")
    parser.add_argument("--classifier", action="append", help="of SentEval's tasks (`[transfer]`); may be repeated")
    parser.add_argument("--folds", type=int, help="of SentEval's tasks; fewer make `--classifier mlp` affordable")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="folder that is kept; a temporary one by default")
    return parser.parse_intermixed_args()  # names may follow the options


if __name__ == "__main__":
    main()
