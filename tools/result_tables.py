"""Write the tables of measurements into the pages that show them: python tools/result_tables.py.

A table is a CSV file in docs/results. Its first line is the command that measured it. A page shows it below a comment:

    <!-- table: s3bert_facets.csv -->
    | facet | SB-full | …

Pages in docs/results show the command, too, unless it is that of the table above.
"""

import csv
import re
from pathlib import Path

from training.markdown import table

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "results"
SHOWN = re.compile(r"(?<=<!-- table: )(\S+) -->\n(?:`.*`\n\n)?(?:\|.*\n)*")
"""A comment with the name of a table, and what stands below it."""


def pages() -> list[Path]:
    """Return the pages that may show tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def with_tables(page: Path) -> str:
    """Return the text of a page with its tables as the files have them."""
    above = ""

    def below(comment: re.Match[str]) -> str:
        nonlocal above
        command, *lines = (RESULTS / comment[1]).read_text(encoding="utf-8").splitlines()
        header, *rows = csv.reader(lines)
        made_by = f"`{command.removeprefix('# ')}`\n\n" if page.parent == RESULTS and command != above else ""
        above = command
        return f"{comment[1]} -->\n{made_by}{table(header, rows)}\n"

    return SHOWN.sub(below, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path in pages():
        path.write_text(with_tables(path), encoding="utf-8")
