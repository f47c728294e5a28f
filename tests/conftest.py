"""Fixtures available to every test."""

import gc
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sentences
from generated import write_backbone, write_word_encoder
from hypothesis import HealthCheck, settings

from features.core.errors import ModelError

# Set before anything imports a library that reads them: nothing leaves the machine in tests.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("PREFECT_SERVER_ALLOW_EPHEMERAL_MODE", "false")  # a test that needs a server asks for one

# Tests start hundreds of processes, each of which would compile what has no compiled file yet, such as the modules of
# transformers, which an installation leaves out.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

gc.disable()  # imports leave nothing to collect, and looking for garbage takes a tenth of their time

if "PYTEST_XDIST_WORKER" in os.environ:
    # Test processes share the cores: threads that wait for each other in one process hold up the others.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# How long an example takes depends on how busy the machine is, not on whether the code is right.
settings.register_profile("busy", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("busy"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "busy"))

ROOT = Path(__file__).resolve().parents[1]
LOOK = ROOT / "tests" / "look.js"
BROWSER_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
BROWSER_WIDTHS = (1280, 420)
AXE = ROOT / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
COLOUR_SCHEMES = ("light", "dark")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that takes changed sentences over into `tests/sentences.json`."""
    parser.addoption("--update-sentences", action="store_true", help="write tests/sentences.json anew for these tests")


def pytest_configure(config: pytest.Config) -> None:
    """Tell the sentences whether they are to be compared or updated."""
    if config.getoption("--update-sentences"):
        sentences.update()


def pytest_sessionfinish() -> None:
    """Write the sentences that were updated."""
    sentences.write()


@pytest.hookimpl(trylast=True)  # after `-m` has deselected tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that may take longest: with several processes, the file that starts last ends the run.

    First the file with the longest single test, then those whose tests take longest in total.
    """
    limits: dict[Path, list[float]] = {}
    for item in items:
        if item.get_closest_marker("slow"):
            limit = item.get_closest_marker("timeout")
            limits.setdefault(item.path, []).append(limit.args[0] if limit else 60)
    items.sort(key=lambda item: (-max(limits.get(item.path, [0])), -sum(limits.get(item.path, [0]))))


def pytest_collection_finish() -> None:
    """Exclude imported objects from garbage collection: they live as long as the tests."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with reference data next to some checkouts; skip if there is none."""
    folder = ROOT.parent / "shared"
    if not (folder / "oracles").is_dir():
        pytest.skip("needs the reference data (oracles, corpora), which are not part of the repository")
    return folder


@pytest.fixture(scope="session")
def needs_model() -> Callable[[str], Path]:
    """Return a function that returns the folder of a model, and skips the test where there is none."""
    from features.models import pull

    def find(name: str) -> Path:
        try:
            return pull(name)
        except ModelError as error:
            pytest.skip(f"needs {name}: {error}")

    return find


@pytest.fixture
def its_time(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what replaces functions of `time` for one module: servers in other threads keep the real clock."""

    def replace(module: str, **functions: Callable[..., object]) -> None:
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(**{**vars(time), **functions}))

    return replace


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a two-layer BERT encoder with random weights, with the files of a real one."""
    folder = tmp_path_factory.mktemp("encoder") / "tiny-bert"
    write_backbone(folder, ["the", "boy", "want", "##s", "sleep", "not", "girl", "see", "doctor"])
    return folder


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an encoder of a few words, whose similarities can be predicted."""
    return write_word_encoder(tmp_path_factory.mktemp("words") / "encoder", ("cat", "dog", "park", "house"))


@dataclass(frozen=True)
class Browser:
    """A running Chromium."""

    driver: Any

    def show(self, page: Path | str, *, width: int = 1280, scheme: str = "light", scale: float = 1) -> None:
        """Open a page, a file or an address, in a window of this width and colour scheme, on a screen of this scale."""
        from selenium.webdriver.support.wait import WebDriverWait

        features = [{"name": "prefers-color-scheme", "value": scheme}]
        size = {"width": width, "height": 900, "deviceScaleFactor": scale, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # A headless window need not be the active one, and without that no element counts as focused.
        self.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(page if isinstance(page, str) else page.resolve().as_uri())
        # On a busy machine the driver returns before scripts have run, and a click then leaves the page.
        WebDriverWait(self.driver, 60).until(lambda _: self.run("return document.readyState === 'complete';"))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def press(self, key: str) -> None:
        """Press and release a key, such as Tab or ArrowRight."""
        codes = {"Tab": 9, "ArrowRight": 39, "Enter": 13}
        for kind in ("rawKeyDown", "keyUp"):
            event = {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", event)

    def drag(self, path: list[tuple[float, float]]) -> None:
        """Move the mouse through some places of the window, with its button held."""
        kinds = ["mousePressed", *["mouseMoved"] * (len(path) - 2), "mouseReleased"]
        for kind, (x, y) in zip(kinds, path, strict=True):
            event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    def find_barriers(self) -> list[str]:
        """Return what axe-core finds serious or critical on the page that is shown; skip if there is no axe-core."""
        if not AXE.is_file():
            pytest.skip("needs axe-core: make axe")
        self.run(AXE.read_text())
        found = self.driver.execute_async_script("axe.run().then(arguments[0])")["violations"]
        return [
            f"{each['id']}: {node['html'][:200]}"
            for each in found
            if each["impact"] in {"serious", "critical"}
            for node in each["nodes"]
        ]

    def find_faults(self, page: Path | str) -> list[str]:
        """Return the faults of a page, wide in light colours and narrow in dark ones, one sentence each.

        What does not fit depends on the width alone, and contrast on the colours.
        """
        faults = []
        own = ("file:", "data:", *([page[: page.index("/", len("http://"))]] if isinstance(page, str) else []))
        for scheme, width in zip(COLOUR_SCHEMES, BROWSER_WIDTHS, strict=True):
            self.show(page, width=width, scheme=scheme)
            if self.run(LOOK.read_text()):
                time.sleep(1)  # a busy machine may still be laying the page out: a fault that stays is one
            found = [
                *self.run(LOOK.read_text()),
                *(
                    f"console: {entry['message']}"
                    for entry in self.driver.get_log("browser")
                    if not entry["message"].startswith("chrome")  # of the browser's own first page
                ),
            ]
            found += [f"asks for {url}" for url in self._asked() if not url.startswith(own)]
            faults += [f"{scheme}, {width} px: {fault}" for fault in found]
        return faults

    def _asked(self) -> list[str]:
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        # The browser's own first page (chrome:, chrome-untrusted:) may still be loading when another is opened.
        return [each["request"]["url"] for each in asked if not each["documentURL"].startswith("chrome")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return the one browser of the test session; skip if there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = program
    for argument in (*BROWSER_ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    running.get("about:blank")  # away from the browser's own first page
    try:
        yield Browser(running)
    finally:
        running.quit()
