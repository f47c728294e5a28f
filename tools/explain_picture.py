"""Regenerate docs/explain.svg: the output of `facetflow explain` as a picture.

    python tools/explain_picture.py "Two cats look." "A cat looks." -o docs/explain.svg

As in any folder: measured on graphs of the embedded parser, and predicted by the encoder that comes with facetflow.
"""

import argparse
import io
from pathlib import Path

from rich.console import Console

from features import models
from features.graph_files.sentence_graphs import label_vectors, parsed_graphs
from features.metrics.explanation.pair import explain_graphs
from flows.console.explaining import Explained
from flows.console.explanation_table import print_explanations
from training.encoders.loading import load_encoder
from training.encoders.s3bert.explain import encoder_facts, explain_with, with_graphs
from training.encoders.s3bert.facets import FacetLayout


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences", nargs=2)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    folder = models.locate(models.BUNDLED_ENCODER)
    (explanation,) = explain_with(load_encoder(folder), FacetLayout.load(folder), [tuple(arguments.sentences)])
    graphs = parsed_graphs(arguments.sentences)
    left, right = (graphs[sentence] for sentence in arguments.sentences)
    (pair,) = explain_graphs([(left, right)], label_vectors([left, right]))
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    facts = encoder_facts(folder)
    explained = Explained(with_graphs(explanation, pair), pair, "the embedded parser")
    print_explanations([explained], facts, console)
    title = "facetflow explain " + " ".join(f'"{sentence}"' for sentence in arguments.sentences)
    console.save_svg(str(arguments.output), title=title)


if __name__ == "__main__":
    main()
