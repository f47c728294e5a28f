"""The console script `facetflow`: finds commands and turns every error into one sentence.

exit code 0      done
          1      an error; a later run can always continue from the state left behind
          2      partly done: what failed, such as shards, trainings or rows, is named
          128+n  ended by the signal n
"""

import atexit
import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from features.core.errors import PartlyDoneError
from flows.console.failures import fault_of
from flows.console.options import COMMON, PROJECT_FILE
from flows.server.passwords import without_passwords
from flows.terminal import Verbosity, count_json, set_verbosity, show_controls, warn, write_json

COMMANDS: dict[str, tuple[str, str]] = {
    "new": ("new", "Write a commented project file."),
    "schema": ("new", "Write the JSON schema of the project file."),
    "refresh": ("build", "Build, then train, evaluate and promote what is due."),
    "build": ("build", "Bring the store up to date and publish a release."),
    "plan": ("build", "Show what a refresh would do, and why."),
    "status": ("status", "Show the store and how the last build ended."),
    "retry": ("build", "Rerun the shards that failed."),
    "rejects": ("status", "Show the rows that were rejected, and why."),
    "diff": ("status", "Show the differences between two releases."),
    "verify": ("gc", "Check the files of the store."),
    "train": ("train", "Train encoders on a release."),
    "evaluate": ("train", "Score encoders on pairs, texts and human ratings."),
    "runs": ("runs", "List trainings and their results."),
    "compare": ("runs", "Show the scores of two encoders side by side."),
    "explore": ("explain", "Open pairs, texts, runs and tables in a browser."),
    "explain": ("explain", "Show what two sentences have in common and what not."),
    "predict": ("predict", "Predict the labels of sentence pairs."),
    "search": ("search", "Find the texts most similar to a given text."),
    "neighbours": ("search", "Find the most similar texts for each text of a file."),
    "encode": ("encode", "Write the embeddings of a file of texts."),
    "facets": ("encode", "Give facets to vectors of the start model."),
    "measure": ("measure", "Measure pairs of AMR graphs."),
    "align": ("measure", "Show what matches in pairs of AMR graphs."),
    "score": ("score", "Score parsed graphs, or a tagger, against gold data."),
    "contrast": ("contrast", "Edit sentences into pairs that differ in one point."),
    "parse": ("parse", "Parse sentences into graphs, trees or semantic roles."),
    "report": ("runs", "Show the scores of an encoder; rewrite its report."),
    "publish": ("models", "Write an encoder as a folder for a model hub."),
    "models": ("models", "List, pull and verify pretrained models."),
    "up": ("up", "Run a server, a worker and the schedule here."),
    "down": ("up", "Stop what `up` started."),
    "deploy": ("up", "Register the project on your own Prefect server."),
    "gc": ("gc", "Delete files that no release needs."),
}
"""The commands in order of use, with their file in `flows.commands` and the line of `--help`: listing imports none."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "new": ("facetflow new my-project --kind aspect", "facetflow new example --example"),
    "build": ("facetflow build --dask-address tls://scheduler:8786",),
    "plan": ("facetflow plan --explain",),
    "diff": ("facetflow diff 3 7 --json",),
    "retry": ("facetflow retry --failed",),
    "train": ("facetflow train s3bert --release 2 --seeds 5",),
    "evaluate": ("facetflow evaluate s3bert --suite ratings",),
    "compare": (
        "facetflow compare twin syntax --html differences.html",
        "facetflow compare s3bert/00001-4f1c9a s3bert/00002-4f1c9a",
    ),
    "explore": ("facetflow explore --texts notes.txt",),
    "explain": (
        'facetflow explain "two cats look" "a cat looks"',
        "facetflow explain --pairs pairs.tsv --html pairs.html",
    ),
    "predict": (
        "facetflow predict pairs.tsv -o labels.tsv",
        "facetflow predict questions.csv --columns question1 question2 --encoder duplicates -o labels.parquet",
    ),
    "search": (
        'facetflow search "stochastic gradient methods" --aspect task',
        'facetflow search "a bank in Paris" --among companies.tsv --text name --text description -k 5',
    ),
    "neighbours": ("facetflow neighbours companies.tsv --aspect country -o neighbours.tsv",),
    "encode": (
        "facetflow encode reviews.tsv -o vectors.parquet",
        "facetflow encode reviews.tsv -o facets.parquet --facets --precision float16",
    ),
    "facets": ("facetflow facets of-the-start-model.parquet -o with-facets.parquet",),
    "measure": ("facetflow measure first.amr second.amr -o scores.tsv",),
    "align": ("facetflow align first.amr second.amr -o pairs.html",),
    "score amr": ("facetflow score gold.amr parsed.amr --metrics smatch,srl",),
    "score srl": ("facetflow score srl gold.conll",),
    "contrast": ("facetflow contrast sentences.txt -o contrasts.tsv",),
    "parse amr": ("facetflow parse amr sentences.txt -o graphs.amr",),
    "parse dependencies": ("facetflow parse dependencies sentences.txt -o trees.conllu",),
    "parse srl": ("facetflow parse srl sentences.txt -o roles.jsonl",),
    "publish": ("facetflow publish --encoder s3bert --name me/my-encoder -o published",),
    "models pull": ("facetflow models pull all-MiniLM-L12-v2",),
    "up": ('facetflow up --cron "0 3 * * *"',),
    "deploy": ('facetflow deploy --cron "0 3 * * *"',),
    "gc": ("facetflow gc --runs --older-than 30d --dry-run",),
}
"""Examples at the end of a command's help: command → lines to type, quoted for a shell."""

