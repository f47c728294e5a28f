"""Pages from templates: values stay text, nothing missing is passed over, and the package has every template."""

import tomllib
from datetime import UTC, datetime
from fnmatch import fnmatch

import pytest
from jinja2 import FunctionLoader, UndefinedError
from markupsafe import Markup

from features.core.pages import _environment, mark_code, render, tell, tell_date, tell_number

PACKAGES = ("facetflow", "flows", "tasks", "training", "features")
HOSTILE = "<script>alert('x')</script> & \"quotes\""


def templates(root):
    return [
        file
        for name in PACKAGES
        for file in sorted((root / name).rglob("templates/*"))
        if file.suffix in {".html", ".css", ".txt"}
    ]


def drawn(call, **values):
    """Return what a macro makes of values."""
    template = '{% import "features.core.pages/macros.html" as ui %}' + call
    return _environment().from_string(template).render(values)


@pytest.mark.parametrize(
    "call",
    [
        "{{ ui.heading(x, [x, '']) }}",
        "{{ ui.term(x, x) }}",
        "{% call ui.folded(x) %}{{ x }}{% endcall %}",
        "{{ ui.described({x: x}) }}",
        "{{ ui.listed({x: x}, code=true) }}",
        "{{ ui.lines([x]) }}",
        "{% call ui.grid({x: x}, words=[x], caption=x) %}{{ x }}{% endcall %}",
        "{{ ui.scores({'title': x, 'columns': [x], 'rows': [[x]], 'note': x}) }}",
        "{{ x | code }}",
    ],
)
def test_what_comes_from_data_stays_text(call):
    html = drawn(call, x=HOSTILE)
    assert "&lt;script&gt;" in html
    assert "<script" not in html
    assert '"quotes"' not in html


def test_a_part_that_was_rendered_is_not_escaped_again():
    page = render("features.core.pages/page.html", title=HOSTILE, body=Markup("<p>a &amp; b</p>"), project="zoo")
    assert "<p>a &amp; b</p>" in page
    assert "<title>&lt;script&gt;" in page
    assert "&#34;quotes&#34; · zoo · facetflow</title>" in page
    assert "default-src 'none'" in page


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(UndefinedError):
        render("features.core.pages/page.html", title="A page")


def test_a_table_tells_words_from_numbers_and_explains_its_columns():
    html = drawn("{% call ui.grid({'part': '', 'seconds': 'wall time'}, words=['part']) %}{% endcall %}")
    assert '<th class="words">part</th><th title="wall time">seconds</th>' in html


def test_a_note_is_joined_to_lines_and_values_stay_as_they_are(monkeypatch):
    notes = """{% macro note(x, more) %}
Of {{ x | repr }}
a part.

{% if more %}
More: <{{ more }}>.

{% endif %}
End.
{% endmacro %}"""
    loader = FunctionLoader(lambda name: notes if name == "zoo/notes.txt" else None)
    monkeypatch.setattr(_environment(), "loader", loader)
    assert tell("zoo/notes.txt", "note", "a  b", "c & d") == "Of 'a  b' a part.\nMore: <c & d>.\nEnd."
    assert tell("zoo/notes.txt", "note", "", "") == "Of '' a part.\nEnd."


def test_numbers_dates_and_commands_are_told_as_people_write_them():
    assert [tell_number(value, 2) for value in (None, -0.001, -1234.5)] == ["–", "0.00", "−1,234.50"]
    assert tell_date(datetime(2026, 3, 1, 9, 5, tzinfo=UTC)) == "1 March 2026, 09:05 UTC"
    assert mark_code("<b> `a & b`") == "&lt;b&gt; <code>a &amp; b</code>"


def test_every_template_compiles_and_is_in_the_wheel(root):
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    shipped = settings["tool"]["setuptools"]["package-data"]["*"]
    for file in templates(root):
        package = ".".join(file.relative_to(root).parts[:-2])
        _environment().get_template(f"{package}/{file.name}")
        assert any(fnmatch(f"templates/{file.name}", pattern) for pattern in shipped), file
    assert len(templates(root)) > 5
