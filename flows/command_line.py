"""The console script `facetflow`: finds commands, and turns every error into one sentence.

exit code 0   done
          1   an error; nothing was changed that a later run could not go on from
          2   partly done: some shards failed (`facetflow status` lists them)
"""

import importlib
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from features.errors import FacetflowError
from flows.options import with_common_options
from flows.terminal import Verbosity, set_verbosity

COMMANDS: dict[str, str] = {
    "new": "Write a commented project file into a new folder.",
    "build": "Bring the feature store up to date and publish a release.",
    "plan": "Show what a build would do, and why.",
    "status": "Show what the store holds and how the last build ended.",
    "retry": "Run the shards again that failed in the last build.",
    "rejects": "Show the rows that were rejected: file, line, code, text.",
    "verify": "Check that the files of the store are what was written.",
    "train": "Train an encoder on a release of the store.",
    "evaluate": "Evaluate an encoder on pairs and on human ratings.",
    "explain": "Say in which facets two sentences agree and differ.",
    "measure": "Measure pairs of AMR graphs or sentences.",
    "align": "Say which nodes and triples of pairs of AMR graphs match.",
    "score": "Score parsed graphs, or a tagger, beside gold ones.",
    "parse": "Parse sentences into graphs, trees or semantic roles.",
    "report": "Show the scores of an encoder, and write its report again.",
    "models": "List, pull and verify pretrained models.",
    "up": "Run server, worker and schedule on this machine.",
    "down": "End what `up` runs.",
    "deploy": "Register the project on a Prefect server of yours.",
    "gc": "Delete files that no release of the store needs.",
}
"""The commands in the order of use, with the line that `--help` shows, so that the list needs no import."""

PROJECT_FILE = Path("facetflow.toml")
"""The project file where no other is named."""


class LazyGroup(click.Group):
    """A group that imports a command when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import `flows.commands.<name>` and return its command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"flows.commands.{cmd_name}"), cmd_name)
        return with_common_options(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="facetflow")
@click.pass_context
def cli(context: click.Context) -> None:
    """Build explainable sentence embeddings: parse, measure, store, train, evaluate."""
    if context.obj is None:
        context.obj = PROJECT_FILE


with_common_options(cli)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    # A request to end is an exception like an interrupt, so that servers and clusters are stopped on the way out.
    signal.signal(signal.SIGTERM, _end)
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: words of the command line; those of the process when None.

    Returns:
        The exit code: 0 done, 1 error, 2 partly done; 128 + the number of a signal that ended it.
    """
    set_verbosity(Verbosity.NORMAL)
    try:
        result: Any = cli.main(args=arguments, standalone_mode=False)
    except FacetflowError as error:
        return _fail(str(error))
    except click.ClickException as error:
        return _fail(error.format_message(), usage=True)
    except (click.Abort, KeyboardInterrupt):
        return _fail("Interrupted; what was committed is kept, and the same command goes on from there.", code=130)
    except BrokenPipeError:
        # The reader of our output has gone, as in `facetflow status | head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 (the last resort: a user sees a sentence, the log has the rest)
        return _fail(_unexpected(error))
    return result if isinstance(result, int) else 0


def _fail(sentence: str, *, code: int = 1, usage: bool = False) -> int:
    hint = " (see facetflow --help)" if usage else ""
    click.echo(f"facetflow: {sentence}{hint}", err=True)
    return code


def _unexpected(error: Exception) -> str:
    """Write the traceback to a file of its own and return the sentence that names it."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="facetflow-error-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        log.write("".join(traceback.format_exception(error)))
    reason = str(error).strip().splitlines()
    return f"Unexpected {type(error).__name__}{f': {reason[0]}' if reason else ''}; the traceback is in {log.name}."


def _end(number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
