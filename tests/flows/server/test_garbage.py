"""Garbage collection: a server's event loop never waits for what it holds itself, and its clients do not gather."""

import subprocess
import sys

import pytest

CODE = """
import gc, sqlite3, sys, threading, time
from flows.server.server_process import collect_apart

BUSY = int(sys.argv[2])  # ms
gc.disable()
ours = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False)
theirs = sqlite3.connect(sys.argv[1], isolation_level=None, check_same_thread=False, timeout=0)
ours.execute("PRAGMA journal_mode = WAL")

class Left:
    pass

ours.execute("BEGIN IMMEDIATE")
left = Left()
left.cursor = theirs.cursor()
left.itself = left
try:
    left.cursor.execute("BEGIN IMMEDIATE")  # what a busy database leaves behind
except sqlite3.OperationalError:
    theirs.execute(f"PRAGMA busy_timeout = {BUSY}").fetchall()
waited = theirs.cursor()
waiting = threading.Event()
outcome = []

def wait_for_the_lock():
    waiting.set()
    try:
        waited.execute("BEGIN IMMEDIATE")
        outcome.append("written")
    except sqlite3.OperationalError as error:
        outcome.append(str(error))

thread = threading.Thread(target=wait_for_the_lock)
thread.start()
waiting.wait()
time.sleep(1.0)  # it is in SQLite now, and has the connection
del left
{collect}
kept = [[] for _ in range(200_000)]  # what an event loop does: objects, of which some hundred begin a collection
time.sleep(0.5)
ours.execute("COMMIT")
thread.join()
print(*outcome)
"""


@pytest.mark.parametrize(
    ("collect", "busy", "outcome"),
    [
        pytest.param(
            "gc.enable()",
            4_000,  # nothing else ends the wait
            "database is locked",
            id="automatic",
            marks=pytest.mark.skipif(sys.version_info >= (3, 12), reason="sqlite3 resets what failed at once"),
        ),
        pytest.param("collect_apart(0.05)", 60_000, "written", id="apart"),
    ],
)
def test_who_holds_the_lock_goes_on_where_collection_is_apart(collect, busy, outcome, tmp_path):
    code = CODE.replace("{collect}", collect)
    command = [sys.executable, "-c", code, str(tmp_path / "a.db"), str(busy)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == outcome


def test_garbage_is_collected_though_nothing_else_collects():
    code = """
import gc, time, weakref
from flows.server.server_process import collect_apart

class Thing:
    pass

thing = Thing()
thing.itself = thing
known = weakref.ref(thing)
collect_apart(0.05)
del thing
deadline = time.monotonic() + 120
while known() is not None and time.monotonic() < deadline:
    time.sleep(0.02)
print(gc.isenabled(), known())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "None"]


def test_clients_of_a_server_do_not_gather_in_a_long_process(tmp_path):
    code = """
import gc, weakref
from flows.server.prefect_address import talking_to

class Client:
    def __init__(self):
        self.parts = [[self] for _ in range(110)]

clients = weakref.WeakSet()

def use():
    clients.add(Client())
    return len(clients)

gc.set_threshold(100_000)  # as `facetflow` has it
with talking_to("http://127.0.0.1:1/api"):
    print(max(use() for _ in range(300)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100
