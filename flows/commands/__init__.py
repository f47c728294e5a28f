"""The commands of `facetflow`; `flows.command_line` lists them with their files."""
