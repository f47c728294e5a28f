"""Speed and accuracy of the embedded AMR parser, compared with amrlib with a model of BART-base's shape.

Smatch is micro F1 without wiki links: by our own exact engine, and by smatch 1.0.4, which climbs hills, and counts a
triple that occurs twice in both graphs four times.

    python benchmarks/amr_parsers.py                             the sentences of the built-in example
    python benchmarks/amr_parsers.py gold.amr.gz --model FOLDER  sentences and graphs of a file, a given model

Times are from text to PENMAN in one process with everything loaded, the best of some runs: wall-clock time, and
processor time, which other work on the machine affects less. The peer has random weights: its output is worthless, but
its time is that of any BART-base parser, since it is made to write as many tokens as our graph of the sentence has,
counted as whole words, brackets and roles (a real one writes a few more, as word pieces).
"""

import argparse
import os
import platform
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from amrlib_peer.bart_base import load_peer

from features.graphs.penman_files import read_blocks
from features.parsers.amr import model_folder
from features.parsers.embedded.parser import EmbeddedParser, load_parser
from features.parsers.settings import AmrSettings
from training.parsers.amr.scoring import score_graphs

EXAMPLE = Path(__file__).parents[1] / "features" / "corpora" / "example"
_SERIALISED = re.compile(r"[()]|[^\s()]+")
_WIKI = re.compile(r':wiki\s+("[^"]*"|[^\s()]+)')


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    blocks = [block for file in arguments.graphs for block in read_blocks(file) if block.metadata.get("snt")]
    texts = [block.metadata["snt"] for block in blocks]
    words = sum(len(text.split()) for text in texts) / len(texts)
    print(f"{len(texts)} sentences of {words:.1f} words, {arguments.threads} threads, torch {torch.__version__},")
    print(f"Python {platform.python_version()}, {platform.machine()}, load {os.getloadavg()[0]:.1f}\n")
    print(f"{'parser':44}{'load s':>8}{'sentences/s':>13}{'a core-second':>15}{'Smatch':>9}{'1.0.4':>8}")
    speed = 0.0
    for precision in ("bfloat16", "float32"):
        begun = time.perf_counter()
        parser = load_parser(
            model_folder(arguments.model),
            AmrSettings(device=arguments.device, precision=precision, batch_size=arguments.batch),
        )
        loaded = time.perf_counter() - begun
        parser.parse(texts[: arguments.batch])
        graphs, seconds, processor = _best(arguments.runs, lambda parser=parser: parser.parse(texts))
        gold = [block.text for block in blocks]
        smatch = score_graphs(graphs, gold, ["smatch"])["smatch"].f1.value
        speed = max(speed, len(texts) / seconds)
        speeds = f"{len(texts) / seconds:13,.0f}{len(texts) / processor:15,.0f}"
        scores = f"{100 * smatch:9.1f}{100 * _reference(graphs, gold):8.1f}"
        print(f"{f'embedded, {precision}':44}{loaded:8.1f}{speeds}{scores}")
    if arguments.peer_sentences:
        _time_peer(parser, texts[:: max(1, len(texts) // arguments.peer_sentences)], speed)


def _time_peer(parser: EmbeddedParser, texts: Sequence[str], speed: float) -> None:
    lengths = [len(_SERIALISED.findall(graph)) for graph in parser.parse(texts)]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        peer = load_peer(Path(folder), texts)
        loaded = time.perf_counter() - begun
    for beams in (1, 4):
        seconds = peer.seconds(texts, lengths, beams)
        theirs = len(texts) / seconds
        name = f"amrlib, BART-base's shape, {beams} beam{'s' * (beams > 1)}"
        print(f"{name:44}{loaded:8.1f}{theirs:13,.2f}{'':24}   embedded is {speed / theirs:,.0f} times as fast")


def _reference(parsed: Sequence[str], gold: Sequence[str]) -> float:
    """Return micro F1 by smatch 1.0.4."""
    import smatch

    matched = found = wanted = 0
    for ours, theirs in zip(parsed, gold, strict=True):
        counts = smatch.get_amr_match(" ".join(ours.split()), " ".join(_WIKI.sub("", theirs).split()))
        smatch.match_triple_dict.clear()
        matched, found, wanted = (a + b for a, b in zip((matched, found, wanted), counts, strict=True))
    return 2 * matched / (found + wanted)


def _best(runs: int, work: Callable[[], list[str]]) -> tuple[list[str], float, float]:
    """Return the result, the shortest wall-clock time and the shortest processor time."""
    seconds, processor = [], []
    for _ in range(runs):
        begun, worked = time.perf_counter(), time.process_time()
        result = work()
        seconds.append(time.perf_counter() - begun)
        processor.append(time.process_time() - worked)
    return result, min(seconds), min(processor)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("graphs", nargs="*", type=Path, help="PENMAN files with ::snt")
    parser.add_argument("--model", default="embedded", help="folder of a model")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3, help="number of runs, of which the best counts")
    parser.add_argument("--peer-sentences", type=int, default=24, help="sentences that amrlib is timed on; 0 for none")
    arguments = parser.parse_args()
    arguments.graphs = arguments.graphs or [EXAMPLE / "graphs_a.amr", EXAMPLE / "graphs_b.amr"]
    return arguments


if __name__ == "__main__":
    main()
