"""`facetflow encode` on a file of many lines: its speed beside a bare `SentenceTransformer.encode`, its memory, kills.

    python benchmarks/encode_file.py                      50,000 lines of eight words, five kills
    python benchmarks/encode_file.py --lines 1000000      an hour on two cores

Each runs in a process of its own, with the encoder that comes with facetflow and as many threads as it likes: first the
plain loop of sentence-transformers, which keeps all embeddings; then the command; then the command again, killed at
random moments and repeated until it ends, whose file must be the same to the byte.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from features import models

_BARE = """
import sys
from sentence_transformers import SentenceTransformer
lines = open(sys.argv[2], encoding="utf-8").read().splitlines()
SentenceTransformer(sys.argv[1], device="cpu", local_files_only=True).encode(lines, batch_size=64)
"""
_COMMAND = (sys.executable, "-m", "flows.command_line", "encode", "--quiet")
_WORDS = ("a", "old", "red", "man", "woman", "dog", "cat", "house", "tree", "sees", "likes", "hears", "under", "near")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=50_000)
    parser.add_argument("--kills", type=int, default=5)
    arguments = parser.parse_args()
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts, whole, killed = folder / "texts.txt", folder / "whole.parquet", folder / "killed.parquet"
        texts.write_text("".join(" ".join(draw.choices(_WORDS, k=8)) + "\n" for _ in range(arguments.lines)))
        print(f"{arguments.lines:,} lines of eight words\n{'':24}{'lines/s':>10}{'wall s':>10}{'MiB':>10}", flush=True)
        plain = [sys.executable, "-c", _BARE, str(models.locate(models.BUNDLED_ENCODER)), str(texts)]
        bare = _timed("a bare encode", plain, arguments.lines)
        own = _timed("facetflow encode", [*_COMMAND, str(texts), "-o", str(whole)], arguments.lines)
        print(f"speed of facetflow encode: {bare / own:.2f} times the bare one", flush=True)
        if arguments.kills:
            kills = _kill([*_COMMAND, str(texts), "-o", str(killed)], draw, own, arguments.kills)
            same = _digest(whole) == _digest(killed)
            print(f"killed {kills} times: {'the same file to the byte' if same else 'ANOTHER FILE'}")
            sys.exit(not same)


def _timed(name: str, command: list[str], lines: int) -> float:
    """Run a command, print its speed and peak memory, and return its wall seconds."""
    begun = time.monotonic()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begun
    if status:
        sys.exit(f"{name} failed")
    print(f"{name:24}{lines / seconds:10,.0f}{seconds:10,.1f}{used.ru_maxrss / 1024:10,.0f}", flush=True)
    return seconds


def _kill(command: list[str], draw: random.Random, seconds: float, kills: int) -> int:
    """Kill a command at random moments, run it to its end, and return how many kills met it alive."""
    done = 0
    for _ in range(kills):
        with subprocess.Popen(command) as process:
            time.sleep(draw.uniform(0.1, 0.9) * seconds / kills)
            done += process.poll() is None
            process.kill()
    subprocess.run(command, check=True)
    return done


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


if __name__ == "__main__":
    main()
