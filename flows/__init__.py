"""When and where: Prefect flows, the command line, the choice of cluster."""
