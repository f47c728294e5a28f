"""Ingest and plan on generated pairs: rows a second, time and peak memory of each step, each in a process of its own.

    python benchmarks/ingest.py                     1,000,000 pairs of two sentences of eight words
    python benchmarks/ingest.py --pairs 20000       a first look

first ingest     the corpus is read and committed; nothing is parsed
nothing new      the same again: no corpus is read
plan             `facetflow plan` of the same
1,000 new rows   a second corpus is read beside the first, which is not
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

_WORDS, _VOCABULARY, _CHUNK, _NEW = 8, 30_000, 100_000, 1000
_CORPUS = '[[corpora]]\ndataset = "pairs"\nname = "{0}"\nfiles = {{ train = "{0}.tsv" }}\n'
_PROJECT = 'name = "generated"\n' + _CORPUS.format("many")
_ENCODER = '[[encoders]]\nname = "map"\nkind = "s3bert"\n'
_INGEST = """
from pathlib import Path
from flows.building.ingest_corpora import ingest_corpora
from flows.building.store_access import open_store
from flows.project import load
settings = load(Path("facetflow.toml"))
ingest_corpora(settings, open_store(settings, only_failed=False, adopt=True), "benchmark")
"""


def main() -> None:
    """Write the corpora, run each step, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000, help="generated pairs (default: 1,000,000)")
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chance = np.random.default_rng(7)
        _write(folder / "many.tsv", pairs, chance)
        _write(folder / "few.tsv", _NEW, chance)
        (folder / "facetflow.toml").write_text(_PROJECT + _ENCODER)
        time.sleep(3)  # the digest of a file that was just written is not relied on
        _step(folder, "first ingest", [sys.executable, "-c", _INGEST], pairs)
        _step(folder, "nothing new", [sys.executable, "-c", _INGEST], pairs)
        _step(folder, "plan", [sys.executable, "-m", "flows.command_line", "plan"], pairs)
        (folder / "facetflow.toml").write_text(_PROJECT + _CORPUS.format("few") + _ENCODER)
        _step(folder, f"{_NEW:,} new rows", [sys.executable, "-c", _INGEST], _NEW)


def _write(path: Path, pairs: int, chance: np.random.Generator) -> None:
    """Write pairs of sentences whose words are as frequent as Zipf's law says."""
    with path.open("w") as file:
        file.write("sentence_a\tsentence_b\n")
        for start in range(0, pairs, _CHUNK):
            words = chance.zipf(1.3, size=(min(_CHUNK, pairs - start), 2 * _WORDS)) % _VOCABULARY
            for row in words.tolist():
                a, b = (" ".join(f"w{word}" for word in half) for half in (row[:_WORDS], row[_WORDS:]))
                file.write(f"{a}\t{b}\n")


def _step(folder: Path, name: str, command: list[str], rows: int) -> None:
    """Run a step in a process, and print its rows a second by the clock, its processor time and its peak memory."""
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name}: exit code {process.returncode}")
    wall, processor = time.monotonic() - started, used.ru_utime + used.ru_stime
    print(
        f"{name:15} {wall:8.1f} s  {processor:8.1f} s of processor time  {rows / wall:10,.0f} rows a second  "
        f"{used.ru_maxrss / 1024:6,.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    main()
