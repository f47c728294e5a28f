"""How far a build, or a command on a file, has come: by stage, by shard and over time."""
