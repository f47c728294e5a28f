"""Cost of structure: python benchmarks/structured_encoder.py rgcn|pas PAIRS.tsv[.gz] [--sentences 1000].

For dependency trees (`rgcn`) or predicate-argument spans (`pas`), prints processor seconds of one thread for encoding
from text (the parser alone, word pieces and structure, the transformer), the largest difference between embeddings from
parses made on the fly and from given parses, and the time of a training step compared with the twin without structure:
batches of 16 pairs, forward, backward and AdamW, with the last two layers tuned and the states below them cached, as in
training.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling

from features.core.files import read_table
from features.models import locate
from features.parsers import dependencies
from features.parsers.onednn import use_onednn
from features.parsers.settings import DependencySettings, SrlSettings
from features.parsers.srl.parser import load as load_tagger
from features.sentences import normalise
from training.encoders.backbone import Backbone
from training.encoders.pas.settings import PasSettings
from training.encoders.structures import read_sentences
from training.modules.graph_pooling import GraphPooling, NodeCombination
from training.modules.pair_classifier import PairClassifier
from training.modules.parse import LabelNumbers, Parse, weights_of
from training.modules.parsing_transformer import ParsingTransformer
from training.modules.span_pooling import SpanPooling
from training.modules.tagging_transformer import TaggingTransformer

ODD = [
    "",
    "\U0001f436 \U0001f469\u200d\U0001f467 !",
    "https://example.org/a?b=c#d",
    "\u732b\u5728\u7761\u89c9",
    "word " * 400,
]
BATCH = 16
OTHER_PARSE = 1e-4
ROLES = ("ARG0", "ARG1", "ARG2", "ARGM-LOC", "ARGM-TMP")


class Known:
    """Parses by text.

    Args:
        parses: text → its parse.
    """

    def __init__(self, parses: dict[str, Parse | None]) -> None:
        self.parses = parses

    def find(self, texts: Sequence[str]) -> list[Parse | None]:
        """Return the parse of each text."""
        return [self.parses[text] for text in texts]


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    begun = time.process_time()
    call()
    return time.process_time() - begun


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("kind", choices=("rgcn", "pas"))
    arguments.add_argument("pairs", type=Path, help="a table with sentences")
    arguments.add_argument("--columns", nargs="+", type=int, default=[0, 1], help="columns of the sentences, from 0")
    arguments.add_argument("--sentences", type=int, default=1000)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    table = read_table(given.pairs)
    rows = (row[column] for row in table.iter_rows() for column in given.columns)
    texts = list(dict.fromkeys(normalise(text) for text in rows if isinstance(text, str)))
    texts = [*texts[: given.sentences - len(ODD)], *map(normalise, ODD)]
    modules, parse = (_with_trees if given.kind == "rgcn" else _with_spans)()
    encoder: Any = SentenceTransformer(modules=modules, device="cpu")
    use_onednn(encoder)  # as `load_encoder` does
    parse(texts[:20])
    found: list[Parse | None] = []
    alone = seconds(lambda: found.extend(parse(texts)))
    whole = seconds(lambda: encoder.encode(texts))
    again = seconds(lambda: encoder.encode(texts))  # parses are cached by now
    print(
        f"{len(texts)} sentences: the parser alone {alone:.1f} s, encoding from text {whole:.1f} s ("
        f"{alone / whole:.0%} of it the parser), with known parses {again:.1f} s"
    )
    known = Known(dict(zip(texts, found, strict=True)))
    on_the_fly = encoder.encode(texts)
    encoder[0].structure.parses.clear()
    encoder[0].structure.stored = known.find
    differences = np.abs(encoder.encode(texts) - on_the_fly).max(axis=1)
    # In bfloat16, a parser may give a sentence a different parse in a different batch.
    others = differences > OTHER_PARSE
    print(
        f"embeddings from parses made on the fly and from given ones: {others.sum()} of {len(texts)} have another "
        f"parse, the largest difference of the others is {differences[~others].max():.1e}"
    )
    _compare_steps(modules, texts[: -len(ODD)], known)


def _with_trees() -> tuple[list[Any], Callable[[Sequence[str]], list[Parse | None]]]:
    parser = dependencies.load(DependencySettings())
    transformer = ParsingTransformer(
        str(locate("all-MiniLM-L6-v2")),
        parser="en_core_web_md",
        parser_identity=parser.name,
        labels=parser.labels,
        max_seq_length=128,
    )
    width = transformer.get_embedding_dimension()
    graph = GraphPooling(width, labels=len(LabelNumbers(parser.labels)))
    return [transformer, Pooling(width), graph, NodeCombination(width, graph.width)], lambda texts: list(
        parser.parse(texts)
    )


def _with_spans() -> tuple[list[Any], Callable[[Sequence[str]], list[Parse | None]]]:
    settings = SrlSettings(threads=1)
    tagger = load_tagger(settings)
    transformer = TaggingTransformer(
        str(locate("all-MiniLM-L6-v2")),
        tagger="embedded",
        tagger_weights=weights_of(settings),
        roles=ROLES,
        max_seq_length=128,
    )
    width = transformer.get_embedding_dimension()
    spans = SpanPooling(width, width, len(LabelNumbers(ROLES)))

    def parse(texts: Sequence[str]) -> list[Parse | None]:
        return [getattr(one, "columns", None) for one in tagger.parse(texts)]

    return [transformer, Pooling(width), spans], parse


def _compare_steps(modules: list[Any], texts: Sequence[str], known: Any) -> None:
    """Print the time of a step with and without structure, measured alternately."""
    steps = {}
    for name, some in (("with", modules), ("without", modules[:2])):
        model = SentenceTransformer(modules=some, device="cpu")
        backbone = Backbone(model, PasSettings(cache_gib=8.0), torch.float32)
        tokens, structures = read_sentences(modules[0], texts, known)
        backbone.beside = structures if name == "with" else None
        backbone.keep_states(tokens)
        steps[name] = _step(backbone, tokens, modules[2:] if name == "with" else [])
    batches = np.random.default_rng(0).integers(len(texts), size=(40, 2, BATCH))
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for first, second in batches:
        for name, step in steps.items():
            taken[name].append(seconds(partial(step, first, second)))
    middle = {name: float(np.median(values)) for name, values in taken.items()}
    print(
        f"a step of {BATCH} pairs: {1000 * middle['with']:.0f} ms with structure, {1000 * middle['without']:.0f} ms "
        f"without: {middle['with'] / middle['without']:.2f}x"
    )


def _step(backbone: Backbone, tokens: Any, new: Sequence[torch.nn.Module]) -> Callable[[Any, Any], None]:
    head = PairClassifier(backbone.dimension, ["0", "1"], ("|u-v|", "u*v"))
    learning = [*backbone.tuned_parameters().values(), *head.parameters()]
    for module in new:
        learning += list(module.requires_grad_(requires_grad=True).train().parameters())
    optimiser = torch.optim.AdamW(learning, lr=1e-6)
    targets = torch.arange(BATCH) % 2
    backbone.train()

    def step(first: Any, second: Any) -> None:
        every, places = np.unique(np.concatenate([first, second]), return_inverse=True)
        left, right = backbone.embed(tokens, every)[torch.from_numpy(places)].tensor_split(2)
        torch.nn.functional.cross_entropy(head(left, right), targets).backward()
        optimiser.step()
        optimiser.zero_grad()

    return step


if __name__ == "__main__":
    main()
