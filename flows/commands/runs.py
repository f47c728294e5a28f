"""`facetflow runs`, `report`, `compare`: trainings and their scores: all in a list, one in tables, two side by side."""

from dataclasses import asdict
from pathlib import Path

import click

from features.core.faults import NoScores
from features.core.outputs import write_text
from flows.console.one_shot import check_page, nothing_half_written, say_written
from flows.console.options import JSON, encoder_option, export_option, page_option, write_export
from flows.console.tables import print_tables
from flows.terminal import warn, write_json
from training.evaluation.tables import as_frame


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@JSON
@click.pass_obj
def runs(project: Path, *, names: tuple[str, ...], as_json: bool) -> None:
    """List the trainings of the encoders NAME, by default of all: release, seed, state, and scores if evaluated."""
    from flows.console.run_list import list_runs, run_messages, runs_table
    from flows.project import load

    settings = load(project)
    listed = list_runs(settings, names)
    if as_json:
        write_json(listed)
        return
    if not listed:
        click.echo(f"No training yet in {settings.runs}: run `facetflow train`.")
        return
    print_tables([runs_table(settings, listed)])
    for message in run_messages(listed):
        click.echo(message)


@click.command()
@encoder_option(", of those that `evaluate` scores, the one trained last")
@export_option("Write the numbers, not × 100 nor rounded, to one table: .csv, .tsv, .jsonl or .parquet.")
@click.option("--json", "as_json", is_flag=True, help="Write the scores as JSON.")
@click.pass_obj
def report(project: Path, *, encoder: str | None, export: Path | None, as_json: bool) -> None:
    """Show the scores of an encoder and rewrite its report, an HTML file that opens offline."""
    from flows.console.here import Here, keep
    from flows.project import load
    from flows.trainings.finished_runs import runs_to_evaluate
    from training.evaluation.run import read_evaluation, write_report
    from training.evaluation.suites import score_tables
    from training.runs import ENCODER, newest, runs_named
    from training.search.choosing import named_encoder

    here = Here.read(project)
    if encoder is None or (here.runs is not None and runs_named(here.runs, encoder)):
        folder = newest(runs_to_evaluate(load(project), (encoder,) if encoder else ())) / ENCODER
    else:
        folder = named_encoder(here.runs, encoder, here.encoders)
    keep(folder)
    scores = read_evaluation(folder.parent)
    if export is not None:
        write_export(as_frame(score_tables(scores)), export, "number")
    if as_json:
        write_json(scores)
    elif export is None:
        print_tables(score_tables(scores))
    path = write_report(folder.parent, folder)  # last: where nothing can be written, the scores are shown
    if not as_json:
        click.echo(f"Report: {path}")


@click.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@page_option(": where they differ, by length, tree depth and word overlap, and the pairs that moved most")
@JSON
@click.pass_obj
def compare(project: Path, *, first: str, second: str, html: Path | None, as_json: bool) -> None:
    """Show the scores of A and B side by side, on what both were evaluated on, and whether they differ.

    A and B are encoders of the project (all evaluated seeds of the training that `evaluate` means) or runs. Several
    seeds on both sides are compared by their means, single runs by resampling pairs.
    """
    from features.stages.dependencies import DEPENDENCY_STAGE
    from flows.console.here import keep
    from flows.project import load
    from flows.trainings.finished_runs import left_behind, not_evaluated, runs_to_evaluate, shown_runs
    from flows.watching.file_progress import FileProgress
    from training.evaluation.comparison import compare_runs, comparison_table
    from training.runs import METRICS_FILE, run_id

    check_page(html, as_json=as_json)
    settings = load(project)
    sides = []
    for name in (first, second):
        runs = runs_to_evaluate(settings, [name])
        for run in runs:
            keep(run)
        evaluated = [run for run in runs if (run / METRICS_FILE).is_file()]
        left_out = [run_id(settings.runs, run) for run in runs if run not in evaluated]
        unfinished = left_behind(settings, [name])
        if not evaluated:
            raise NoScores(" ".join([not_evaluated(settings, name, runs), *unfinished]))
        for sentence in unfinished:
            warn(sentence)
        if left_out:
            warn(f"Left out, because not all suites have evaluated them yet: {', '.join(left_out)}.")
        sides.append(evaluated)
    if sides[0] == sides[1]:
        raise click.UsageError(f"{first!r} and {second!r} are the same runs; name two that differ")
    comparison = compare_runs(sides[0], sides[1])
    ids = [[run_id(settings.runs, run) for run in runs] for runs in sides]
    if html is not None:
        from training.differences.page import Side, differences_page

        a, b = (Side(*each) for each in zip((first, second), sides, ids, strict=True))
        parser = settings.section(DEPENDENCY_STAGE)
        with nothing_half_written():
            with FileProgress("sentences") as progress:
                page = differences_page((a, b), comparison, parser, project=settings.name, on_rows=progress)
            write_text(html, [page])
        say_written(f"the comparison of {first} and {second}", html)
    if as_json:
        write_json(dict(zip("ab", ids, strict=True)) | asdict(comparison))
    elif html is None:
        print_tables([comparison_table(comparison, *map(shown_runs, ids))])
