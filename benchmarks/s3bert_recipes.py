"""What each part of an S3BERT brings: the encoders of a project, trained on its store, as a table in CSV.

    python benchmarks/s3bert_recipes.py PROJECT.toml [--seeds 1] [--store STORE] [NAME ...]

PROJECT.toml is examples/bamboo/recipes.toml, examples/study/recipes.toml, or one of yours; its store is built before.
NAME is an encoder of it, or a pattern such as 'map*'; all by default. They are scored on the rated pairs of
`[[evaluation]]`, and on the dev pairs of the project's store or of another (`--store`). Finished trainings are reused.

`settings` are those that differ from the first encoder of the file.
"""

import argparse
import csv
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from facet_scores import ALL, by_corpus
from project_commands import as_toml, facetflow, spread

from features.models import locate
from flows.project import load
from training.encoders.settings import EncoderSettings
from training.runs import ENCODER, TRAINING_FILE, find_encoder, flattened, seeds_of

_DIGITS = {"above SB-full": 0, "seconds": 0}


def main() -> None:
    arguments = _arguments()
    project = load(arguments.project)
    patterns = arguments.names or ["*"]
    chosen = [each for each in project.encoders if any(fnmatchcase(each.name, pattern) for pattern in patterns)]
    if not chosen:
        sys.exit(f"no encoder has this name; there are: {', '.join(each.name for each in project.encoders)}")
    names = [each.name for each in chosen]
    facetflow(arguments.project, ["train", *names, "--seeds", str(arguments.seeds)])
    if project.evaluation:
        facetflow(arguments.project, ["evaluate", *names, "--suite", "ratings"])
    store = arguments.store or Path(project.store)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for encoder in chosen:
        seeds = seeds_of(find_encoder(project.runs, encoder.name).parent)[: arguments.seeds]
        rows = [_row(run, store, str(locate(encoder.backbone, project.base))) for run in seeds]
        if encoder is chosen[0]:
            writer.writerow(["recipe", "settings", *rows[0]])
        cells = [spread([row[column] for row in rows], digits=_DIGITS.get(column, 1)) for column in rows[0]]
        writer.writerow([encoder.name, _settings(encoder, project.encoders[0]), *cells])
        sys.stdout.flush()


def _row(run: Path, store: Path, start: str) -> dict[str, float]:
    """Return the cells of a run: facets on dev pairs, of all corpora and of each, human ratings, and seconds."""
    found = {scores.corpus: scores for scores in by_corpus(run / ENCODER, store, start)}
    row: dict[str, float] = {"facets": found[ALL].mean}
    row |= {f"{corpus} facets": scores.mean for corpus, scores in found.items() if corpus != ALL}
    row["above SB-full"] = found[ALL].above
    if (rated := run / "metrics-ratings.json").is_file():
        for each in json.loads(rated.read_text(encoding="utf-8"))["suites"]["ratings"]["rows"]:
            row[each["name"].replace("-", " ")] = 100 * each["encoder"]
    training = json.loads((run / ENCODER / TRAINING_FILE).read_text(encoding="utf-8"))
    row["seconds"] = training["seconds"]
    return row


def _settings(encoder: EncoderSettings, first: EncoderSettings) -> str:
    """Return the settings of an encoder that are not those of the first, as a project file has them."""
    own, others = (flattened(each.model_dump(mode="json", exclude={"name"})) for each in (encoder, first))
    return as_toml({key: value for key, value in own.items() if value != others.get(key)}).strip().replace("\n", ", ")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path, help="a project whose store is built: examples/bamboo/recipes.toml")
    parser.add_argument("names", nargs="*", help="its encoders, or patterns of their names; all by default")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--store", type=Path, help="whose dev pairs facets are measured on; the project's by default")
    return parser.parse_intermixed_args()  # names may follow the options


if __name__ == "__main__":
    main()
