"""What a view is: a form at an address, and its answer as a page or as JSON.

GET /pair?a=…&b=…                  a page: 200; 400 with a sentence if something was asked wrongly
GET /pair?a=…&b=…&format=json      the same as JSON; so does the header Accept: application/json
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from features.core.errors import FacetflowError
from features.core.faults import Unexpected, UnknownName, WrongValue
from features.core.pages import render
from features.core.wording import clipped, did_you_mean
from flows.console.explaining import Explainer
from flows.console.failures import fault_of
from flows.explorer.session import Session, Working

PATIENCE = 2.0
"""Seconds before a page says what is being done; JSON waits for as long as it takes."""


class Parameter(NamedTuple):
    """A parameter of an address: its name, what it means, and the type of its value in OpenAPI's words."""

    name: str
    about: str
    kind: Literal["string", "number", "integer"] = "string"


ENCODER = Parameter("encoder", "an encoder with facets; by default the one in use")
COLUMN = Parameter("column", "column of a table with the text; `text` by default")


class Query:
    """What was asked, name → value, and the seconds to wait for a result: None for as long as it takes."""

    def __init__(self, given: Mapping[str, str], patience: float | None = None) -> None:
        own = {"format", "token"}
        self._given = {name: value for name, value in given.items() if value.strip() and name not in own}
        self.patience = patience

    def check(self, parameters: Collection[Parameter]) -> None:
        """Raise a SettingsError if something was asked by a name that is not one of some parameters."""
        names = [parameter.name for parameter in parameters]
        beginnings = tuple(name.removesuffix("FACET") for name in names if name.endswith("FACET"))
        for name in self._given:
            if name not in names and not name.startswith(beginnings):
                hint = did_you_mean(name, names, f"choose from {', '.join(names) or 'none'}")
                raise UnknownName(f"There is no parameter {name!r} here; {hint}.")

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter, without blanks around it."""
        return self._given.get(name, default).strip()

    def choice(self, name: str, among: Collection[str], default: str = "", *, called: str = "") -> str:
        """Return a parameter that names something; a SettingsError when nothing has that name."""
        value = self.text(name, default)
        if value and value != default and value not in among:
            choices = f"choose from {', '.join(among)}" if among else "there is none"
            raise UnknownName(f"There is no {called or name} {value!r}; {did_you_mean(value, among, choices)}.")
        return value

    def number(self, name: str, default: float | None = None) -> float | None:
        """Return a parameter that is a number; a SettingsError when it is none."""
        if not (text := self.text(name)):
            return default
        with suppress(ValueError):
            if abs(value := float(text)) < 1e15:  # which NaN is not
                return value
        raise WrongValue(f"{name} is {text!r}; give a number between -1e15 and 1e15.")

    def count(self, name: str, default: int, most: int) -> int:
        """Return a parameter that is a whole number from 1; a SettingsError when it is none, or too large."""
        value = self.number(name, default) or 0
        if value != int(value) or not 1 <= value <= most:
            raise WrongValue(f"{name} is {self.text(name)!r}; give a whole number from 1 to {most:,}.")
        return int(value)

    def starting(self, prefix: str) -> dict[str, str]:
        """Return the parameters whose names begin so, without that beginning."""
        return {name.removeprefix(prefix): value for name, value in self._given.items() if name.startswith(prefix)}

    def changed(self, **values: object) -> str:
        """Return the query of the address with some parameters changed; those that are None or empty are left out."""
        new = self._given | values
        return "?" + urlencode({name: value for name, value in new.items() if value not in {"", None}})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a view found: values for its page, and the same as JSON."""

    values: Mapping[str, Any]
    data: Any = None


class View(ABC):
    """A view of a session.

    `name` is its address and that of its template, `title` what it is called, `gives` what its JSON holds, and
    `parameters` are those of its address; it is linked at the top of every page if it is `listed`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    gives: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    listed: ClassVar[bool] = True

    def __init__(self, session: Session) -> None:
        self.session = session

    def explainer(self, query: Query) -> Explainer:
        """Return what explains with the chosen encoder; a SettingsError when there is no such encoder."""
        chosen = query.choice("encoder", self.session.encoders(), called="encoder with facets")
        return self.session.explainer_of(chosen)

    def form(self, query: Query) -> dict[str, Any]:
        """Return what the form shows besides the query, whatever was asked; quickly. Nothing by default."""
        return {}

    @abstractmethod
    def answer(self, query: Query) -> Answer | None:
        """Return the answer, None where nothing was asked; a `Working` when it takes longer than the query waits."""


def respond(view: View, request: Request) -> Response:
    """Return the page of a view, or its JSON."""
    params = request.query_params
    accepts = request.headers.get("accept", "")
    as_json = params.get("format") == "json" or (accepts.startswith("application/json") and "html" not in accepts)
    query = Query(params, patience=None if as_json else PATIENCE)
    answer, status, working = None, 200, ""
    fault: FacetflowError | None = None
    try:
        query.check(view.parameters)
        answer = view.answer(query)
    except Working as what:
        working = str(what)
    except BaseException as error:  # noqa: BLE001  # also a panic in Rust: a page shows a sentence, a file the traceback
        fault = fault_of(error)
        status = 500 if isinstance(fault, Unexpected) else 400
    if as_json:
        wrong = fault and {"error": {"code": fault.code, "message": str(fault)}}
        return JSONResponse(wrong or (answer and answer.data), status)
    asked = [clipped(text) for each in view.parameters[:1] if (text := query.text(each.name))]
    page = render(
        f"flows.explorer/{view.name}.html",
        title=": ".join([view.title, *asked]),
        view=view.name,
        session=view.session,
        query=query,
        json_address=query.changed(format="json"),
        problem=fault.with_code() if fault else "",
        working=working,
        answered=answer is not None,
        **view.form(query),
        **(answer.values if answer else {}),
    )
    return Response(page, status, media_type="text/html; charset=utf-8")
