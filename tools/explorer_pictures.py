"""Take the pictures of the explorer for its page of the documentation, in headless Chromium.

    python tools/explorer_pictures.py PROJECT [--run ID] [--beside ID]

The project is the example, built with the stages dependencies and srl, and trained. What is explained and searched is
so by the encoder that comes with facetflow. Colours are reduced to 96, so that a picture takes little room.
"""

import argparse
import io
import shutil
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click
import httpx
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

from features.models import BUNDLED_ENCODER
from flows.console.explaining import Explainer
from flows.console.here import Here
from flows.explorer.server import Explorer
from flows.explorer.session import Session

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "howto" / "explorer"
WIDTH, TALLEST = 1180, 1000
BOY = "The boy thanked the doctor."
_COLOURS = 96


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("--run", default="", help="the training to show; by default the first")
    parser.add_argument("--beside", default="", help="another one beside it")
    arguments = parser.parse_args()
    here = Here.read(arguments.project / "facetflow.toml")
    with click.Context(click.Command("explore")):
        explorer = Explorer(Session(here, Explainer(here, BUNDLED_ENCODER)))
    thread = threading.Thread(target=explorer.run)
    thread.start()
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{explorer.port}", timeout=600, trust_env=False) as client:
            client.headers.update({"Authorization": f"Bearer {explorer.token}", "Accept": "application/json"})
            listed = client.get("/runs").json()
            if not arguments.run and not listed:
                raise SystemExit(f"{arguments.project} has no training: run `facetflow train` there first")
            run = arguments.run or listed[0]["run"]
            runs = {"run": run} | ({"beside": arguments.beside} if arguments.beside else {})
            addresses: dict[str, tuple[str, dict[str, Any]]] = {
                "pair": ("/pair", {"a": BOY, "b": "The doctor thanked the boy.", "facet": "srl"}),
                "search": ("/search", {"q": BOY, "k": 6, "w_srl": 2, "w_frames": 1}),
                "map": ("/map", {"points": 500, "colour": "facet:negations", "like": "The girl did not sleep."}),
                "data": ("/data", {"sort": "smatch", "metric": "smatch", "low": 0.3}),
                "runs": ("/runs", runs),
                "sentence": ("/sentence", {"text": "The pilot who landed the plane thanked her crew."}),
            }
            pages = {name: f"{path}?{urlencode(query)}" for name, (path, query) in addresses.items()}
            for page in pages.values():
                client.get(page).raise_for_status()  # JSON waits until the answer is there; a page would say so
            take(explorer, pages)
    finally:
        explorer.stop()
        thread.join()


def take(explorer: Explorer, pages: dict[str, str]) -> None:
    """Open each page as a reader would, and keep what is to be seen."""
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    folder = tempfile.mkdtemp()
    for argument in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    try:
        driver.get(explorer.address)
        FOLDER.mkdir(exist_ok=True)
        for name, page in pages.items():
            size = {"width": WIDTH, "height": TALLEST, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.get(f"http://127.0.0.1:{explorer.port}{page}")
            driver.implicitly_wait(60)
            if name == "map":
                driver.find_element("css selector", "[data-drawn]")
                driver.find_element("css selector", "canvas").send_keys(Keys.ARROW_UP, "-", Keys.ENTER)
            height = driver.execute_script("return document.querySelector('main').getBoundingClientRect().bottom;")
            picture = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            picture = picture.crop((0, 0, WIDTH, min(TALLEST, round(height))))
            picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)
            print(f"{name}.png: {(FOLDER / f'{name}.png').stat().st_size / 1000:.0f} kB")
    finally:
        driver.quit()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
