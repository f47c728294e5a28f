"""The commands of `facetflow`, one file each: `flows/commands/<name>.py` holds the click command `<name>`."""
