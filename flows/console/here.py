"""The project of a command that works without one too, and the runs that a command keeps while it reads them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import click

from features.corpora.settings import CorpusSettings
from features.store.locations import Location
from flows.console.options import PROJECT_FILE
from flows.project import Project, load
from flows.terminal import warn
from training.evaluation.promotion import gone_runs, refusal
from training.run_records import in_use
from training.runs import encoder_name, run_id


def keep(folder: Path) -> None:
    """Keep a run, or the run of an encoder, from being deleted until the command ends."""
    command = click.get_current_context()
    if folder not in (kept := command.meta.setdefault(f"{__name__}.kept", set())):  # else each call would open it again
        command.with_resource(in_use(folder))
        kept.add(folder)


@dataclass(frozen=True)
class Here:
    """What a command knows of the project in its folder: nothing where there is none."""

    project: Project | None = None
    name: str = ""
    runs: Path | None = None
    store: Location | None = None
    corpora: tuple[CorpusSettings, ...] = ()
    encoders: tuple[str, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read the project file; there may be none where nobody named one."""
        if file == PROJECT_FILE and not file.exists():
            return cls()
        project = load(file)
        encoders = tuple(encoder.name for encoder in project.encoders)
        return cls(project, project.name, project.runs, project.store, project.corpora, encoders)

    def use(self, folder: Path, named: str | None) -> None:
        """Keep the run of an encoder; warn if it replaces a current run that is gone."""
        keep(folder)
        if self.runs is None or not folder.resolve().is_relative_to(self.runs.resolve()):
            return
        run = folder.parent.resolve()
        meant = {named} if named is not None else {encoder_name(run), *self.encoders}
        refused = ", which was not promoted" if refusal(run) is not None else ""
        for name, gone in gone_runs(self.runs).items():
            if name in meant:
                warn(
                    f"The current run of the encoder {name!r}, {gone.run}, is gone; {run_id(self.runs.resolve(), run)} "
                    f"is used{refused}. `facetflow status` says what to do."
                )
