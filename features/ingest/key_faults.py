"""Keys of JSON lines that nothing reads, in rows that lack a key that is read: perhaps the same one, misspelt.

    {"text": "We parse.", "topic": "parsing"}
    {"text": "We tag.", "topics": "tagging"}      lacks `topic`, and has `topics`, which no row with `topic` has

A row may leave out keys, so neither alone is suspicious.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from features.core.errors import InputError
from features.core.files import table_format
from features.corpora.dataset import Dataset, TableLayout, TextLayout
from features.corpora.headers import fitting_layout
from features.corpora.reading import own_record
from features.corpora.settings import CorpusSettings
from features.corpora.sources import Source, locate
from features.corpora.text_tables import named_rows
from features.corpora.texts import fitting_texts
from features.ingest.fault_reports import KeyFaultReport


def key_faults(corpora: Sequence[CorpusSettings], base: Path) -> list[KeyFaultReport]:
    """Return the keys that may be misspelt, file by file; the files have been read before, so they can be read."""
    reports = []
    for corpus in corpora:
        record = own_record(corpus)
        for source in locate(record, corpus.files, base, corpus.files_key):
            reports += _faults(corpus.name, source, _keys_read(source.path, record))
    return reports


def _keys_read(path: Path, record: Dataset) -> list[str]:
    """Return the keys that are read of a file of JSON lines; none of any other file."""
    layouts = record.layouts
    try:
        if table_format(path) != "jsonl":
            return []
    except InputError:  # files of some datasets have names without a suffix
        return []
    tables = [layout for layout in layouts if isinstance(layout, TableLayout)]
    if tables:
        return [str(column) for column in fitting_layout(path, tables).columns.values()]
    texts = [layout for layout in layouts if isinstance(layout, TextLayout) and layout.form != "label first"]
    return fitting_texts(path, texts).columns if texts else []


def _faults(corpus: str, source: Source, read: Sequence[str]) -> list[KeyFaultReport]:
    keys = frozenset(read)
    lacking: Counter[str] = Counter()
    everywhere: Counter[str] = Counter()
    beside: dict[str, Counter[str]] = {key: Counter() for key in read}
    first: dict[tuple[str, str], int] = {}
    for line, row in named_rows(source.path, "jsonl") if read else ():
        if not isinstance(row, dict):
            continue
        others = row.keys() - keys
        everywhere.update(others)
        for key in keys - row.keys():
            lacking[key] += 1
            beside[key].update(others)
            for other in others:
                first.setdefault((key, other), line)
    reports = []
    for key in dict.fromkeys(read):
        odd = {name: rows for name, rows in sorted(beside[key].items()) if rows == everywhere[name]}
        if odd and lacking[key]:
            most = max(odd, key=lambda name: odd[name])
            origin = f"{source.name}:{first[key, most]}"
            unread = dict(sorted(odd.items(), key=lambda each: -each[1]))
            reports.append(KeyFaultReport(corpus=corpus, key=key, rows=lacking[key], unread=unread, origin=origin))
    return reports
