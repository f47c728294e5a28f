"""The project of a command that works without one too, and the runs that a command keeps while it reads them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import click

from features.corpora.settings import CorpusSettings
from flows.project import Project, load
from flows.terminal import warn
from training.evaluation.promotion import gone_runs, was_refused
from training.run_records import in_use
from training.runs import encoder_name, run_id


def keep(folder: Path) -> Path:
    """Keep a run from being deleted until the command ends, whatever a build deletes, and return its folder as given.

    Args:
        folder: folder of the run, or of the encoder in it.

    Raises:
        ModelError: it has just been deleted.
    """
    click.get_current_context().with_resource(in_use(folder))
    return folder


@dataclass(frozen=True)
class Here:
    """What a command knows of the project in its folder.

    Args:
        project: the project; None where there is none.
    """

    project: Project | None

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read the project file if it exists.

        Raises:
            SettingsError: it is wrong.
        """
        return cls(load(file) if file.exists() else None)

    @property
    def name(self) -> str:
        """Name of the project, or nothing."""
        return "" if self.project is None else self.project.name

    @property
    def runs(self) -> Path | None:
        """Folder of its runs."""
        return None if self.project is None else self.project.runs

    @property
    def store(self) -> Path | None:
        """Folder of its store."""
        return None if self.project is None else self.project.store

    @property
    def corpora(self) -> tuple[CorpusSettings, ...]:
        """Its corpora."""
        return () if self.project is None else self.project.corpora

    @property
    def encoders(self) -> list[str]:
        """Names of its encoders."""
        return [] if self.project is None else [encoder.name for encoder in self.project.encoders]

    def use(self, folder: Path, named: str | None) -> Path:
        """Keep the run of an encoder, and warn if it replaces a current run that is gone.

        Args:
            folder: folder of the encoder.
            named: what the user named; a run that is named by its id is used anyway. None if the project chose.

        Returns:
            The folder.
        """
        keep(folder)
        if self.runs is None or not folder.resolve().is_relative_to(self.runs.resolve()):
            return folder
        run = folder.parent.resolve()
        meant = {named} if named is not None else {encoder_name(run), *self.encoders}
        refused = ", which was not promoted" if was_refused(run) else ""
        for name, gone in gone_runs(self.runs).items():
            if name in meant:
                warn(
                    f"The current run of the encoder {name!r}, {gone.run}, is gone; {run_id(self.runs.resolve(), run)} "
                    f"is used{refused}. `facetflow status` says what to do."
                )
        return folder
