"""`facetflow compare`: two encoders side by side."""

from pathlib import Path

import click

from flows.options import JSON


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@JSON
@click.pass_obj
def compare(project: Path, /, *, first: str, second: str, as_json: bool) -> None:
    """Show the scores of A and B side by side, on what both were evaluated on, and whether they differ.

    A and B are encoders of the project, of whose newest training all evaluated seeds count, or ids of runs. Several
    seeds of both are compared by their means, single runs by drawing pairs again.
    """
    from dataclasses import asdict

    from features.errors import InputError
    from flows.evaluate_encoder import runs_to_evaluate
    from flows.project import load
    from flows.tables import print_tables
    from flows.terminal import warn, write_json
    from training.evaluation.comparison import compare_runs
    from training.evaluation.comparison_table import comparison_table
    from training.evaluation.run import METRICS_FILE
    from training.runs import run_id

    settings = load(project)
    sides = []
    for name in (first, second):
        runs = runs_to_evaluate(settings, [name])
        evaluated = [run for run in runs if (run / METRICS_FILE).is_file()]
        left_out = [run_id(settings.runs, run) for run in runs if run not in evaluated]
        if not evaluated:
            raise InputError(f"{name!r} has not been evaluated yet: run `facetflow evaluate {name}` first.")
        if left_out:
            warn(f"Not evaluated yet, so left out: {', '.join(left_out)}.")
        sides.append(evaluated)
    if sides[0] == sides[1]:
        raise click.UsageError(f"{first!r} and {second!r} are the same runs; name two that differ")
    found = compare_runs(sides[0], sides[1])
    if as_json:
        ids = {side: [run_id(settings.runs, run) for run in runs] for side, runs in zip("ab", sides, strict=True)}
        write_json(ids | asdict(found))
        return
    print_tables([comparison_table(found, first, second)])
