"""When and where things run: Prefect flows, the command line, the choice of cluster."""