RESUMED = ("refresh", "build", "retry", "train")
"""Commands that continue where they were interrupted."""

PROGRAM = "facetflow"
_OBJECTS_A_COLLECTION = 200_000


class LazyGroup(click.Group):
    """A group of commands with only a name and a line of help, which are imported when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in order of use."""
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the file of a command and return the command."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None:
            file = importlib.import_module(f"flows.commands.{COMMANDS[name][0]}")
            command = _completed(getattr(file, name), name)
        return name, command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; report what an interrupt leaves behind, and end quietly when the reader has gone."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            resumed = "what was committed is kept, and the same command continues from there"
            usual = f"Interrupted; {resumed if ctx.invoked_subcommand in RESUMED else 'run it again'}."
            warn("")  # after the ^C of the terminal
            warn(f"{PROGRAM}: {str(interrupt) or usual}")  # some say themselves what is left
            return 128 + signal.SIGINT
        except BrokenPipeError:  # the reader of our output has gone, as in `facetflow status | head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except EOFError as error:  # as of a worker that dies while it starts; click would take it for an interrupt
            raise fault_of(error) from error


@click.command(
    cls=LazyGroup,
    commands={name: click.Command(name, short_help=line) for name, (_, line) in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.version_option(package_name="facetflow")
@click.pass_context
def cli(context: click.Context) -> None:
    """Build explainable sentence embeddings: parse, measure, store, train, evaluate."""
    if context.obj is None:
        context.obj = PROJECT_FILE


def _completed(command: click.Command, path: str) -> click.Command:
    """Add the common options and the examples to a command and its subcommands; `path` has the names of its groups."""
    if COMMON[0] not in command.params:
        command.params.extend(COMMON)
    if path in EXAMPLES:
        title = "Example" if len(EXAMPLES[path]) == 1 else "Examples"
        # A line with only \b keeps click from refilling the paragraph.
        command.epilog = "\n".join(("\b", f"{title}:", *(f"  {line}" for line in EXAMPLES[path])))
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            _completed(below, f"{path} {name}")
    return command


cli.params.extend(COMMON)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    # PYTHONUTF8=0 and LC_ALL=C, where a path may have no umlaut; once, since -X utf8=0 would be above the environment.
    if sys.getfilesystemencoding() == "ascii" and os.environ.get("PYTHONUTF8") != "1":
        os.execve(sys.executable, sys.orig_argv, os.environ | {"PYTHONUTF8": "1"})  # noqa: S606 (this program)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed, as by `<&-`: the next file that is opened would take its place
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 (as long as the process lives)
    if os.path.expanduser("~") == "~":  # noqa: PTH111 (no HOME, and a user id that the system does not know)
        os.environ["HOME"] = "/"  # as Docker has it: libraries, too, ask for one
    # No process that follows from this one looks for modules in its working folder: a user's `tasks` would hide ours.
    os.environ["PYTHONSAFEPATH"] = "1"
    # Nor for compiled kernels, which are unpickled: a .numba_config.yaml there could name a cache of somebody else's.
    os.environ.setdefault("NUMBA_CACHE_DIR", "")
    # An empty cache is the working folder for numba; no threads are an error, of polars while it reads a store.
    for name, useless in (("XDG_CACHE_HOME", ""), ("POLARS_MAX_THREADS", "0"), ("NUMBA_NUM_THREADS", "0")):
        if os.environ.get(name) == useless:
            del os.environ[name]
    # Prefect tells its makers of its first import at a terminal, unless a variable forbids it before.
    os.environ.setdefault("DO_NOT_TRACK", "1")
    # No proxy reaches the servers of this machine, such as the one that a build starts.
    direct = os.environ.get("no_proxy", os.environ.get("NO_PROXY", ""))
    os.environ["no_proxy"] = direct if direct == "*" else f"{direct},127.0.0.1"
    # GNOME writes socks://, a scheme that Prefect's client refuses, also where no proxy is asked.
    os.environ.update({n: v.replace("socks:", "socks5:") for n, v in os.environ.items() if n.lower() == "all_proxy"})
    # Modules stay: with the usual threshold the collector looks at them 1,300 times until a model is loaded.
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    atexit.register(gc.freeze)  # else the interpreter looks for garbage as it ends, a fifth of what `status` takes
    show_controls()
    # SIGTERM becomes an exception, as an interrupt is, so that servers and clusters are stopped on the way out.
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as `nohup` has it
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default that of the words of this process.

    Returns:
        The exit code: 0 done, 1 error, 2 partly done; 128 + the number of a signal that ended it.
    """
    set_verbosity(Verbosity.NORMAL)
    before = count_json()
    try:
        result: Any = cli.main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        return run([*error.ctx.command_path.split()[1:], "--help"])
    except click.Abort:
        warn(f"{PROGRAM}: Interrupted.")
        return 128 + signal.SIGINT
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 (also a panic in Rust: the user sees one sentence, the log has the rest)
        fault = fault_of(error)
        warn(f"{PROGRAM}: {without_passwords(fault.with_code())}")
        if isinstance(fault, PartlyDoneError):  # its result is written already
            return 2
        if "--json" in (sys.argv if arguments is None else arguments) and count_json() == before:
            with suppress(OSError):  # standard output may be what is full, or its reader gone
                write_json({"error": {"code": fault.code, "message": without_passwords(str(fault))}}, indent=None)
        return 1
    return result if isinstance(result, int) else 0


def _end(number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
