from pathlib import Path

import pytest

from features.graphs.penman_files import read_blocks
from flows.command_line import run


@pytest.mark.slow
def test_a_trained_parser_parses_a_file(trained: Path, tmp_path: Path) -> None:
    sentences, output = tmp_path / "in.txt", tmp_path / "out.amr"
    sentences.write_text("The boy wants to sleep.\nThe cat does not run.\n", encoding="utf-8")
    assert run(["parse", "amr", str(sentences), "-o", str(output), "--model", str(trained)]) == 0
    graphs = [" ".join(block.text.split()) for block in read_blocks(output)]
    assert graphs == [
        "(z0 / want-01 :ARG0 (z1 / boy) :ARG1 (z2 / sleep-01 :ARG0 z1))",
        "(z0 / run-02 :ARG0 (z1 / cat) :polarity -)",
    ]
