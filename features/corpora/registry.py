"""The datasets that facetflow knows, by name: the records of `datasets.toml`."""

import tomllib
from pathlib import Path
from typing import Any

from features.corpora.dataset import Dataset


def _records() -> dict[str, Dataset]:
    records: dict[str, dict[str, Any]] = {}
    for name, own in tomllib.loads(Path(__file__).with_name("datasets.toml").read_text("utf-8")).items():
        records[name] = {**records.get(own.pop("like", ""), {}), **own, "name": name}
    return {name: Dataset(**record) for name, record in records.items()}


DATASETS = _records()
