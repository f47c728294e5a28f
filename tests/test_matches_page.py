"""docs/howto/matches.md: its example runs, prints the output shown, and matches its picture."""

import re
from pathlib import Path

import pytest


@pytest.fixture
def example(root: Path) -> str:
    (code,) = re.findall(r"```python\n(.*?)```", (root / "docs/howto/matches.md").read_text(), re.DOTALL)
    return code


def test_the_example_prints_what_the_page_says_and_draws_its_picture(
    example: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, str] = {}
    exec(example, names)  # noqa: S102  # the page's own code
    printed = capsys.readouterr().out.strip()
    assert f"prints `{printed}`" in (root / "docs/howto/matches.md").read_text()
    assert (root / "docs/howto/matches.svg").read_text() == names["svg"] + "\n"
