"""Set-ups of the tests of files of graphs."""

import pytest


@pytest.fixture
def write(tmp_path):
    def write(name, *blocks):
        (tmp_path / name).write_text("".join(blocks))
        return tmp_path / name

    return write
