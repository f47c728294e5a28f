"""What a build and a comparison leave for people to read: pages, facts, and artifacts on a Prefect server."""
