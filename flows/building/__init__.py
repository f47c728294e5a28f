"""A build from inside: who may write, what there is to do, and how shards are made and committed."""
