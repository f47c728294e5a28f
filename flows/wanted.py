"""What is wanted of a store, and the stages that follow: no stage makes what nobody reads.

An encoder wants the tables that its training reads, for the corpora that it is trained on. `enabled = true` in the
section of a stage requests its table for all corpora, for other readers of the store; `enabled = false` switches the
stage off, and with it what only it would read.
"""

from collections.abc import Mapping, Sequence

from features.core.faults import Conflict
from features.corpora.settings import CorpusSettings
from features.stages.registry import STAGES
from features.store.scope import Reading, Wanted
from training.encoders.settings import EncoderSettings
from training.kinds import tables_of

Switches = Mapping[str, bool | None]
"""Stage → its switch in the project file: True forces it on, False off, None leaves it to the encoders."""


def read_by(encoder: EncoderSettings, corpora: Sequence[CorpusSettings]) -> Wanted:
    """Return what the training of an encoder reads: by default of those of a project's corpora that it can learn from.

    Texts with labels have no pairs: they are not parsed for encoders of pairs, nor are these trained again for them.
    """
    tables = tables_of(encoder)
    own = tuple(corpus.name for corpus in corpora if corpus.record.has_texts == ("pairs" not in tables))
    return Wanted(tables, encoder.corpora or own or (("",) if corpora else ()))  # "" names no corpus; () are all


def stages_of(
    wanted: Sequence[Wanted], switches: Switches, reads_also: Mapping[str, tuple[str, ...]] | None = None
) -> list[Reading]:
    """Return the stages of a build, in an order in which they can be made, with the tables that they read.

    These are the stages that are wanted and not switched off; `reads_also` has stage → tables that it reads only with
    the settings of this project.
    """
    off = switched_off(switches)
    needed = {table for reader in wanted for table in reader.tables} - off
    stages: list[Reading] = []
    for stage in reversed([*STAGES.values()]):
        if stage.name not in needed:
            continue
        reads = (*stage.reads, *(reads_also or {}).get(stage.name, ()))
        if lacking := [table for table in reads if table in off]:
            raise Conflict(
                f"[{stage.name}] reads {lacking[0]!r}, which the project file switches off: remove `enabled = false` "
                f"from [{lacking[0]}], or set it in [{stage.name}] too."
            )
        needed |= set(reads)
        stages.append(Reading(stage.name, stage.over, reads))
    return stages[::-1]


def switched_off(switches: Switches) -> frozenset[str]:
    """Return the stages that a project file switches off, and those without a switch that only these read."""
    off = {name for name, switch in switches.items() if switch is False}
    for name, stage in reversed([*STAGES.items()]):
        readers = {other.name for other in STAGES.values() if name in other.reads}
        if "enabled" not in stage.settings.model_fields and readers and readers <= off:
            off.add(name)
    return frozenset(off)
