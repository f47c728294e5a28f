"""What each part of an S3BERT brings: recipes trained on the release of a project, as a table in CSV.

    python benchmarks/s3bert_recipes.py PROJECT.toml [--group layers] [--quick] [--seeds 1] [--store STORE] [NAME …]

Writes the project file once more beside itself, as facetflow.recipes.toml, with recipes in the place of its encoders,
trains them, and scores them on the rated pairs of `[[evaluation]]` and on the dev pairs of the project's store or of
another (`--store`). Build before. NAME is a recipe of the group (`--list` names them), all by default: `layers` is for
some ten thousand pairs, as in examples/bamboo; `text` for graphs as text (amr_as_text.py), and for sentences to compare
them with; `map` tunes no layers, for the millions of pairs of examples/study. Finished trainings are reused.

The start model of all is the one whose embeddings the project has: `model` of `[embeddings]`.
"""

import argparse
import csv
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from facet_scores import ALL, START, by_corpus
from project_commands import as_toml, facetflow, spread

from features.models import locate
from training.runs import ENCODER, TRAINING_FILE, find_encoder, seeds_of

Recipe = dict[str, Any]

_LAYERS_ALONE: Recipe = {"map_epochs": 0, "facet_dimensions": 16}  # slices: 32 times 15 are more than MiniLM's 384
_RATED: Recipe = {"corpora": ["stsb", "sick"], "consistency": 0.0}
_NLI = ["snli", "mnli", "more_nli", "mnli_sample"]
_OF_STUDY = ["flickr30k", "coco", *_NLI, "qqp_duplicates", "stsb", "sick", "mrpc", "paws_wiki"]
_MAP: Recipe = {"layers_tuned": 0, "map_epochs": 2}
RECIPES: dict[str, dict[str, Recipe]] = {
    "layers": {
        "both": {},
        "map": {"layers_tuned": 0},
        "layers": _LAYERS_ALONE,
        "no-consistency": {"consistency": 0.0},
        "no-decomposition": {"alpha": 0.0},
        "pairs-only": {"kinds": ["positive"]},
        "no-neighbours": {"kinds": ["positive", "negative"]},
        "minmax": {"targets": "minmax"},
        "variance": {"facet_weights": "variance"},
        "narrow": {"facet_dimensions": 8},
        "wide": {"facet_dimensions": 64},
        "layers-no-consistency": _LAYERS_ALONE | {"consistency": 0.0},
    },
    "text": {
        "upper-bound": _RATED | {"max_tokens": 256},
        "upper-bound-map": _RATED | {"layers_tuned": 0},
    },
    "map": {
        "map": _MAP,
        "map-narrow": _MAP | {"facet_dimensions": 8},
        "map-wide": _MAP | {"facet_dimensions": 64},
        "map-minmax": _MAP | {"targets": "minmax"},
        "map-variance": _MAP | {"facet_weights": "variance"},
        "map-pairs-only": _MAP | {"kinds": ["positive"]},
        "map-no-neighbours": _MAP | {"kinds": ["positive", "negative"]},
        "map-no-contrasts": _MAP | {"corpora": _OF_STUDY},
        "map-captions": _MAP | {"corpora": ["flickr30k", "coco"]},
        "map-entailments": _MAP | {"corpora": _NLI},
        # As many steps as two passes over the 1.8 million pairs of examples/study.
        "map-10k": _MAP | {"pairs": 10_000, "map_epochs": 350},
        "map-50k": _MAP | {"pairs": 50_000, "map_epochs": 70},
        "map-300k": _MAP | {"pairs": 300_000, "map_epochs": 12},
    },
}
"""Group → recipe → settings that differ from the preset `laptop`: a map of 32 dimensions a facet, then two layers."""
_QUICK: Recipe = {"map_epochs": 5, "loop": {"epochs": 1}}
"""Under `--quick`, where a recipe does not say otherwise."""
_DIGITS = {"above SB-full": 0, "seconds": 0}


def main() -> None:
    arguments = _arguments()
    recipes = RECIPES[arguments.group]
    if arguments.list:
        print("\n".join(f"{name}: {_settings(recipe)}" for name, recipe in recipes.items()))
        return
    names = arguments.names or list(recipes)
    if unknown := [name for name in names if name not in recipes]:
        sys.exit(f"the group {arguments.group!r} has no recipe {unknown[0]!r}; it has: {', '.join(recipes)}")
    project = {"store": "store", "runs": "runs"} | tomllib.loads(arguments.project.read_text(encoding="utf-8"))
    start = project.get("embeddings", {}).get("model", START)
    of_all = {"kind": "s3bert", "preset": "laptop", "backbone": start} | (_QUICK if arguments.quick else {})
    project["encoders"] = [{"name": name} | of_all | recipes[name] for name in names]
    file = arguments.project.with_suffix(".recipes.toml")
    file.write_text(as_toml(project), encoding="utf-8")
    facetflow(file, ["train", *names, "--seeds", str(arguments.seeds)])
    if project.get("evaluation"):
        facetflow(file, ["evaluate", *names, "--suite", "ratings"])
    runs, store = file.parent / project["runs"], arguments.store or file.parent / project["store"]
    start_model = str(locate(start, file.parent))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for position, name in enumerate(names):
        seeds = seeds_of(find_encoder(runs, name).parent)[: arguments.seeds]
        rows = [_row(run, store, start_model) for run in seeds]
        if not position:
            writer.writerow(["recipe", "settings", *rows[0]])
        cells = [spread([row[column] for row in rows], digits=_DIGITS.get(column, 1)) for column in rows[0]]
        writer.writerow([name, _settings(recipes[name]), *cells])
        sys.stdout.flush()


def _row(run: Path, store: Path, start: str) -> dict[str, float]:
    """Return the cells of a run: facets on dev pairs, of all corpora and of each, human ratings, and seconds."""
    found = {scores.corpus: scores for scores in by_corpus(run / ENCODER, store, start)}
    row: dict[str, float] = {"facets": found[ALL].mean}
    row |= {f"{corpus} dev": scores.mean for corpus, scores in found.items() if corpus != ALL}
    row["above SB-full"] = found[ALL].above
    if (rated := run / "metrics-ratings.json").is_file():
        for each in json.loads(rated.read_text(encoding="utf-8"))["suites"]["ratings"]["rows"]:
            row[each["name"].replace("-", " ")] = 100 * each["encoder"]
    training = json.loads((run / ENCODER / TRAINING_FILE).read_text(encoding="utf-8"))
    row["seconds"] = training["seconds"]
    return row


def _settings(recipe: Recipe) -> str:
    """Return the settings of a recipe as a project file has them."""
    return as_toml(recipe).strip().replace("\n", ", ")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="a project that is built: examples/bamboo/facetflow.toml")
    parser.add_argument("names", nargs="*", help="recipes of the group; all by default")
    parser.add_argument("--group", choices=RECIPES, default="layers")
    parser.add_argument("--quick", action="store_true", help="five passes of the map, one of the layers: 20 and 2 else")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--store", type=Path, help="whose dev pairs facets are measured on; the project's by default")
    parser.add_argument("--list", action="store_true", help="print the recipes of the group, and exit")
    return parser.parse_intermixed_args()  # names may follow the options


if __name__ == "__main__":
    main()
