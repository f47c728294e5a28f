"""What a Prefect server shows of a run: progress, shards, quality, scores, and links to the pages.

    refresh            progress · shards · rejected rows · the page
    train_encoder      how the training went
    evaluate_encoder   scores · the report

Keys contain the project, and the encoder if there is one, because a server keeps a history per key and serves any
number of projects.
"""

import re
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from features.core.types import LEFT_OUT
from features.core.wording import counted
from flows.pages.build_facts import FactKeeper
from flows.project import Project
from flows.server.outbox import Artifact, Outbox
from flows.watching.shard_history import ENDED, ShardHistory
from training.evaluation.run import REPORT_FILE
from training.evaluation.seen import tell_choice
from training.evaluation.suites import score_tables
from training.runs import METRICS_FILE, PER_SECOND, encoder_name, run_id, training_of
from training.writing import read_json

SHOWN_SHARDS = 500
"""Maximum rows of the table of shards: a server sends all of them to every viewer."""
SHARDS_EVERY = 15.0
"""Seconds between two updates of the table of shards; progress is shown more often."""
_ORDER = {"failed": 0, "left out": 1, "running": 2}


class BuildArtifacts:
    """Shows a build while it runs."""

    def __init__(self, outbox: Outbox, facts: FactKeeper) -> None:
        self._outbox = outbox
        self._facts = facts
        self._name = facts.facts.project
        self._share: float | None = None
        self._shards_shown = 0.0

    def look(self, *, ended: bool = False) -> None:
        """Show the progress of the build; called a few times a second."""
        if not self._outbox.open or not (shards := self._facts.history.values()):
            return
        share = round(100 * self._facts.history.share, 1)
        if ended or share != self._share:
            self._share = share
            self._outbox.show(_progress(self._name, share, shards))
        if ended or time.monotonic() - self._shards_shown >= SHARDS_EVERY:
            self._shards_shown = time.monotonic()
            self._outbox.show(_shards(self._name, shards, ended=ended))

    def end(self) -> None:
        """Show how the build ended."""
        self.look(ended=True)
        if self._facts.facts.quality:
            self._outbox.show(_quality(self._name, self._facts.facts.quality))
        self._outbox.show(link("build", self._name, self._facts.page))


def show_training(settings: Project, encoder: Path) -> Iterator[Artifact]:
    """Yield the artifacts of a finished training, from the folder of its encoder."""
    course, name = training_of(encoder), encoder_name(encoder.parent)
    named = {
        "steps": "steps",
        "best_step": "step that was kept",
        "seconds": "seconds",
        **{key: f"{key.removesuffix(PER_SECOND)} a second" for key in course if key.endswith(PER_SECOND)},
    }
    chosen = tell_choice(course) or "nothing that is known"
    rows = [
        {"": "run", "value": run_id(settings.runs, encoder.parent)},
        *({"": f"dev {score}", "value": _short(value)} for score, value in (course.get("dev") or {}).items()),
        *({"": words, "value": _short(course[key])} for key, words in named.items() if key in course),
    ]
    about = f"Encoder `{name}` of `{settings.name}` in `{encoder}`; chosen by {chosen}."
    yield Artifact(_key("training", f"{settings.name} {name}"), "table", rows, about)


def show_evaluation(settings: Project, scores: Path) -> Iterator[Artifact]:
    """Yield the artifacts of an evaluation, from the file of its scores; only a complete evaluation has a report."""
    folder = scores.parent
    owner = f"{settings.name} {encoder_name(folder)}"
    for number, table in enumerate(score_tables(read_json(scores))):
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        yield Artifact(
            _key("scores" if not number else f"scores-{number + 1}", owner),
            "table",
            rows,
            f"`{settings.name}`, run `{run_id(settings.runs, folder)}`: {table.title}\n\n{table.note}",
        )
    if scores.name == METRICS_FILE:
        yield link("report", owner, folder / REPORT_FILE)


def link(kind: str, owner: str, page: Path) -> Artifact:
    """Return a link to the page of a build or a report; `owner` is the project, and the encoder if it is about one."""
    text = (
        f"[{page.name}]({page.resolve().as_uri()}) of `{owner}`\n\n    {page}\n\n"
        "A browser follows this link only on the machine of the run, and some only if it is typed as an address."
    )
    return Artifact(_key(f"{kind}-page", owner), "markdown", text, f"The page of this {kind}.")


def _progress(project: str, share: float, shards: Collection[ShardHistory]) -> Artifact:
    states: Counter[str] = Counter(shard.state for shard in shards)
    text = f"{sum(states[state] for state in ENDED):,} of {len(shards):,} shards have ended, counted by rows"
    text += f"; {states['failed']:,} failed" if states["failed"] else ""
    text += f", {states['left out']:,} left out" if states["left out"] else ""
    return Artifact(_key("build-progress", project), "progress", share, f"`{project}`: {text}")


def _shards(project: str, shards: Collection[ShardHistory], *, ended: bool) -> Artifact:
    ordered = sorted(shards, key=lambda shard: (_ORDER.get(shard.state, 3), -(shard.seconds or 0.0)))
    rows = [
        {
            "stage": shard.stage,
            "shard": shard.shard,
            "rows": shard.rows,
            "rejected": "" if shard.rejects is None else shard.rejects,
            "seconds": "" if shard.seconds is None else round(shard.seconds, 1),
            "worker": shard.attempts[-1].worker if shard.attempts else "",
            "state": shard.state,
            "reason": shard.error.partition("\n")[0] or shard.why,
        }
        for shard in ordered[:SHOWN_SHARDS]
    ]
    count = f"{len(rows):,} of {len(shards):,} shards" if len(rows) < len(shards) else counted(len(shards), "shard")
    when = "as the build ended" if ended else f"as of {datetime.now(UTC):%H:%M:%S} UTC, while it ran"
    return Artifact(
        _key("build-shards", project),
        "table",
        rows,
        f"`{project}`: {count} that this build was to make, {when}; failed ones first, then the longest.",
    )


def _quality(project: str, quality: Sequence[Mapping[str, Any]]) -> Artifact:
    rows = [
        {
            "stage": entry["stage"],
            "code": code,
            "rows": entry["rows"],
            "rejected": count,
            "share": f"{count / entry['rows']:.2%}" if entry["rows"] else "",
            "limit": f"{entry['limit']:.1%}",
        }
        for entry in quality
        for code, count in {"all": entry["rejected"], **entry["codes"]}.items()
    ]
    about = (
        "rejected rows of the whole store by stage and code; the limit applies to all codes of a stage together, "
        f"not counting rows left out for the sake of evaluation ({', '.join(sorted(LEFT_OUT))})."
    )
    return Artifact(_key("build-quality", project), "table", rows, f"`{project}`: {about}")


def _key(kind: str, project: str) -> str:
    ascii_name = project.lower().encode("punycode").decode()  # equal for ASCII, distinct for other letters
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', ascii_name)}".strip("-")


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value
