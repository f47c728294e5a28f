"""The process of a command: what it imports, its streams and terminal, and the environment that it sets."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from features.store.store import Store

ONE_CORPUS = """\
name = "p"
[[corpora]]
dataset = "pairs"
name = "mine"
files = { train = "x.tsv" }
[[encoders]]
name = "syntax"
kind = "s3bert"
"""


HEAVY = ("prefect", "dask", "distributed", "polars", "pydantic", "torch", "deltalake", "numba", "rich")


@pytest.mark.parametrize("arguments", [["--help"], ["build", "--help"], ["plan", "--help"], ["gc", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys; from flows.command_line import run\n"
        f"code = run({arguments!r})\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded or code else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout


SLOW = ("numba", "scipy", "numpy.random", "torch", "transformers", "sklearn", "spacy", "pyarrow", "rich")
SLOW += ("prefect", "distributed", "http.client", "psutil")


@pytest.mark.parametrize("command", ["plan", "status"])
def test_a_look_at_the_store_loads_no_compiler_and_no_network(command, tmp_path):
    (tmp_path / "facetflow.toml").write_text(ONE_CORPUS)
    Store.open(tmp_path / "store", create=True)
    (tmp_path / "x.tsv").write_text("sentence_a\tsentence_b\tscore\na cat sleeps\ta cat naps\t4\n")
    code = (
        "import sys; from flows.command_line import run\n"
        f"code = run([{command!r}])\n"
        f"loaded = [name for name in {SLOW!r} if name in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded or code else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["explain", "A cat.", "A dog."], ["search", "cats", "--among", "x.txt"]])
def test_a_look_at_a_few_texts_does_not_wait_for_sentence_transformers(arguments, tmp_path):
    (tmp_path / "x.txt").write_text("a cat sleeps\na dog runs\n")
    code = (
        "import sys; from flows.command_line import run\n"
        f"code = run({arguments!r})\n"
        "slow = ('transformers', 'sentence_transformers', 'sklearn', 'torch._dynamo')\n"
        "loaded = [name for name in slow if name in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded or code else 0)"
    )
    without_gpus = os.environ | {"CUDA_VISIBLE_DEVICES": ""}  # on which the library is needed
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=without_gpus, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_modules_are_imported_and_left_without_collecting_garbage(tmp_path):
    code = (
        "import atexit, gc, sys; from flows.command_line import main\n"
        "before = gc.get_stats()[0]['collections']\n"
        "atexit.register(lambda: print(gc.get_stats()[0]['collections'] - before, gc.get_freeze_count(), "
        "file=sys.stderr))\n"
        "sys.argv = ['facetflow', 'schema']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    collections, left_to_the_system = map(int, done.stderr.split())
    assert collections < 5  # over a hundred with the interpreter's own threshold
    assert left_to_the_system > 1000  # at the end, as `atexit` calls what was registered first last


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["models"], ["models", "list", "--json"]])
def test_an_output_that_is_full_is_said(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "flows.command_line", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("facetflow: A file cannot be used: the disk is full; free some space")
    assert done.stderr.count("\n") == 1


def test_a_table_whose_reader_has_gone_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "flows.command_line", "models", "list"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_result_whose_terminal_was_closed_is_no_error():
    reader, writer = os.openpty()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "flows.command_line", "schema"], stdout=writer, check=False)
    assert done.returncode == 0
    code = "from flows import command_line; command_line.run = lambda _: print('damaged') or 2; command_line.main()"
    done = subprocess.run([sys.executable, "-c", code], stdout=writer, check=False)
    os.close(writer)
    assert done.returncode == 2, "the work goes on, to its exit code"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails as a broken disk does")
def test_a_result_that_a_disk_does_not_take_is_an_error():
    with Path("/proc/self/mem").open("wb") as broken:
        done = subprocess.run([sys.executable, "-m", "flows.command_line", "schema"], stdout=broken, check=False)
    assert done.returncode == 1


@pytest.mark.parametrize("output", [os.pipe, os.openpty])
def test_messages_that_nobody_reads_end_no_work(output):
    reader, writer = output()
    os.close(reader)
    code = "from flows.terminal import say; say('begun'); say('done'); print('done')"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=writer, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stdout) == (0, "done\n")


def test_a_terminal_that_closes_ends_a_command_in_order(tmp_path):
    code = f"""
