"""One headless Chromium for the tests of pages, and what is wrong with a page that it shows.

A module of its own that `tests/conftest.py` loads as a plugin: it starts nothing until a test asks for `browser`.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
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
WIDTHS = (1280, 420)
SCHEMES = ("light", "dark")

# Everything is opened, so that what is folded away is looked at too.
LOOK = """
document.querySelectorAll('details').forEach(details => { details.open = true; });
const wrong = [];
const root = document.documentElement;
if (root.scrollWidth > root.clientWidth) {
  const wide = [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > root.clientWidth + 1
    && !e.closest('.scroll') && !e.parentElement.closest('svg'));
  wrong.push(`wider than the window: ${wide.slice(0, 3).map(e => e.outerHTML.slice(0, 90)).join(' | ')}`);
}
const shown = e => e.getClientRects().length > 0;
for (const svg of document.querySelectorAll('svg')) {
  if (!shown(svg) || svg.ownerSVGElement) continue;
  const frame = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
      wrong.push(`clipped: ${JSON.stringify(text.textContent)} in ${svg.getAttribute('aria-label')}`);
  }
}
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
  .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
const ground = element => {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] > .9) return colour;
  }
  return [255, 255, 255];
};
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !shown(element) || element.closest('style')) continue;
  const style = getComputedStyle(element);
  const colour = numbers(element.closest('svg') ? style.fill : style.color);
  const [a, b] = [light(colour), light(ground(element))].sort((x, y) => y - x);
  const ratio = (a + .05) / (b + .05);
  const told = `faint: ${style.color} on ${ground(element)} (${ratio.toFixed(1)}), ${element.tagName} ${element.className}`;
  if (ratio < 4.5 && !seen.has(told)) { seen.add(told); wrong.push(told); }
}
return wrong;
"""


@dataclass(frozen=True)
class Browser:
    """A running Chromium."""

    driver: Any

    def show(self, page: Path, *, width: int = 1280, scheme: str = "light") -> None:
        """Open a page in a window of this width, for people who prefer this scheme."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(page.resolve().as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def find_faults(self, page: Path) -> list[str]:
        """Return what is wrong with a page, wide and narrow, light and dark, a sentence each."""
        faults = []
        for scheme in SCHEMES:
            for width in WIDTHS:
                self.show(page, width=width, scheme=scheme)
                found = [*self.run(LOOK), *(f"console: {entry['message']}" for entry in self.driver.get_log("browser"))]
                found += [f"asks for {url}" for url in self._asked() if not url.startswith(("file:", "data:"))]
                faults += [f"{scheme}, {width} px: {fault}" for fault in found]
        return faults

    def _asked(self) -> list[str]:
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Return the one browser of the test session; skip where there is none."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = program
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield Browser(running)
    finally:
        running.quit()
