"""The tables of a store that holds what some ingests gave, as ingest needs to know them."""

import polars as pl

from features.ingest.building import Ingested
from features.ingest.known import KNOWN


def stored(*parts: Ingested) -> list[pl.DataFrame]:
    """Return sentences, pairs and labels."""
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
