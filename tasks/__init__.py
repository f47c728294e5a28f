"""One shard of one stage: a thin Prefect task around one pure call."""
