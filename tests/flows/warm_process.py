"""Run one facetflow command after another in one process: a script that a fixture starts.

A separate process for each would spend most of its time on imports, and restart the process that workers are copied
from. It reads one command per line from standard input, `{"folder": …, "arguments": […], "output": …}`, writes what the
command says to the file `output`, and answers with its exit code.
"""

import json
import os
import sys
import traceback

from flows.command_line import run


def main() -> None:
    """Run commands until there are no more."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    lines = os.fdopen(os.dup(0))
    os.dup2(nothing, 0)
    for line in lines:
        asked = json.loads(line)
        os.chdir(asked["folder"])
        output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        try:
            code = run(asked["arguments"])
        except BaseException:  # noqa: BLE001 (a separate process would end with it)
            traceback.print_exc()
            code = 1
        sys.stdout.flush()
        sys.stderr.flush()
        answers.write(f"{code}\n")


if __name__ == "__main__":
    main()
