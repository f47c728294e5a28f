"""The browser of the tests: it must find what it is there to find, and only in the page that it is shown."""

PAGE = '<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>{}'


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
