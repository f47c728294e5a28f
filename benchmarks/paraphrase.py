"""Paraphrase tables as in Peng et al. 2022: from text to scores and reports with one command.

    python benchmarks/paraphrase.py examples/paraphrase/msrp.toml --data FOLDER [--seeds 3] [--work FOLDER] [NAME …]

Builds the project of an example over the files in FOLDER, trains encoders with some seeds, scores them on the test
pairs, and prints F1, average precision and more as mean ± standard deviation over the seeds, with the gain over the
twin and a paired test. NAME is an encoder of the project, or one of its ablations (`--list` names them); by default all
encoders of the project. Finished work in the --work folder is reused, so encoders can be added later. `--rate` trains
at one learning rate instead of searching three.
"""

import argparse
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from project_commands import as_toml, build_train_evaluate, gain, spread, suites, working_folder

from training.evaluation.measures import without_looking

MEASURES = ("f1", "accuracy", "average_precision", "mcc", "auroc")
TITLES = ("F1", "accuracy", "AP", "MCC", "AUROC")
TWIN = "twin"
SHARES = (10, 30, 60)
HARMED = (10, 20, 30, 40, 50)

Encoder = dict[str, Any]


def ablations(encoders: Mapping[str, Encoder]) -> dict[str, Encoder]:
    """Return ablations that show where the gain of the project's encoder with spans comes from, by name."""
    pas, twin = encoders["pas"], encoders[TWIN]
    in_order, difference = ["u", "v", "|u-v|"], ["|u-v|"]
    found = {
        "spans-only": pas | {"pooled": False},
        "spans-only-average": pas | {"pooled": False, "weights": "equal"},
        "average": pas | {"weights": "equal"},
        "by-role": pas | {"weights": "by_role"},
        "random": pas | {"spans": "random"},
        "continuous": pas | {"spans": "continuous"},
        "words-below": pas | {"words_below": 1},
        "random-only": pas | {"spans": "random", "pooled": False},
        "continuous-only": pas | {"spans": "continuous", "pooled": False},
        "in-order": pas | {"classifier": in_order},
        "difference": pas | {"classifier": difference},
        "twin-in-order": twin | {"classifier": in_order},
        "twin-difference": twin | {"classifier": difference},
        "full": pas | {"layers_tuned": "all"},
        "twin-full": twin | {"layers_tuned": "all"},
        "shallow": pas | {"layers": 2},
        "twin-shallow": twin | {"layers": 2},
        "random-shallow": pas | {"layers": 2, "spans": "random"},
    }
    for share in SHARES:
        found |= {f"pas-{share}": pas | {"training_share": share / 100}}
        found |= {f"twin-{share}": twin | {"training_share": share / 100}}
        found |= {f"random-{share}": pas | {"spans": "random", "training_share": share / 100}}
    for harm in ("dropped", "moved"):
        found |= {f"{harm}-{share}": pas | {"harmed": share / 100, "harm": harm} for share in HARMED}
    return {name: encoder | {"name": name} for name, encoder in found.items()}


def main() -> None:
    arguments = _arguments()
    project = tomllib.loads(arguments.project.read_text(encoding="utf-8"))
    own = {encoder["name"]: encoder for encoder in project["encoders"]}
    known = own | ablations(own)
    if arguments.list:
        print("\n".join(known))
        return
    names = arguments.names or list(own)
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"there is no encoder {unknown[0]!r}; there are: {', '.join(known)}")
    project["encoders"] = [_at_rate(known[name], arguments.rate) for name in names]
    with working_folder(arguments.work) as folder:
        _measure(project, names, arguments, folder)


def _at_rate(encoder: Encoder, rate: float | None) -> Encoder:
    """Return an encoder with one learning rate instead of a search; the encoder itself without a rate."""
    if rate is None:
        return encoder
    others = {key: value for key, value in encoder.items() if key != "search"}
    return others | {"loop": encoder.get("loop", {}) | {"learning_rate": rate}}


def _measure(project: dict[str, Any], names: Sequence[str], arguments: argparse.Namespace, folder: Path) -> None:
    """Run everything in a folder and print the table."""
    data = arguments.data.resolve()
    for corpus in project["corpora"]:
        corpus["files"] = {split: str(data / name) for split, name in corpus["files"].items()}
    file = folder / "facetflow.toml"
    file.write_text(as_toml(project), encoding="utf-8")
    build_train_evaluate(file, names, arguments.seeds)
    _show(folder / "runs", names)


def _show(runs: Path, names: Sequence[str]) -> None:
    results = {name: _scores(runs, name) for name in names}
    found = [corpus for name in names for result in results[name] for corpus in result]
    if not found:
        sys.exit("no metrics.json has the suite `paraphrase`")
    for corpus in dict.fromkeys(found):
        print(f"\n{corpus}\n")
        print(f"{'':20}" + "".join(f"{title:>14}" for title in (*TITLES, "swapped")) + "    gain in F1, p")
        first = next(result[corpus] for name in names for result in results[name] if corpus in result)
        for name, values in (("every pair", first["every pair"]), ("start model", first["start"])):
            print(f"{name:20}" + "".join(f"{_mean([values[of]]):>14}" for of in MEASURES))
        for name in names:
            of_seeds = [result[corpus]["encoder"] for result in results[name] if corpus in result]
            cells = "".join(f"{_mean([each[of] for each in of_seeds]):>14}" for of in (*MEASURES, "swapped"))
            twins = results.get(_twin(name, names), [])
            twin = [100 * result[corpus]["encoder"]["f1"] for result in twins if corpus in result]
            own = [100 * each["f1"] for each in of_seeds]
            print(f"{name:20}{cells}" + (f"    {gain(own, twin)}" if TWIN not in name else ""))


def _twin(name: str, names: Sequence[str]) -> str:
    """Return the encoder that differs from one by having no spans: `twin-full` for `full`, where it was trained."""
    return next((f"{TWIN}-{part}" for part in (name, name.partition("-")[2]) if f"{TWIN}-{part}" in names), TWIN)


def _mean(values: Sequence[float | None]) -> str:
    return spread([100 * value for value in values if value is not None])


def _scores(runs: Path, name: str) -> list[dict[str, Any]]:
    """Return for each seed: corpus → what scores the pairs → measure → value, in [0, 1] (MCC in [-1, 1])."""
    found = []
    for result in suites(runs, name):
        suite = result.get("paraphrase", {"rows": []})
        found.append(
            {
                each["name"]: {
                    "encoder": {of: each["scores"][of]["encoder"] for of in MEASURES} | {"swapped": each["swapped"]},
                    "start": {of: each["scores"][of]["start"] for of in MEASURES},
                    "every pair": without_looking(each["pairs"], each["positives"], positive=True),
                }
                for each in suite["rows"]
            }
        )
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="an example: examples/paraphrase/msrp.toml")
    parser.add_argument("names", nargs="*", help="encoders of the project, or ablations; all its encoders by default")
    parser.add_argument("--data", type=Path, default=Path(), help="folder with the files that the project names")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rate", type=float, help="learning rate instead of the search")
    parser.add_argument("--work", type=Path, help="folder that is kept; a temporary one by default")
    parser.add_argument("--list", action="store_true", help="print the names of encoders and ablations, and exit")
    return parser.parse_intermixed_args()  # names may follow the options


if __name__ == "__main__":
    main()
