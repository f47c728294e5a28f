"""What a tree costs an encoder: python benchmarks/structured_encoder.py PAIRS.tsv[.gz] [--sentences 1000].

Prints processor seconds of one thread for encoding from text (spaCy alone, word pieces and trees, the transformer), the
largest difference between embeddings made on the fly and with parses at hand, and the share that graph and combination
have of a training step (forward and backward, batches of 32 pairs).
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling

from features.files import read_table
from features.models import locate
from features.parsers.dependencies import load
from features.parsers.settings import DependencySettings
from features.sentences import normalise
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.parse import LabelNumbers
from training.modules.parsing_transformer import ParsingTransformer

ODD = [
    "",
    "\U0001f436 \U0001f469\u200d\U0001f467 !",
    "https://example.org/a?b=c#d",
    "\u732b\u5728\u7761\u89c9",
    "word " * 400,
]
BATCH = 32


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("pairs", type=Path, help="a table whose first columns are sentences")
    arguments.add_argument("--sentences", type=int, default=1000)
    arguments.add_argument("--bases", type=int, default=8)
    arguments.add_argument("--width", type=int, default=256)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    table = read_table(given.pairs)
    texts = list(
        dict.fromkeys(normalise(text) for row in table.iter_rows() for text in row[:2] if isinstance(text, str))
    )
    texts = [*texts[: given.sentences - len(ODD)], *map(normalise, ODD)]
    parser = load(DependencySettings())
    folder = locate("all-MiniLM-L6-v2")
    transformer = ParsingTransformer(
        str(folder), parser="en_core_web_md", parser_identity=parser.name, labels=parser.labels, max_seq_length=128
    )
    width = transformer.get_embedding_dimension()
    graph = GraphPooling(width, len(LabelNumbers(parser.labels)), width=given.width, bases=given.bases)
    combination = NodeCombination(width, given.width)
    encoder = SentenceTransformer(modules=[transformer, Pooling(width), graph, combination], device="cpu")
    twin = SentenceTransformer(modules=[transformer, Pooling(width)], device="cpu")

    list(parser.parse(texts[:50]))
    alone = seconds(lambda: list(parser.parse(texts)))
    whole = seconds(lambda: encoder.encode(texts))
    parsed = [{"text": text, "parse": tree} for text, tree in zip(texts, parser.parse(texts), strict=True)]
    again = seconds(lambda: encoder.encode(texts))  # parses are known by now
    print(
        f"{len(texts)} sentences: spaCy alone {alone:.1f} s, encoding from text {whole:.1f} s ({alone / whole:.0%} of"
    )
    print(f"spaCy's own speed), with known parses {again:.1f} s")
    with torch.no_grad():
        parts = [parsed[at : at + BATCH] for at in range(0, len(parsed), BATCH)]
        stored = torch.cat([encoder(encoder.preprocess(part))["sentence_embedding"] for part in parts]).numpy()
    print(f"largest difference to embeddings with parses at hand: {np.abs(stored - encoder.encode(texts)).max():.1e}")

    batches = [parsed[at : at + 2 * BATCH] for at in range(0, min(8 * BATCH, len(parsed)), 2 * BATCH)]
    features = [encoder.preprocess(batch) for batch in batches]

    def steps(model: SentenceTransformer) -> None:
        model.train()
        for each in features:
            model(dict(each))["sentence_embedding"].square().sum().backward()

    steps(encoder)
    with_graph, without = seconds(lambda: steps(encoder)), seconds(lambda: steps(twin))
    print(f"a step: {with_graph / len(features):.2f} s with a graph, {without / len(features):.2f} s without:")
    print(f"the graph is {1 - without / with_graph:.0%} of a step")


if __name__ == "__main__":
    main()
