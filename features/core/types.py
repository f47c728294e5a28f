"""The vocabulary: the names that the whole project uses, with their types.

sentence ──┐
           ├── pair ── metrics          entity   a sentence or a pair; its id never changes
sentence ──┘                            shard    a fixed group of entities, born at ingest
   │                                    stage    a pure function from shard to shard
   └── amr, dependencies, embeddings    reject   an entity that a stage could not process
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Literal, NewType

SentenceId = NewType("SentenceId", str)
"""20 hexadecimal digits: hash of the normalised text (`features.sentences.sentence_id`)."""
PairId = NewType("PairId", str)
"""20 hexadecimal digits: hash of corpus, split, kind, both sentences and occurrence (`features.ids`)."""
LabelId = NewType("LabelId", str)
"""20 hexadecimal digits: hash of corpus, split, text, aspect, label or occurrence (`features.sentences.label_id`)."""
Shard = NewType("Shard", str)
"""Name of a shard: `sentences-00000`, `pairs-00000` or `labels-00000`."""
Fingerprint = NewType("Fingerprint", str)
"""`<identity>-<inputs>`, 12 hexadecimal digits each: recipe and inputs (`features.store.fingerprints`)."""

PairKind = Literal["positive", "negative", "neighbour"]
Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")


class RejectCode(StrEnum):
    """Why a row could not be processed. Codes are stable: scripts count them. New ones are added at the end."""

    EMPTY_SENTENCE = "empty_sentence"
    SENTENCE_TOO_LONG = "sentence_too_long"
    BAD_SCORE = "bad_score"
    BAD_LABEL = "bad_label"
    WRONG_COLUMNS = "wrong_columns"
    BAD_ENCODING = "bad_encoding"
    UNBALANCED_PENMAN = "unbalanced_penman"
    BAD_PENMAN = "bad_penman"
    NO_GRAPH = "no_graph"
    PARSER_FAILED = "parser_failed"
    MISSING_PARSE = "missing_parse"
    TOO_MANY_NODES = "too_many_nodes"
    LEAKED = "leaked"
    METRIC_FAILED = "metric_failed"
    UNKNOWN_WORDS = "unknown_words"
    NO_LABEL = "no_label"
    JOINS_SPLITS = "joins_splits"


LEFT_OUT: frozenset[str] = frozenset({RejectCode.LEAKED, RejectCode.JOINS_SPLITS})
"""Codes of correct rows that were left out for the sake of evaluation: no limit counts them."""


OnRows = Callable[[int, int], None]
"""Called with the number of finished rows and of all rows."""


def ignore_rows(_done: int, _total: int) -> None:
    """Ignore the progress."""
