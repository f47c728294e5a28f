"""Speed and accuracy of the semantic role tagger in bfloat16 and float32.

    python benchmarks/srl_tagger.py                                   the sentences of the built-in example
    python benchmarks/srl_tagger.py sentences.txt --gold gold.conll.gz --model FOLDER

Times are from text to frames in one process with everything loaded, wall-clock, the best of some runs.
"""

import argparse
import os
import platform
import time
from pathlib import Path

import torch

from features.graphs.penman_files import read_blocks
from features.parsers.settings import SrlSettings
from features.parsers.srl.frames import read_annotated
from features.parsers.srl.parser import SrlParser, load, load_tagger, locate_tagger
from features.parsers.srl.scoring import evaluate
from features.parsers.texts import read_sentences

EXAMPLE = Path(__file__).parents[1] / "features" / "corpora" / "example"


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    texts = _example() if arguments.sentences is None else read_sentences(arguments.sentences)["text"].to_list()
    texts = [text for text in texts if text][: arguments.most]
    words = sum(len(text.split()) for text in texts) / len(texts)
    print(f"{len(texts)} sentences of {words:.1f} words, {arguments.threads} threads, torch {torch.__version__},")
    print(f"Python {platform.python_version()}, {platform.machine()}, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'tagger':24}{'load s':>8}{'sentences/s':>13}{'frames/s':>10}{'F1 gold':>9}{'F1 own':>10}")
    for precision in ("bfloat16", "float32"):
        begun = time.perf_counter()
        parser = load(SrlSettings(model=arguments.model, precision=precision, device="cpu"))
        loaded = time.perf_counter() - begun
        frames, seconds = _time(parser, texts, arguments.runs)
        line = f"{precision:24}{loaded:8.1f}{len(texts) / seconds:13,.0f}{frames / seconds:10,.0f}"
        if arguments.gold is not None:
            tagger = load_tagger(locate_tagger(arguments.model), SrlSettings(precision=precision))
            scores = evaluate(tagger, list(read_annotated(arguments.gold)))
            line += f"{100 * scores['gold_predicates']['f1']:9.2f}{100 * scores['own_predicates']['f1']:10.2f}"
        print(line)


def _time(parser: SrlParser, texts: list[str], runs: int) -> tuple[int, float]:
    parser.parse(texts[:64])
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        parses = parser.parse(texts)
        seconds.append(time.perf_counter() - begun)
    return sum(len(parse.frames) for parse in parses if not hasattr(parse, "code")), min(seconds)


def _example() -> list[str]:
    files = (EXAMPLE / "graphs_a.amr", EXAMPLE / "graphs_b.amr")
    return [block.metadata["snt"] for file in files for block in read_blocks(file)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sentences", nargs="?", type=Path, help="a text file with one sentence per line")
    parser.add_argument("--gold", type=Path, help="frames in CoNLL-2005 columns, to score on")
    parser.add_argument("--model", default="embedded", help="folder or archive of a tagger")
    parser.add_argument("--most", type=int, default=5000, help="maximum number of sentences")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=3, help="number of runs, of which the best counts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
