"""Other tools for Smatch, from PENMAN to the score of a pair; a missing tool says how to install it."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Score = Callable[[str, str], float]
"""From two graphs in PENMAN to F1 in [0, 1]."""


@dataclass(frozen=True)
class Peer:
    """A tool, or how to get it.

    Args:
        name: tool, version, solver.
        score: None when it is not installed.
        same_triples: whether it uses the same triples as facetflow, so that scores can be compared.
        missing: how to install it.
    """

    name: str
    score: Score | None
    same_triples: bool = False
    missing: str = ""


def peers() -> Iterator[Peer]:
    """Yield the peers that can be installed alongside the project."""
    try:
        yield Peer("smatch 1.0.4, hill-climbing", _smatch(), same_triples=True)
    except ImportError:
        yield Peer("smatch 1.0.4, hill-climbing", None, missing="pip install smatch==1.0.4")
    for solver, name in (("hillclimber", "hill-climbing"), ("ilp", "ILP")):
        try:
            yield Peer(f"smatchpp 1.8.0, {name}", _smatchpp(solver))
        except ImportError:
            yield Peer(f"smatchpp 1.8.0, {name}", None, missing="pip install smatchpp==1.8.0 mip==2.0.0")


def _smatch() -> Score:
    import smatch

    def score(left: str, right: str) -> float:
        smatch.match_triple_dict.clear()
        matched, n_left, n_right = smatch.get_amr_match(_one_line(left), _one_line(right))
        return 2 * matched / (n_left + n_right)

    return score


def _smatchpp(name: str) -> Score:
    from smatchpp import Smatchpp, solvers

    measure = Smatchpp(alignmentsolver=solvers.get_solver(name))
    measure.score_pair("(b / boy)", "(b / boy)")  # imports the rest
    logging.getLogger().handlers = [logging.NullHandler()]  # smatchpp makes every library print its log

    def score(left: str, right: str) -> float:
        return float(measure.score_pair(left, right)["main"]["F1"]) / 100

    return score


def _one_line(text: str) -> str:
    return "".join(line.strip() for line in text.splitlines())
