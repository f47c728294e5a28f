"""The view of the addresses themselves, and the same by OpenAPI: what a script can ask for, and what it gets."""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from flows.explorer.runs import REPORT
from flows.explorer.views import Answer, Parameter, Query, View

OPENAPI = "/openapi.json"
_FORMAT = Parameter("format", "`json` for JSON; so does the header `Accept: application/json`")
_RUN = Parameter("run", "a training")


class AddressesView(View):
    """The addresses of the explorer."""

    name = "addresses"
    title = "Addresses"
    gives = "this description"
    listed = False

    def form(self, query: Query) -> dict[str, Any]:
        """Return nothing: there is nothing to choose."""
        return {}

    def answer(self, query: Query) -> Answer:
        """Return all addresses with their parameters."""
        description = self.session.description
        return Answer({"paths": description["paths"], "openapi": OPENAPI}, description)


def describe(views: Iterable[type[View]]) -> dict[str, Any]:
    """Return the addresses of some views, of reports, and of this description, by OpenAPI 3.1."""
    paths = {f"/{view.name}": _path(view.title, view.gives, (*view.parameters, _FORMAT)) for view in views}
    paths[REPORT] = _path("Report", "the report of a training, as HTML", (_RUN,), kind="text/html")
    paths[OPENAPI] = _path("OpenAPI", "this description", ())
    error = {"type": "object", "properties": {"code": {"type": "string"}, "message": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "facetflow explore", "version": version("facetflow")},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": {"type": "object", "properties": {"error": error}}},
        },
    }


def _path(title: str, gives: str, parameters: Iterable[Parameter], kind: str = "application/json") -> dict[str, Any]:
    wrong = {"schema": {"$ref": "#/components/schemas/Error"}}
    return {
        "get": {
            "summary": title,
            "parameters": [
                {"name": name, "in": "query", "description": about, "schema": {"type": value_type}}
                for name, about, value_type in parameters
            ],
            "responses": {
                "200": {"description": gives[0].upper() + gives[1:], "content": {kind: {}}},
                "400": {"description": "What was asked wrongly", "content": {"application/json": wrong}},
                "403": {"description": "The token is missing or wrong"},
            },
        }
    }
