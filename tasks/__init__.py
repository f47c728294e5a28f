"""One shard of one stage: thin Prefect tasks, each over one pure call."""
