"""Which of the evaluated runs becomes the current one of its encoder: seeds of a training are judged together.

    seed-0 ─┐                                     ┌── hold: the best of them ──> runs/NAME/current
    seed-1 ─┼── against the run that was current ─┤
    seed-2 ─┘                                     └── do not hold: refused

Were they judged one after the other, each against the one promoted before it, the last seed within the limits would
win, and what may be lost would add up.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from features.core.errors import FacetflowError
from flows import project
from flows.terminal import conclude
from flows.trainings.training_process import run_job
from training.evaluation.promotion import (
    PROMOTION_FILE,
    BestSeed,
    GoneRun,
    Verdict,
    best_seed,
    compare_scores,
    current_run,
    gone_runs,
    on_same_pairs,
    promote,
    refusal,
)
from training.evaluation.run import metrics_file, read_scores
from training.jobs import EvaluationJob
from training.run_records import trained_as
from training.runs import ENCODER, all_runs, encoder_name, group_of, is_finished, newest, release_of, run_id, seed_of
from training.writing import read_json, write_json


def promote_best(
    settings: project.Project, jobs: Sequence[EvaluationJob], asked: Collection[Path] = (), *, unattended: bool
) -> None:
    """Make the best of the evaluated runs of an encoder, at least one, the current one, if its scores hold, and say so.

    Some of the runs that were asked for may have no evaluation, since it failed. What a refresh began, unattended,
    promotes no run of an older release if it was late, nor one seed after another.
    """
    jobs, asked = sorted(jobs, key=lambda job: seed_of(job.output)), {run.resolve() for run in asked}
    name = encoder_name(jobs[0].output.resolve())
    runs = settings.runs.resolve()
    before, gone = current_run(settings.runs, name), gone_runs(settings.runs).get(name)
    evaluated = {job.output.resolve(): job for job in jobs}
    seeds = [run for run in evaluated if before is not None and group_of(run) == group_of(before)]
    if before is not None and seeds and (unattended or before in {*asked, *seeds}):
        _leave(runs, name, before, seeds, alone=len(seeds) == len(evaluated))
        evaluated = {run: job for run, job in evaluated.items() if run not in seeds}
    if gone is not None:
        for run, refused in {run: refusal(run) for run in evaluated}.items():
            if refused is not None:
                _keep_refused(runs, name, run, gone, refused)
                del evaluated[run]
    against = run_id(runs, before) if before is not None else None if gone is None else gone.run
    verdicts = _verdicts(settings, before, gone, evaluated, unattended=unattended)
    holding = [run for run, verdict in verdicts.items() if verdict.holds]
    last = group_of(newest(holding)) if holding else None
    seeds = [run for run in holding if group_of(run) == last]
    best = best_seed(seeds) if seeds else None
    for run, verdict in verdicts.items():
        promoted = best is not None and run == best.run
        why = [] if best is None or not verdict.holds else _choice(runs, run, best, seeds)
        # That there was nothing to compare with explains a promotion, not that another seed was chosen.
        reasons = [*(verdict.reasons if promoted or before is not None else ()), *why]
        _record(run, promoted=promoted, holds=verdict.holds, against=against, reasons=reasons)
        what = f"is now the current run of the encoder {name!r}" if promoted else "was not promoted"
        if promoted:  # recorded before: if it is killed here, the run is judged again
            promote(run, name)
        conclude(f"{run_id(runs, run)} {what}: {'; '.join(reasons)}.")


def _leave(runs: Path, name: str, current: Path, seeds: Sequence[Path], *, alone: bool) -> None:
    """Leave a current run that is a seed of the same training as evaluated ones, which differ from it by chance."""
    current_id = run_id(runs, current)
    others = [run for run in seeds if run != current]
    for run in seeds:
        if not (run / PROMOTION_FILE).is_file():  # a record of how it was judged says more
            which = "" if run == current else f"{current_id}, another seed of the same training, is "
            _record(run, promoted=run == current, holds=None, against=current_id, reasons=[f"{which}the current run"])
    if not alone:
        return
    which = ""
    if others:
        which = ", one of these seeds," if current in seeds else ", another seed of the same training,"
    conclude(f"{current_id}{which} is already the current run of the encoder {name!r}; nothing changes.")


def _keep_refused(runs: Path, name: str, run: Path, gone: GoneRun, reasons: str) -> None:
    """Say that a run stays refused although the current one is gone, and which one may be promoted instead."""
    of_name = [run for run in all_runs(runs, name) if is_finished(run)]
    others = [run for run in of_name if refusal(run) is None]
    advice = (
        f"`facetflow evaluate {run_id(runs, newest(others))} --promote` promotes one that was not refused"
        if others
        else f"to promote it nevertheless, delete the link {str(gone.link)!r} and evaluate it again"
    )
    conclude(
        f"{run_id(runs, run)} was not promoted: the current run {gone.run} is gone, but this one was refused before "
        f"({reasons}); {advice}."
    )


def _verdicts(
    settings: project.Project,
    before: Path | None,
    gone: GoneRun | None,
    evaluated: Mapping[Path, EvaluationJob],
    *,
    unattended: bool,
) -> dict[Path, Verdict]:
    """Return the verdict on each run, against the one that was current before all of them."""
    if before is None:
        reason = "there was no current encoder" if gone is None else f"the current run {gone.run} is gone"
        return dict.fromkeys(evaluated, Verdict(holds=True, reasons=(reason,)))
    verdicts: dict[Path, Verdict] = {}
    scores: Any = None
    newer = release_of(before) or 0
    for run, job in evaluated.items():
        release = release_of(run) or 0
        # The numbers of releases say nothing where the current run is of a store that was there before.
        if unattended and release < newer and trained_as(before).get("store") == trained_as(run).get("store"):
            reason = f"the current run was trained on release {newer}, this one on release {release}"
            verdicts[run] = Verdict(holds=False, reasons=(reason,))
            continue
        new = read_json(metrics_file(job.output))
        if scores is None or not on_same_pairs(new, scores):
            scores = _scores_on_the_same_pairs(before, new, job)
        verdicts[run] = compare_scores(new, scores, settings.promotion)
    return verdicts


def _choice(runs: Path, run: Path, best: BestSeed, seeds: Sequence[Path]) -> list[str]:
    """Return a clause on why one of several runs whose scores hold was chosen, or another was."""
    if run not in seeds:
        return [f"{run_id(runs, best.run)} was chosen, of the training that was finished last"]
    if len(seeds) == 1:
        return []
    if not best.by:
        first = f"the first of {len(seeds)} seeds that hold"
        return [first if run == best.run else f"{run_id(runs, best.run)} was chosen, {first}"]
    if run == best.run:
        return [f"chosen among {len(seeds)} seeds that hold, by its {best.by} of {best.values[run]:.4f}"]
    chosen, own = best.values[best.run], best.values[run]
    return [f"{run_id(runs, best.run)} was chosen by its {best.by} of {chosen:.4f}, this one has {own:.4f}"]


def _record(run: Path, *, promoted: bool, holds: bool | None, against: str | None, reasons: Sequence[str]) -> None:
    decision = {"promoted": promoted, "holds": holds, "against": against, "reasons": list(reasons)}
    write_json(run / PROMOTION_FILE, decision)


def _scores_on_the_same_pairs(before: Path, new: Any, job: EvaluationJob) -> Any:
    """Return the current encoder's scores, re-evaluated if they are for other pairs or sets of ratings."""
    with suppress(FacetflowError, KeyError, TypeError):  # it has none, damaged ones, or those of another version
        scores = read_scores(metrics_file(before))
        if on_same_pairs(new, scores):
            return scores
    again = job.model_copy(update={"encoder": before / ENCODER, "output": job.output / "current"})
    run_job("training.evaluation.run", again)
    return read_json(metrics_file(again.output))
