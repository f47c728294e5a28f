"""Regenerate docs/explain.svg: the output of `facetflow explain` as a picture.

    python tools/explain_picture.py "Two cats look." "A cat looks." -o docs/explain.svg

As in any folder: measured on graphs of the embedded parser, and predicted by the encoder that comes with facetflow.
"""

import argparse
import io
from pathlib import Path

from rich.console import Console

from flows.console.explaining import Explainer
from flows.console.explanation_table import print_explanations
from flows.console.here import Here


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sentences", nargs=2)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    explainer = Explainer(Here(), None)
    explained = explainer.explain([tuple(arguments.sentences)])
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    print_explanations(explained, explainer.facts, console)
    title = "facetflow explain " + " ".join(f'"{sentence}"' for sentence in arguments.sentences)
    console.save_svg(str(arguments.output), title=title)


if __name__ == "__main__":
    main()
