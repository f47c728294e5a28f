"""Small ingests: tables to read, what a store would hold after some, and the pairs of one."""

import polars as pl

from features.corpora.settings import CorpusSettings, IngestSettings, LeakageSettings
from features.ingest.building import Ingested, ingest
from features.ingest.known import KNOWN, Known
from features.schemas import PAIRS


def write(path, rows, header="sentence_a\tsentence_b\tscore") -> None:
    """Write rows as a tab-separated table."""
    path.write_text("\n".join([header, *("\t".join(map(str, row)) for row in rows)]) + "\n", encoding="utf-8")


def stored(*parts: Ingested) -> list[pl.DataFrame]:
    """Return the sentences, pairs and labels of a store that holds what some ingests gave."""
    return [
        pl.concat(
            [
                pl.DataFrame(schema=columns),
                *(
                    rows.with_columns(shard=pl.lit(shard)).select(list(columns))
                    for part in parts
                    for shard, rows in part.tables[table].items()
                ),
            ]
        )
        for table, columns in KNOWN.items()
    ]


def run(base, *corpora, known=(), leakage=None, admits=None, spellings="together", **settings) -> Ingested:
    """Ingest corpora of a folder, by default p.tsv as train, into a store that holds what some ingests gave."""
    corpora = corpora or (CorpusSettings(dataset="pairs", files={"train": "p.tsv"}),)
    sizes, known = IngestSettings(**settings), Known(*stored(*known))
    return ingest(corpora, leakage or LeakageSettings(), sizes, base, known, admits=admits, spellings=spellings)


def pairs_of(ingested: Ingested) -> pl.DataFrame:
    """Return all pairs of an ingest."""
    return pl.concat([pl.DataFrame(schema=PAIRS), *ingested.tables["pairs"].values()])
