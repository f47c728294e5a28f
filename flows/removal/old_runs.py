"""Runs that newer trainings have replaced: which of them `facetflow gc --runs` removes, weights and reports.

runs/syntax/00007-9a1c33/    the training of the newest release, or the one finished last      kept
            00006-9a1c33/    the one of the current run, with its other seeds                  kept
            00005-9a1c33/    named in the project file (a backbone, a teacher), running, read  kept
            00004-9a1c33/    its newest file is younger than the age                           kept
            00003-9a1c33/    any other                                                         removed
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from features.core.file_errors import clear_errors
from flows.project import Project
from flows.removal.old_folders import OldFolder
from training.evaluation.promotion import current_runs, gone_runs
from training.run_records import is_in_use, state_of
from training.runs import all_runs, encoder_name, group_of, is_finished, newest


def find_old_runs(settings: Project, older_than: timedelta) -> list[OldFolder]:
    """Return the trainings that may be removed, each with all its seeds, in order of their ids.

    Args:
        settings: the project file.
        older_than: minimum age of the newest file of a removable training.

    Raises:
        StoreError: the folder of runs cannot be read.
    """
    with clear_errors(f"Reading the runs in {str(settings.runs)!r}"):
        by_encoder: dict[str, list[Path]] = defaultdict(list)
        for run in all_runs(settings.runs):
            by_encoder[encoder_name(run)].append(run)
        gone = [run.link.resolve() for run in gone_runs(settings.runs).values()]  # it may be restored beside its seeds
        current = {group_of(run).resolve() for run in (*current_runs(settings.runs).values(), *gone)}
        named = list(_paths_in(settings.model_dump(mode="json"), settings.base))
        oldest = time.time() - older_than.total_seconds()
        found = []
        for runs in by_encoder.values():
            finished = [run for run in runs if is_finished(run)]
            kept = {group_of(run) for run in (runs[-1], *([newest(finished)] if finished else []))}
            for group in sorted({group_of(run) for run in runs} - kept):
                seeds = [run for run in runs if group_of(run) == group]
                place = group.resolve()
                if (
                    place in current
                    or any(path.is_relative_to(place) for path in named)
                    or any(map(_is_running, seeds))
                    or any(map(is_in_use, {group, *seeds}))
                ):
                    continue
                old = OldFolder.of(group)
                if old.newest <= oldest:
                    found.append(old)
    return found


def _paths_in(given: Any, base: Path) -> Iterator[Path]:
    """Yield all values of a project file as paths: a backbone, a teacher or any other file may belong to a run."""
    if isinstance(given, Mapping):
        given = given.values()
    if isinstance(given, str):
        with suppress(OSError, RuntimeError, ValueError):  # too long, an unknown user, or characters that no path has
            yield (base / Path(given).expanduser()).resolve()
    elif isinstance(given, Iterable):
        for value in given:
            yield from _paths_in(value, base)


def _is_running(run: Path) -> bool:
    return state_of(run).state == "running"
