"""Which encoder is used for a search: a named one, the one trained for an aspect, or the one in use.

--aspect country                     the encoder of the project that was trained for it, or has a route for it
--encoder companies                  an encoder of the project, or one of its runs
--encoder ./folder, all-MiniLM-L6-v2 any other encoder
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from features import models
from features.core.errors import ModelError
from features.core.faults import NoEncoder, NoEncoderForAspect, NotThisModel, UnknownModel, WrongRoute
from features.core.wording import did_you_mean
from training.encoders.loading import routes_in
from training.evaluation.promotion import encoder_in_use, encoder_in_use_with
from training.kinds import KINDS
from training.runs import (
    CURRENT,
    ENCODER,
    all_runs,
    encoder_name,
    finished_encoders,
    gone_link,
    is_finished,
    newest,
    no_training,
    run_id,
    runs_named,
    training_of,
)
from training.span_weights import MODULES_FILE


@dataclass(frozen=True, slots=True)
class Chosen:
    """The encoder of a search: its folder, its route (None for an encoder without routes), and its display name."""

    folder: Path
    task: str | None
    name: str


def choose_encoder(
    runs: Path | None,
    name: str | None,
    aspect: str | None,
    among: Collection[str] = (),
    for_aspect: Collection[str] = (),
) -> Chosen:
    """Return the encoder of a search: the named one, the one for the aspect, or the one in use.

    Without a name, an aspect and a trained encoder, that is the one that comes with facetflow. Encoders `among` those
    of the project go before others in `runs`; some of those `for_aspect` may have no training yet.
    """
    if name is not None or aspect is None:
        folder, shown = named_or_in_use(runs, name, among)
        return Chosen(folder, task_of(folder, aspect), shown)
    if runs is None:
        raise NoEncoder("There is no project here with an encoder for an aspect: give --encoder or --project.")
    current = {name: encoder_in_use(runs, name) for name in finished_encoders(runs)}
    aspects = {name: aspects_of(folder) for name, folder in current.items()}
    fitting = [name for name, trained_for in aspects.items() if aspect in trained_for]
    fitting = [name for name in fitting if name in among] or fitting
    if len(fitting) > 1:
        raise NoEncoderForAspect(
            f"Several encoders were trained for the aspect {aspect!r}: {', '.join(fitting)}. Choose one with --encoder."
        )
    if not fitting:
        trained = [f"{name} for {' and '.join(trained_for)}" for name, trained_for in aspects.items() if trained_for]
        there_are = f"there are: {'; '.join(trained)}" if trained else "none was trained for an aspect"
        runs_for = [run for run in all_runs(runs) if is_finished(run) and aspect in aspects_of(run / ENCODER)]
        if runs_for:
            unused = run_id(runs, newest(runs_for))
            raise NoEncoderForAspect(
                f"No encoder in use was trained for the aspect {aspect!r}; {there_are}. {unused} was, but was not "
                f"promoted: search with --encoder {unused}, or promote it (`facetflow evaluate {unused} --promote`)."
            )
        untrained = [name for name in for_aspect if name not in current]
        if untrained:
            raise NoEncoderForAspect(
                f"No encoder of the project was trained for the aspect {aspect!r}; {there_are}. The project file has "
                f"{', '.join(untrained)} for it, but no finished training: `facetflow train {' '.join(untrained)}` "
                "makes one."
            )
        raise NoEncoderForAspect(
            f"No encoder of the project was trained for the aspect {aspect!r}; {there_are}. Train one ([[encoders]] "
            "with that aspect), or name any encoder with --encoder and leave --aspect out."
        )
    return Chosen(current[fitting[0]], task_of(current[fitting[0]], aspect), fitting[0])


def named_or_in_use(
    runs: Path | None,
    name: str | None,
    among: Collection[str] = (),
    with_file: str = "",
    bundled: str = models.BUNDLED_ENCODER,
) -> tuple[Path, str]:
    """Return the folder and the name of an encoder, whatever its routes: as `choose_encoder` without an aspect.

    One that is not named has a file, if one is given, or is the `bundled` one, which comes with facetflow.
    """
    if name is not None:
        return named_encoder(runs, name, among), name
    folder = runs and encoder_in_use_with(runs, lambda at: (at / with_file).exists(), among)
    if folder is None:
        return models.locate(bundled), bundled
    return folder, encoder_name(folder.parent)


def aspects_of(folder: Path) -> tuple[str, ...]:
    """Return the aspects that an encoder can search by, one at a time; none for one that was trained for none.

    One without routes that was trained on several aspects together has none of them alone.
    """
    routes = routes_in(folder)
    learnt = _learnt(folder)
    return routes or (learnt if len(learnt) == 1 else ())


def task_of(folder: Path, aspect: str | None) -> str | None:
    """Return the route of an encoder for an aspect; None for an encoder without routes."""
    routes, learnt = routes_in(folder), _learnt(folder)
    if routes:
        if aspect in routes:
            return aspect
        asked = "choose one by --aspect (in Python: aspect=)" if aspect is None else f"there is none for {aspect!r}"
        raise WrongRoute(f"The encoder {str(folder)!r} has a route for each of {', '.join(routes)}: {asked}.")
    if aspect is None or learnt == (aspect,):
        return None
    purpose = f"for {' and '.join(learnt)}" if learnt else "for no aspect"
    raise WrongRoute(
        f"The encoder {str(folder)!r} was trained {purpose}, not for {aspect!r}; leave the aspect out, or name another "
        "encoder."
    )


def _learnt(folder: Path) -> tuple[str, ...]:
    training = training_of(folder)
    settings = training.get("settings", {})
    kind = KINDS.get(settings.get("kind", ""))
    # Where the texts had only one aspect, the settings need not name it.
    of_texts = kind is not None and kind.learns_from == "texts"
    return tuple(settings.get("aspects") or (training.get("labels", ()) if of_texts else ()))


def named_encoder(runs: Path | None, name: str, among: Collection[str] = ()) -> Path:
    """Return the folder of an encoder or a run of a project, of a pulled model, or of any encoder."""
    if runs is not None and (runs_named(runs, name) or gone_link(runs, name) is not None):
        return encoder_in_use(runs, name)
    given = Path(name).expanduser()
    for folder in (given / ENCODER, given):
        if (folder / MODULES_FILE).is_file():
            # `current` may lead to another run while this one is read.
            return folder.resolve() if given.is_symlink() or given.parent.is_symlink() else folder
    if given.is_dir():
        raise NotThisModel(
            f"{name!r} holds no encoder (there is no {MODULES_FILE}); give the folder of an encoder, or of the run "
            "that trained it."
        )
    if given.name == CURRENT and given.parent.name and given.parent.is_dir():
        raise NoEncoder(
            f"{name!r} leads to no run: name a run, or promote one: `facetflow evaluate {given.parent.name} --promote`."
        )
    try:
        return models.locate(name)
    except ModelError as error:
        if runs is not None and name in among:
            raise no_training(runs, name) from error
        finished = finished_encoders(runs) if runs is not None else []
        if name in models.MODELS or not (finished or isinstance(error, UnknownModel)):
            raise
        known = finished or [each.name for each in models.MODELS.values() if each.kind == "sentence encoder"]
        there_are = did_you_mean(name, known, f"there are: {', '.join(known)}")
        raise UnknownModel(
            f"{name!r} is not an encoder, a folder or a model; {there_are}. Pull one from the Hub first: `facetflow "
            "models pull owner/name`."
        ) from error
