"""Say that the current run of an encoder is gone: a command works with another one, perhaps one that was refused."""

from collections.abc import Collection
from pathlib import Path

from flows.terminal import warn
from training.evaluation.promotion import gone_runs, was_refused
from training.runs import encoder_name, run_id


def warn_of_gone(runs: Path | None, named: str | None, used: Path, among: Collection[str]) -> None:
    """Warn if the current run of an encoder is gone, so that another run is used.

    Args:
        runs: folder of a project's runs; None without a project.
        named: what the user named; a run that is named by its id is used anyway. None if the project chose.
        used: folder of the encoder that is used.
        among: names of the encoders of the project.
    """
    if runs is None or not used.resolve().is_relative_to(runs.resolve()):
        return
    run = used.parent.resolve()
    asked = {named} if named is not None else {encoder_name(run), *among}
    refused = ", which was not promoted" if was_refused(run) else ""
    for name, gone in gone_runs(runs).items():
        if name in asked:
            warn(
                f"The current run of the encoder {name!r}, {gone.run}, is gone; {run_id(runs.resolve(), run)} is "
                f"used{refused}. `facetflow status` says what to do."
            )
