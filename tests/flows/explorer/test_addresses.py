"""The description of the addresses by OpenAPI: it names all of them, and every parameter that a view reads."""

import signal
import subprocess
import sys
import threading

import httpx
import pytest

from flows.console.here import Here
from flows.explorer.server import OPENAPI, VIEWS, AddressesView, application
from flows.explorer.views import Query
from tests.flows.explorer.conftest import visited

ASSETS = {"/", "/style.css", "/explorer.js", "/map.js"}


def test_it_names_every_route(in_project):
    described = in_project.json(OPENAPI)
    assert described["openapi"].startswith("3.1")
    assert described["paths"].keys() == {route.path for route in application(in_project.session).routes} - ASSETS
    assert in_project.json("/addresses") == described
    page = in_project.page("/addresses")
    assert all(path in page for path in described["paths"])


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
def test_every_parameter_that_a_view_reads_is_described(in_project, view, monkeypatch):
    """A view is asked for everything that it describes; what it reads besides would be missing in the description."""
    read, text = set(), Query.text

    def reading(self, name, default=""):
        read.add(name)
        return text(self, name, default)

    monkeypatch.setattr(Query, "text", reading)
    described = {parameter.name for parameter in view.parameters}
    in_project.client.get(f"/{view.name}?{VALUES.get(view.name, '')}")
    weights = {name for name in read if name.startswith("w_")}
    assert read - weights <= described
    assert not weights or "w_FACET" in described
    assert described - {"w_FACET"} - read == set()


VALUES = {
    "pair": "a=Two+cats+look.&b=A+cat+looks.",
    "search": "q=cats&k=2&w_srl=1",
    "map": "points=10&colour=facet:srl&like=cats",
    "data": "metric=smatch&low=0&high=1&sort=smatch&order=rising&text=cat&page=1",
    "sentence": "text=Two+cats+look.",
}


def test_ending_the_explorer_while_a_page_is_made_is_no_error(monkeypatch, capfd):
    asked, ended = threading.Event(), threading.Event()
    monkeypatch.setattr(AddressesView, "answer", lambda *_: asked.set() or ended.wait(60))

    def ask():
        with pytest.raises(httpx.HTTPError):
            visitor.client.get("/addresses").raise_for_status()

    with visited(Here()) as visitor:
        asking = threading.Thread(target=ask)
        asking.start()
        assert asked.wait(60)
        visitor.explorer.stop()
        asking.join()
    ended.set()
    assert "Traceback" not in capfd.readouterr().err


COMPUTING = """
import signal
import torch
from flows.command_line import main
from flows.explorer.session import Session

def compute(_):
    while True:
        torch.ones(500, 500) @ torch.ones(500, 500)

Session.load = lambda self: self.background.begin(("endless",), compute, "Computing")
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore them: nohup
signal.signal(signal.SIGHUP, signal.SIG_DFL)
main(["explore", "--no-browser"])
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_ending_the_explorer_while_a_model_computes_is_no_error(tmp_path, number, code):
    command = [sys.executable, "-P", "-c", COMPUTING]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as explorer:
        address = explorer.stdout.readline().strip()
        assert httpx.get(address, trust_env=False).is_redirect
        explorer.send_signal(number)
        try:
            assert explorer.wait(60) == code
        finally:
            explorer.kill()