import signal, time
from flows import command_line, terminal

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests run under nohup

def run(_):
    try:
        print("ready", flush=True)
        time.sleep(60)
    finally:
        terminal.warn("Stopped.")
        open({str(tmp_path / "in order")!r}, "x")

command_line.run = run
command_line.main()
"""
    terminal, end = os.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stdin=end, stdout=end, stderr=end) as process:
        assert os.read(terminal, 100).startswith(b"ready")
        os.close(end)
        os.close(terminal)
        process.send_signal(signal.SIGHUP)
    assert process.returncode == 128 + signal.SIGTERM
    assert (tmp_path / "in order").exists()


def test_closed_streams_are_empty_ones():
    words = [sys.executable, "-m", "flows.command_line", "parse", "amr", "-", "-o", "-"]
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" <&- >&-', "sh", *words], stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "standard input is empty" in done.stderr


def test_a_folder_with_an_umlaut_works_where_python_knows_ascii_alone(tmp_path):
    (folder := tmp_path / "größe").mkdir()
    ascii_alone = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    words = [sys.executable, "-c", "from flows.command_line import main; main()", "new", "maß"]
    done = subprocess.run(words, cwd=folder, env=os.environ | ascii_alone, capture_output=True, check=True)
    assert "Wrote maß/facetflow.toml" in done.stdout.decode()
    assert (folder / "maß" / "facetflow.toml").is_file()


def assert_main_sees(expression, environment, *, first="", cwd=None):
    """Run the program in a process with this environment, and fail unless the expression holds where a command runs."""
    code = f"{first}\nfrom flows import command_line\ncommand_line.run = lambda _: 0 if {expression} else 1\n"
    subprocess.run([sys.executable, "-c", f"{code}command_line.main()"], env=environment, cwd=cwd, check=True)


def without(name):
    return {known: value for known, value in os.environ.items() if known != name}


@pytest.mark.parametrize("direct", ["", "example.org", "*"])
def test_no_proxy_is_asked_for_a_server_of_this_machine(direct):
    proxied = os.environ | {"http_proxy": "http://proxy.example.org:8080", "NO_PROXY": direct}
    assert_main_sees("urllib.request.proxy_bypass('127.0.0.1')", proxied, first="import urllib.request")


def test_the_socks_proxy_of_a_desktop_ends_no_command():
    proxied = os.environ | {"ALL_PROXY": "socks://127.0.0.1:1080/", "all_proxy": "socks://127.0.0.1:1080/"}
    assert_main_sees("httpx.Client().close() is None", proxied, first="import httpx")


def test_nothing_is_sent_whichever_command_imports_prefect():
    assert_main_sees("os.environ.get('DO_NOT_TRACK') == '1'", without("DO_NOT_TRACK"), first="import os")


def test_a_user_whom_the_system_does_not_know_has_a_home():
    unknown = (
        "import pathlib, pwd; pwd.getpwuid = lambda _: {}['unknown']"  # as for a user id that only a container has
    )
    assert_main_sees("pathlib.Path.home().is_dir()", without("HOME"), first=unknown)


def test_a_working_folder_names_no_cache_of_compiled_kernels(tmp_path):
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: theirs")
    empty = without("NUMBA_CACHE_DIR") | {"XDG_CACHE_HOME": ""}  # which numba takes for the working folder
    assert_main_sees("__import__('numba').config.CACHE_DIR == ''", empty, cwd=tmp_path)
    assert_main_sees("os.environ.get('XDG_CACHE_HOME') != ''", empty, first="import os", cwd=tmp_path)


def test_no_threads_of_polars_or_numba_are_as_many_as_they_take():
    none = os.environ | {"POLARS_MAX_THREADS": "0", "NUMBA_NUM_THREADS": "0"}
    assert_main_sees("__import__('polars').thread_pool_size()", none)
    assert_main_sees("__import__('numba').config.NUMBA_NUM_THREADS", none)
