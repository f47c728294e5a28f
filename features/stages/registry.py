"""The stages, in an order in which they can be made.

sentences ─┬─ amr ── label_vectors ─┐
           ├─ dependencies          ├─ metrics
           ├─ srl                   │
           └─ embeddings            │
pairs ──────────────────────────────┘
"""

from collections.abc import Mapping
from typing import Any

from features.stages.amr import AMR_STAGE
from features.stages.dependencies import DEPENDENCY_STAGE
from features.stages.embeddings import EMBEDDING_STAGE
from features.stages.label_vectors import LABEL_VECTOR_STAGE
from features.stages.metrics import METRIC_STAGE
from features.stages.srl import SRL_STAGE
from features.stages.stage import Stage

STAGES: Mapping[str, Stage[Any]] = {
    stage.name: stage
    for stage in (
        AMR_STAGE,
        DEPENDENCY_STAGE,
        SRL_STAGE,
        EMBEDDING_STAGE,
        LABEL_VECTOR_STAGE,
        METRIC_STAGE,
    )
}
