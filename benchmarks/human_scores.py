"""How well metrics agree with human scores: Pearson correlation on the development pairs of BAMBOO.

    python benchmarks/human_scores.py FOLDER                   FOLDER/{sts,sick,para}/{src,tgt}.dev.amr.gz and dev.y
    python benchmarks/human_scores.py FOLDER --glove vectors.txt
    python benchmarks/human_scores.py FOLDER --parser embedded        on graphs parsed again by the embedded parser

Label vectors come from the sentence encoder, and from a text file of word vectors in GloVe's format where one is given
(not from spaCy's medium models: theirs are pruned to 20,000 rows, so that cat, kitten and dog share one vector). BAMBOO
has graphs for its training and development pairs only; its authors report test pairs. Without a folder nothing is done.
"""

import argparse
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from features.graphs.batch import GraphBatch, encode
from features.graphs.penman_files import read_blocks
from features.metrics.label_vectors import LabelVectors
from features.metrics.measurement import compare
from features.metrics.metric import Comparison
from features.parsers.amr import model_folder
from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.label_vectors import load
from features.parsers.settings import AmrSettings, LabelVectorSettings
from features.stages.label_vectors import embed_labels

CORPORA = {"sts": "STS", "sick": "SICK", "para": "MRPC"}
FIRST = {"sts": 0, "sick": 1, "para": 1}  # the header of the source comes before, parsed like a sentence
METRICS = ("smatch", "unlabeled", "concepts", "frames", "srl", "wlk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--split", default="dev", choices=("dev", "train"))
    parser.add_argument("--glove", type=Path, help="word vectors as text; .gz by suffix")
    parser.add_argument("--model", default="all-MiniLM-L6-v2", help="the sentence encoder of the label vectors")
    parser.add_argument("--parser", help="`embedded`, or the folder of a model like it; BAMBOO's graphs when missing")
    arguments = parser.parse_args()
    if arguments.folder is None:
        print("human scores: skipped; give the folder of BAMBOO, which contains sts, sick and para")
        return
    tables = {"encoder": LabelVectorSettings(model=arguments.model)}
    if arguments.glove is not None:
        tables["glove"] = LabelVectorSettings(backend="glove", file=arguments.glove)
    names = [*METRICS, *(f"wwlk, {name}" for name in tables)]
    print(f"{'Pearson x 100':20}" + "".join(f"{title:>10}" for title in CORPORA.values()))
    own = load_parser(model_folder(arguments.parser), AmrSettings(device="cpu")) if arguments.parser else None
    columns = [
        correlations(arguments.folder / corpus, arguments.split, FIRST[corpus], tables, own) for corpus in CORPORA
    ]
    for row, name in enumerate(names):
        print(f"{name:20}" + "".join(f"{100 * column[row]:10.2f}" for column in columns))
    print(f"{'pairs':20}" + "".join(f"{column[-1]:10}" for column in columns))


def correlations(
    folder: Path, split: str, start: int, tables: dict[str, LabelVectorSettings], parser: EmbeddedParser | None
) -> list[float]:
    """Return the correlation of each metric with the human scores, and the number of pairs."""
    blocks = [list(read_blocks(folder / f"{side}.{split}.amr.gz")) for side in ("src", "tgt")]
    if parser is None:
        sides = [[block.text for block in side] for side in blocks]
    else:
        sides = [parser.parse([block.metadata["snt"] for block in side]) for side in blocks]
    rows = encode([str(graph) for graph in range(2 * len(sides[0]))], sides[0] + sides[1], "benchmark").rows
    first = np.arange(start, len(sides[0]) - 1)  # the last position is the end of the file
    human = np.array((folder / f"{split}.y").read_text().split(), float)[first]
    found: list[float] = []
    for settings in tables.values():
        vectors = LabelVectors.from_rows(embed_labels(rows, load(settings)).rows)
        pairs = Comparison(GraphBatch.from_rows(rows), first, first + len(sides[0]), vectors)
        names = ["wwlk"] if found else [*METRICS, "wwlk"]
        frame = compare(pairs, names)
        found += [float(np.corrcoef(frame[name], human)[0, 1]) for name in names]
    return [*found, len(first)]


if __name__ == "__main__":
    main()
