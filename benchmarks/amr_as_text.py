"""Upper bound of facets: a project whose sentences are AMR graphs written as text (Opitz & Frank 2022, Table 6).

    python benchmarks/amr_as_text.py DATA FOLDER       DATA as in examples/bamboo: sts/src.train.amr.gz and so on

Writes into FOLDER the graphs of BAMBOO's pairs, each with its own linearisation as `::snt`, and a project file for
them, and counts word pieces. Build that project, then train on it: benchmarks/s3bert_recipes.py FOLDER/facetflow.toml.
Its encoders read what the metrics read: what they cannot learn is not for want of a parser.

    (xv0 / want-01 :ARG0 (xv1 / boy) :ARG1 (xv2 / go-02 :ARG0 xv1))
    (want-01 :ARG0 (z1 / boy) :ARG1 (go-02 :ARG0 z1))          variables only of what is mentioned again
"""

import argparse
import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from transformers import AutoTokenizer

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from project_commands import as_toml

from features.models import locate

CORPORA = {"stsb": "sts", "sick": "sick"}
"""Corpus → folder of DATA. The graphs of MRPC are twice as long."""
SPLITS = ("train", "dev")
HEADERS = {"sentence_A", "sentence_B", "Empty line"}
"""Lines of the originals that are no sentences, but were parsed, too."""
READ = 256
"""Word pieces that all-MiniLM-L6-v2 reads."""
ENCODERS = [
    {"name": name, "kind": "s3bert", "consistency": 0.0} | settings
    for name, settings in {"upper-bound": {"max_tokens": READ}, "upper-bound-map": {"layers_tuned": 0}}.items()
]
"""A map, then two layers, and the map alone; `sentences` of examples/bamboo/recipes.toml are to compare with them."""

_QUOTED = re.compile(r'("[^"]*")')
_VALUE = re.compile(r"(:\S+ )([^\s()]+)")
_VARIABLE = re.compile(r"\((\S+) / ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with BAMBOO's graphs")
    parser.add_argument("folder", type=Path, help="folder to make")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(locate("all-MiniLM-L6-v2"))
    corpora = []
    for corpus, folder in CORPORA.items():
        files = {split: [f"{folder}.{side}.{split}.amr.gz" for side in ("src", "tgt")] for split in SPLITS}
        names = [name for both in files.values() for name in both]
        texts = [
            text
            for name in names
            for text in _rewrite(arguments.data / name.replace(".", "/", 1), arguments.folder / name)
        ]
        lengths = np.array([len(ids) for ids in tokenizer(list(dict.fromkeys(texts)))["input_ids"]])
        print(
            f"{corpus}: {len(lengths)} texts, {lengths.mean():.0f} word pieces, {(lengths > READ).sum()} above {READ}"
        )
        corpora.append(
            {"dataset": "penman", "name": corpus, "files": files, "neighbours": 8, "negatives": ["train"]},
        )
    project = {"name": "amr-as-text", "store": "store", "runs": "runs", "amr": {"backend": "penman"}}
    project |= {"corpora": corpora, "encoders": ENCODERS}
    (arguments.folder / "facetflow.toml").write_text(as_toml(project), encoding="utf-8")


def _rewrite(source: Path, target: Path) -> list[str]:
    """Write the graphs of a file below their linearisations, and return these."""
    graphs = [graph for sentence, graph in _blocks(source) if sentence not in HEADERS]
    texts = [linearised(graph) for graph in graphs]
    with gzip.open(target, "wt", encoding="utf-8") as file:
        file.writelines(f"# ::snt {text}\n{graph}\n\n" for text, graph in zip(texts, graphs, strict=True))
    return texts


def _blocks(path: Path) -> Iterator[tuple[str, str]]:
    """Yield sentence and graph of each block of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            lines = block.splitlines()
            sentence = next(line.partition("::snt ")[2] for line in lines if line.startswith("# ::snt"))
            yield sentence.strip(), "\n".join(line for line in lines if not line.startswith("#"))


def linearised(graph: str) -> str:
    """Return a graph in a line, with variables only where a node is mentioned again."""
    parts = _QUOTED.split(" ".join(graph.split()))
    bare = " ".join(parts[::2])
    mentioned = {value for _, value in _VALUE.findall(bare)}
    again = [name for name in _VARIABLE.findall(bare) if name in mentioned]
    short = {name: f"z{number}" for number, name in enumerate(again, 1)}

    def shortened(text: str) -> str:
        text = _VALUE.sub(lambda found: found[1] + short.get(found[2], found[2]), text)
        return _VARIABLE.sub(lambda found: f"({short[found[1]]} / " if found[1] in short else "(", text)

    return "".join(part if position % 2 else shortened(part) for position, part in enumerate(parts))


if __name__ == "__main__":
    main()
