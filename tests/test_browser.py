"""The browser of the tests: it must find what it is there to find, and only in the page that it is shown."""

import base64
import io

import pytest
from markupsafe import Markup
from PIL import Image

from features.core.pages import render

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>{}'


@pytest.fixture
def page(tmp_path):
    """Return a function that writes a page with the package's styles and some body, and returns its file."""

    def write(body):
        file = tmp_path / "page.html"
        file.write_text(render("features.core.pages/page.html", title="A page", body=Markup(body)))  # noqa: S704
        return file

    return write


def test_a_page_that_asks_for_anything_elsewhere_is_at_fault(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(PAGE.format('<img alt="a picture" src="http://127.0.0.1:9/picture.png">'))
    faults = browser.find_faults(page)
    assert "light, 1280 px: asks for http://127.0.0.1:9/picture.png" in faults


def test_what_the_browser_shows_by_itself_is_no_fault_of_the_page(browser, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(PAGE.format("<p>A sentence.</p>"))
    browser.driver.get("chrome://version")
    browser.driver.get("chrome://newtab")
    assert browser.find_faults(page) == []


def test_a_table_that_is_wider_than_its_page_has_a_shadow_where_it_goes_on(browser, page):
    wide = "<table>" + "<tr>" + "<td>a wide cell</td>" * 12 + "</tr></table>"
    narrow = "<table><tr><td>a cell</td></tr></table>"
    file = page(f'<main><div class="scroll">{wide}</div><div class="scroll">{narrow}</div></main>')
    for scheme, ground in (("light", 255), ("dark", 22)):
        browser.show(file, width=420, scheme=scheme)
        first, second = (edges(browser, number) for number in (0, 1))
        browser.run("const e = document.querySelector('.scroll'); e.scrollLeft = e.scrollWidth;")
        ended = edges(browser, 0)
        assert [abs(ground - shade) > 20 for shade in (*first, *second, *ended)] == [0, 1, 0, 0, 1, 0], scheme


def test_a_table_that_fits_has_no_shadow_on_a_screen_of_any_scale(browser, page):
    tables = '<div class="scroll" style="width: 200.4px; height: 50.4px"></div>' * 3  # edges between two pixels
    file = page(f"<main>{tables}</main>")
    for scale in (1, 1.5, 2):
        browser.show(file, scale=scale)
        picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("L")
        top = browser.run("return document.querySelector('.scroll').getBoundingClientRect().top;") * scale
        assert picture.crop((0, round(top) - 2, *picture.size)).getextrema() == (255, 255), scale


def test_what_colours_tell_stays_on_paper_and_where_colours_are_forced_and_no_table_is_cut_off(browser, page):
    key = '<div class="labels"><span class="k1"><i></i> cats</span></div><div class="scroll"><table></table></div>'
    folded = "<h2>More</h2>\n<details><summary>A table</summary></details><h2>Last</h2>"
    browser.show(page(key + folded))
    forced = [{"name": "forced-colors", "value": "active"}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": forced})
    look = """
        const [dot, table] = [...document.querySelectorAll('.labels i, .scroll')].map(e => getComputedStyle(e));
        const titles = [...document.querySelectorAll('h2')].filter(e => e.checkVisibility()).map(e => e.textContent);
        return [dot.backgroundColor, dot.printColorAdjust, table.overflowX, ...titles];
    """
    found = browser.run(look)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert found == ["rgb(217, 115, 13)", "exact", "visible", "Last"]


def test_what_fits_a_sheet_of_paper_takes_one(browser, page):
    browser.show(page('<main><div style="height: 300px"></div></main>'))
    sheet = {"paperHeight": 384 / 96, "marginTop": 0, "marginBottom": 0}
    printed = base64.b64decode(browser.driver.execute_cdp_cmd("Page.printToPDF", sheet)["data"])
    assert b"/Count 1\n" in printed


def edges(browser, number):
    """Return how light the left and right edge of a table are, below its text."""
    box = browser.run(f"return document.querySelectorAll('.scroll')[{number}].getBoundingClientRect().toJSON();")
    picture = Image.open(io.BytesIO(browser.driver.get_screenshot_as_png())).convert("L")
    return [picture.getpixel((round(x), round(box["bottom"]) - 4)) for x in (box["left"] + 1, box["right"] - 2)]
