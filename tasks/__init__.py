"""One shard of one stage: thin Prefect tasks, each around one pure call."""
