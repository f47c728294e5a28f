"""Regenerate docs/results/explanations_tried.md: 60 pairs that are hard to explain.

    python tools/explanations_page.py

The pairs are in tests/features/metrics/explanation/hard_pairs.toml; the graphs come from the embedded parser.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from features.graph_files.sentence_graphs import parsed_graphs
from features.metrics.explanation.pair import explain_graphs
from features.metrics.explanation.words import SAME_TEXT, Words, describe
from features.parsers.language import tell_languages

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "tests/features/metrics/explanation/hard_pairs.toml"
PAGE = ROOT / "docs/results/explanations_tried.md"
PARTS = ("tuned", "held_out")

Verdict = Literal["right", "partly", "wrong"]

_MEANING = frozenset({
    "unrelated", "negation", "role", "quantity", "name", "coreference", "mood", "modality", "order", "spelling",
})  # fmt: skip
"""Aspects that claim something about what sentences mean; the others only point at words."""
_HEDGE = re.compile(r"parser|leave out|not in the graphs|perhaps", re.IGNORECASE)
_QUOTED = re.compile(r'"([^"]+)"')
_HEAD = """\
# Sixty hard pairs, and what is said of them

What `facetflow explain` says of two sentences, with the graphs of the embedded parser
(`python tools/explanations_page.py`).

**Right** names what differs and claims nothing that is wrong; **partly right** misses something; **wrong** claims what
is not so, and does not say that the parser is unsure. What must and must not be said is in
`tests/features/metrics/explanation/hard_pairs.toml`. The code was tuned on all;
[explanations](explanations.md#words) has pairs that nobody had seen before.
"""


@dataclass(frozen=True, slots=True)
class Tried:
    """A pair with what is said of it.

    Args:
        pair: the pair with its expectations, as in the file.
        words: what is said.
        note: what is said of its language; None if nothing is.
        verdict: whether it is right.
    """

    pair: Mapping[str, Any]
    words: Words
    note: str | None
    verdict: Verdict


def try_pairs(part: str) -> list[Tried]:
    """Return what is said of the pairs of one part of the file."""
    pairs = tomllib.loads(PAIRS.read_text(encoding="utf-8"))[part]
    graphs, _ = parsed_graphs(list(dict.fromkeys(text for pair in pairs for text in (pair["a"], pair["b"]))))
    explained = explain_graphs([(graphs[pair["a"]], graphs[pair["b"]]) for pair in pairs])
    tried = []
    for pair, graph_pair in zip(pairs, explained, strict=True):
        words = describe(graph_pair, (pair["a"], pair["b"]))
        note = tell_languages([pair["a"], pair["b"]])
        tried.append(Tried(pair, words, note, judge(pair, words, note)))
    return tried


def judge(pair: Mapping[str, Any], words: Words, note: str | None) -> Verdict:
    """Return whether an explanation meets the expectations of its pair.

    Args:
        pair: the pair with its expectations.
        words: what is said of it.
        note: what is said of its language.
    """
    told = {difference.aspect for difference in words.differences}
    tells, true = set(pair.get("tells", ())), set(pair.get("true", ()))
    claims = {each.aspect for each in words.differences if not _HEDGE.search(each.text)} & _MEANING
    written = " ".join((pair["a"], pair["b"]))
    if (
        claims - tells - true
        or any(re.search(pattern, words.sentence) for pattern in pair.get("never", ()))
        or any(quote not in written for quote in _QUOTED.findall(words.sentence))
        or (words.sentence == SAME_TEXT and pair["a"] != pair["b"])
        or (bool(note) != pair.get("language", False))
    ):
        return "wrong"
    quoted = " ".join(quote for each in words.differences for quote in _QUOTED.findall(each.text))
    met = (
        (not tells or bool(tells & told))
        and all(name in quoted.split() for name in pair.get("names", ()))
        and (not pair.get("hedge") or bool(_HEDGE.search(words.sentence)))
        and (not pair.get("more") or "more difference" in words.sentence)
    )
    return "right" if met else "partly"


def count(tried: Sequence[Tried]) -> str:
    """Return how many explanations are right, partly right and wrong, in words."""
    counts = Counter(each.verdict for each in tried)
    return f"{counts['right']} right, {counts['partly']} partly right, {counts['wrong']} wrong"


def render(tried: Mapping[str, Sequence[Tried]]) -> str:
    """Return the page.

    Args:
        tried: part → its pairs.
    """
    lines = [_HEAD]
    for part, pairs in tried.items():
        lines += [f"## {'The first 30' if part == 'tuned' else 'The other 30'}: {count(pairs)}", ""]
        for each in pairs:
            said = each.words.sentence + (f" *{each.note}*" if each.note else "")
            verdict = "" if each.verdict == "right" else f" ({each.verdict}; a person: {each.pair['gold']})"
            lines.append(f"- **{each.pair['kind']}**{verdict}: {each.pair['a']} {each.pair['b']}\\\n  {said}")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    PAGE.write_text(render({part: try_pairs(part) for part in PARTS}), encoding="utf-8")


if __name__ == "__main__":
    main()
